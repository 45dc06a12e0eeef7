/**
 * Makes the folders that the store and its copies lie in. Not by Node's recursive `mkdir`: on file systems where nothing can be made
 * and that say ENOENT to it, such as /proc, that never returns.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
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
