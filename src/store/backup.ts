/**
 * Makes a hot copy of the store: LMDB copies one snapshot while servers and commands go on reading and writing. An incomplete copy never has the
 * store's name.
 */

import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./failures.js";
import { makeFolder } from "./folder.js";
import type { Progress } from "./integrity.js";
import { configurationOf, MirroredTables } from "./mirrored-tables.js";
import { openStore } from "./open-store.js";
import type { Store } from "./store.js";
import { storeFile } from "./store-file.js";
import { usedBytes } from "./store-size.js";

/** The result of a finished copy. */
interface BackupResult {
  /** Size of the copy, bytes; it has no free pages. */
  readonly bytes: number;
}

/**
 * Copies the store into `targetDir`, which is created if it is missing and refused (`StoreError`) unless it is empty. When this resolves, the copy is on
 * the disk and was opened once. While it runs, the pages of the snapshot can't be reused.
 */
export async function backupStore(
  store: Store,
  targetDir: string,
  onProgress: Progress = () => {},
): Promise<BackupResult> {
  mkdirEmpty(targetDir);
  const file = storeFile(targetDir);
  const partial = `${file}.partial`;
  const total = usedBytes(store);
  try {
    await watched(store.root.backup(partial, true), partial, (bytes) => onProgress(Math.min(bytes, total - 1), total));
    flush(partial);
    renameSync(partial, file);
    flush(targetDir);
    await openStore(targetDir).close();
    onProgress(total, total);
  } catch (error) {
    for (const each of [file, partial]) rmSync(each, { force: true });
    throw error;
  } finally {
    rmSync(`${file}-lock`, { force: true });
  }
  return { bytes: statSync(file).size };
}

/**
 * Creates a store in `targetDir` with only the configuration of this one. Throws a `StoreError` unless the folder is empty or missing. The copy is on the
 * disk when this resolves.
 */
export async function backupConfiguration(store: Store, targetDir: string): Promise<BackupResult> {
  const rows = configurationOf(store);
  mkdirEmpty(targetDir);
  const partial = join(targetDir, "partial");
  const file = storeFile(targetDir);
  try {
    const copy = openStore(partial);
    try {
      const tables = new MirroredTables(copy);
      await copy.root.transaction(() => tables.load(rows));
    } finally {
      await copy.close();
    }
    flush(storeFile(partial));
    renameSync(storeFile(partial), file);
    flush(targetDir);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return { bytes: statSync(file).size };
}

const lookEveryMs = 200;

/** Reports the size of the copy so far. It ends a little smaller than the used size, because it has no free pages. */
async function watched(copying: Promise<void>, file: string, onGrown: (bytes: number) => void): Promise<void> {
  const grown = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const looking = setInterval(() => onGrown(grown()), lookEveryMs);
  try {
    await copying;
  } finally {
    clearInterval(looking);
  }
}

function mkdirEmpty(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) throw new StoreError(`${dir} is not a folder`);
  if (found !== undefined && readdirSync(dir).length > 0) throw new StoreError(`${dir} is not empty`);
  makeFolder(dir);
}

function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
