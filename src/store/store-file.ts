/**
 * The store as a file, looked at before LMDB maps it: LMDB ends the process on a file that is none of its own or was cut short,
 * so that has to be said here. Only reads.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

/** Path of the file, as `openStore` opens it; LMDB keeps `-lock` beside it. */
export function storeFile(dataDir: string): string {
  return join(dataDir, "verdictd.mdb");
}

/** Whether there is a store in this folder. */
export function hasStore(dataDir: string): boolean {
  return statSync(storeFile(dataDir), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Where the fields of LMDB's two meta pages lie (`MDB_meta` in LMDB's mdb.c, data version 2, little-endian). */
const meta = {
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeRoot: 88,
  mainRoot: 136,
  transaction: 152,
  end: 160,
} as const;
const magic = 0xbeefc0de;
const dataVersion = 2;
const noPage = 0xffff_ffff_ffff_ffffn;

/**
 * Why the store's file can't be opened, or null; also null when there is none, or an empty one. What it can see: another kind of file, and one too short to
 * hold the root of any committed state. A file that lacks only later pages passes. `remedy`: what to do about it.
 */
export function storeFileFault(dataDir: string, remedy = "restore a backup"): string | null {
  if (!hasStore(dataDir)) return null;
  const fault = fileFault(storeFile(dataDir));
  return fault === null ? null : `${storeFile(dataDir)} ${fault}: ${remedy}`;
}

/** What is wrong with a file of the store. */
function fileFault(path: string): string | null {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    // LMDB fills an empty file: a store that is being made, by another process perhaps.
    if (size === 0) return null;
    const first = readMeta(file, 0);
    if (first === null) return "is no store of verdictd, or a damaged one";
    const metas = [first, readMeta(file, first.readUInt32LE(meta.pageBytes))];
    const committed = metas.filter((each) => each !== null && each.readBigUInt64LE(meta.transaction) > 0n);
    const isCut = committed.length > 0 && !committed.some((each) => each !== null && holdsRoots(each, size));
    return isCut ? "was cut short" : null;
  } finally {
    closeSync(file);
  }
}

function readMeta(file: number, at: number): Buffer | null {
  const bytes = Buffer.alloc(meta.end);
  if (readSync(file, bytes, 0, meta.end, at) !== meta.end) return null;
  const isMeta = bytes.readUInt32LE(meta.magic) === magic && bytes.readUInt32LE(meta.version) === dataVersion;
  return isMeta ? bytes : null;
}

function holdsRoots(bytes: Buffer, size: number): boolean {
  const pageBytes = BigInt(bytes.readUInt32LE(meta.pageBytes));
  return [meta.freeRoot, meta.mainRoot]
    .map((at) => bytes.readBigUInt64LE(at))
    .every((root) => root === noPage || (root + 1n) * pageBytes <= BigInt(size));
}
