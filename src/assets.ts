/**
 * Where the files beside the code are found: what browsers load, the shipped catalogues, the entries of worker threads. The one
 * place that knows it, so that bundles of the code work wherever they are unpacked. Reads, never writes.
 */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";

declare global {
  interface ImportMeta {
    /** Set in bundles alone: what they are. */
    readonly bundle?: "modules" | "scripts";
  }
}

/** The compiled program's folder. This module, and every bundle that holds it, lies one folder below. */
const programFolder = new URL("../", import.meta.url);

/** Where the entries of worker threads are: bundles beside a bundle, modules beside modules. */
const workerFolder =
  import.meta.bundle === undefined ? new URL("workers/", programFolder) : new URL(".", import.meta.url);

/** Path of a file of the compiled program, named from its folder: `sdk/sdk.js`. */
export function assetPath(name: string): string {
  return fileURLToPath(new URL(name, programFolder));
}

/** The file that a worker thread starts with, by its name in `workers`: `http`. */
export function workerPath(name: string): string {
  return fileURLToPath(new URL(`${name}.${import.meta.bundle === "scripts" ? "cjs" : "js"}`, workerFolder));
}

/** The bytes of a file of the compiled program. Throws when there is none. */
export function readAsset(name: string): Buffer {
  return readFileSync(assetPath(name));
}

/** The bytes of a large file in memory that threads can share, with no copy on the way. Throws when there is none. */
export function readSharedAsset(name: string): SharedArrayBuffer {
  const file = openSync(assetPath(name), "r");
  try {
    const bytes = new Uint8Array(new SharedArrayBuffer(fstatSync(file).size));
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, bytes.length - at, at);
      if (read === 0) throw new Error(`${name} was cut off while it was read`);
      at += read;
    }
    return bytes.buffer;
  } finally {
    closeSync(file);
  }
}

/** A file with those of its compressed forms that the build has put beside it (`.br`, `.gz`). Throws when there is no such file. */
export function readCompressedAsset(name: string): { plain: Buffer; br?: Buffer; gzip?: Buffer } {
  const form = (suffix: string) => (existsSync(assetPath(name + suffix)) ? readAsset(name + suffix) : null);
  const [br, gzip] = [form(".br"), form(".gz")];
  return { plain: readAsset(name), ...(br !== null && { br }), ...(gzip !== null && { gzip }) };
}
