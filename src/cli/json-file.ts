/** Reads a file that a command was given. */
import { closeSync, openSync, readSync } from "node:fs";
import { limits } from "../limits.js";
import { CommandFailure } from "./output.js";

const pieceBytes = 1 << 20;

/** The value in a JSON file; throws a `CommandFailure` that names the file. */
export function readJsonFile(path: string, bytesMax?: number): unknown {
  const text = readTextFile(path, bytesMax);
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(`${path} is not JSON`);
  }
}

/** The text of a file or pipe; throws a `CommandFailure` that names it. No more than `bytesMax` is read: a device may have no end. */
export function readTextFile(path: string, bytesMax: number = limits.importBytesMax): string {
  try {
    const file = openSync(path, "r");
    try {
      return readBounded(file, path, bytesMax);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`can't read ${path} (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

function readBounded(file: number, path: string, bytesMax: number): string {
  const pieces: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const piece = Buffer.allocUnsafe(pieceBytes);
    const count = readSync(file, piece);
    if (count === 0) return Buffer.concat(pieces).toString("utf8");
    bytes += count;
    if (bytes > bytesMax) throw new CommandFailure(`${path} has more than ${bytesMax} bytes`);
    pieces.push(piece.subarray(0, count));
  }
}
