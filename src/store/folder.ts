/**
 * Creates the folders of the store and its copies, and says which of them users other than the owner may enter. Does not use Node's recursive `mkdir`,
 * which never returns on file systems that answer ENOENT to every creation, such as /proc.
 */
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StoreError } from "./failures.js";

/** Creates `path` and its missing parents, for the owner only. Throws a `StoreError` that names the folder that can't be created, and why. */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) makeOne(folder);
}

/** Throws if `path` is not a folder. */
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
    // Another process may have created it since.
    if (code === "EEXIST" && isThere(path)) return;
    throw new StoreError(`the folder ${path} can't be made (${code})`, { cause });
  }
}

/** The parts of a store's folder that users other than the owner can access. */
interface OpenToOthers {
  /** The folder's mode, such as "755". */
  readonly mode: string;
  /** Names of files and folders in it that others may read or write. */
  readonly names: readonly string[];
}

const others = 0o077;

/** Returns null if only the owner can enter the folder, and on systems without such rights (Windows). */
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
