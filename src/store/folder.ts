/**
 * Makes the folders that the store and its copies lie in. Not by Node's recursive `mkdir`: on file systems where nothing can be made
 * and that say ENOENT to it, such as /proc, that never returns. Says which of them others than their owner may use.
 */
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StoreError } from "./store-error.js";

/** Makes `path`, and what is missing above it, for its owner only. Throws a `StoreError` that names what can't be made, and why. */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) makeOne(folder);
}

/** Throws when there is something else than a folder. */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) throw new StoreError(`${path} is not a folder (ENOTDIR)`);
  return found !== undefined;
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    // Another process may have made it since.
    if (code === "EEXIST" && isThere(path)) return;
    throw new StoreError(`the folder ${path} can't be made (${code})`, { cause });
  }
}

/** What in a store's folder is open to others than its owner. */
export interface OpenToOthers {
  /** The folder's mode, such as "755". */
  readonly mode: string;
  /** Names of files and folders in it that others may read or write. */
  readonly names: readonly string[];
}

const others = 0o077;

/** Null when nobody but its owner can enter the folder, whatever is in it; also where rights have no such meaning (Windows). */
export function openToOthers(dataDir: string): OpenToOthers | null {
  if (process.platform === "win32") return null;
  const { mode } = statSync(dataDir);
  if ((mode & others) === 0) return null;
  const names = readdirSync(dataDir).filter((name) => {
    const found = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return found !== undefined && (found.mode & others) !== 0;
  });
  return { mode: (mode & 0o777).toString(8), names };
}
