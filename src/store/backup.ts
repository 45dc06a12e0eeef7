/**
 * A hot copy of the store: LMDB copies one snapshot while servers and commands go on reading and writing. A copy that was cut
 * short is never found under the store's name.
 */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { makeFolder } from "./folder.js";
import { openStore, type Store } from "./store.js";
import { StoreError } from "./store-error.js";
import { storeFile } from "./store-file.js";

export interface BackupResult {
  /** Bytes of the copy; free pages are left out. */
  readonly bytes: number;
}

/**
 * Copies the store into `targetDir`, which is made when it is missing and refused (`StoreError`) unless it is empty. The copy is
 * on the disk and was opened once when this resolves. Keeps the snapshot's pages from being reused while it runs.
 */
export async function backupStore(store: Store, targetDir: string): Promise<BackupResult> {
  mkdirEmpty(targetDir);
  const file = storeFile(targetDir);
  const partial = `${file}.partial`;
  try {
    await store.root.backup(partial, true);
    flush(partial);
    renameSync(partial, file);
    flush(targetDir);
    await openStore(targetDir).close();
  } catch (error) {
    for (const each of [partial, file]) rmSync(each, { force: true });
    throw error;
  } finally {
    rmSync(`${file}-lock`, { force: true });
  }
  return { bytes: statSync(file).size };
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
