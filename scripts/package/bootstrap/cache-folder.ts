/**
 * The private folder that the executable unpacks itself into: where it may lie, whether its files are the ones packed, and putting
 * back those that are not. Knows nothing of what the files are. Several processes may do this at once. Folders of versions that
 * nobody uses any more are `old-caches.ts`'s business.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

interface PackedFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

export interface Manifest {
  readonly version: string;
  /** In the order in which their contents follow each other. */
  readonly files: readonly PackedFile[];
}

export interface Archive {
  /** A `Manifest` as JSON; its hash names the folder. */
  readonly manifest: string;
  /** The contents of all files, one after another. Asked for only when some are missing. */
  contents(): Buffer;
}

/** No folder can be had; `message` is one line that says why and what to do. */
export class CacheFailure extends Error {
  override readonly name = "CacheFailure";
}

/** Where caches may lie, best first: the one that was asked for, or else the user's own, or one below `temporary`. */
export function cacheFolders(
  asked: string | undefined,
  env: NodeJS.ProcessEnv,
  uid: number,
  temporary: string,
): string[] {
  if (asked !== undefined) return [resolve(asked)];
  const { XDG_CACHE_HOME: xdg = "", HOME: home = "" } = env;
  const own = isAbsolute(xdg) ? [xdg] : isAbsolute(home) ? [join(home, ".cache")] : [];
  return [...own.map((folder) => join(folder, "verdictd")), join(temporary, `verdictd-${uid}`)];
}

interface Unpacked {
  /** Its time of change is that of the last start. */
  readonly folder: string;
  /** False when every file was there. */
  readonly hasWritten: boolean;
}

/**
 * The folder that holds every file of the archive, in the first of `folders` where that is possible. Checks each file's hash (some
 * 20 ms for 15 MB) and writes those that are missing or damaged under another name first, so that nobody sees half a file.
 * Throws `CacheFailure`.
 */
export function unpack(archive: Archive, folders: readonly string[], uid: number): Unpacked {
  const manifest: Manifest = JSON.parse(archive.manifest);
  const name = `${manifest.version}-${sha256(archive.manifest).slice(0, 16)}`;
  const reasons: string[] = [];
  for (const folder of folders) {
    try {
      return filled(join(folder, name), manifest, archive, uid);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new CacheFailure(`no folder to unpack into (${reasons.join("; ")}): name a writable one with --cache-dir`);
}

function filled(folder: string, manifest: Manifest, archive: Archive, uid: number): Unpacked {
  makePrivate(folder, uid);
  try {
    markUsed(folder);
    return { folder, hasWritten: repair(folder, manifest, archive) };
  } catch {
    // A file where a folder belongs, or the reverse: nothing less than all of it anew.
    rmSync(folder, { recursive: true, force: true });
    makePrivate(folder, uid);
    return { folder, hasWritten: repair(folder, manifest, archive) };
  }
}

/** Keeps the folder from being taken for an old one. A cache that was filled beforehand may be read-only. */
function markUsed(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EROFS") throw error;
  }
}

/** Code is run from this folder: nobody else may write in it, or put another in its place. */
function makePrivate(folder: string, uid: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = lstatSync(folder);
  if (!own.isDirectory() || own.uid !== uid || (own.mode & 0o077) !== 0)
    throw new Error(`${folder} is not a private folder of this user`);
  const parent = statSync(dirname(folder));
  const isShared = (parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0;
  if (isShared || (parent.uid !== uid && parent.uid !== 0)) throw new Error(`others can write in ${dirname(folder)}`);
}

/** Whether anything had to be written. */
function repair(folder: string, manifest: Manifest, archive: Archive): boolean {
  const isWrong = manifest.files.map((file) => !isIntact(join(folder, file.path), file));
  if (!isWrong.includes(true)) return false;
  const contents = archive.contents();
  let at = 0;
  for (const [index, file] of manifest.files.entries()) {
    if (isWrong[index]) put(join(folder, file.path), contents.subarray(at, at + file.bytes));
    at += file.bytes;
  }
  return true;
}

function isIntact(path: string, { bytes, sha256: expected }: PackedFile): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size !== bytes) return false;
  return sha256(readFileSync(path)) === expected;
}

function put(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeFileSync(partial, bytes, { mode: 0o600, flag: "wx" });
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
