/**
 * A hot copy of the store: LMDB copies one snapshot while servers and commands go on reading and writing. A copy that was cut
 * short is never found under the store's name.
 */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { makeFolder } from "./folder.js";
import type { Progress } from "./integrity.js";
import type { SessionStore } from "./session-store.js";
import { usedBytes, usedBytesOf } from "./session-stores.js";
import { openStore, type Store } from "./store.js";
import { StoreError } from "./store-error.js";
import { sessionsFile, storeFile } from "./store-file.js";

export interface BackupResult {
  /** Bytes of the copy; free pages are left out. */
  readonly bytes: number;
}

/**
 * Copies the store into `targetDir`, which is made when it is missing and refused (`StoreError`) unless it is empty. The copy is
 * on the disk and was opened once when this resolves. Keeps the snapshot's pages from being reused while it runs. Where sessions are
 * split over several environments, each is copied as it is at one moment of its own, the main one last: what sessions name is in it.
 */
export async function backupStore(
  store: Store,
  targetDir: string,
  onProgress: Progress = () => {},
): Promise<BackupResult> {
  mkdirEmpty(targetDir);
  const parts = [...store.sessionStores].reverse();
  const files = parts.map(({ place }) => (place === 0 ? storeFile(targetDir) : sessionsFile(targetDir, place)));
  const total = usedBytes(store);
  let done = 0;
  try {
    for (const [index, part] of parts.entries()) {
      const before = done;
      await copyPart(part, files[index]!, (bytes) => onProgress(Math.min(before + bytes, total - 1), total));
      done += usedBytesOf(part);
    }
    flush(targetDir);
    await openStore(targetDir).close();
    onProgress(total, total);
  } catch (error) {
    for (const file of files) for (const each of [file, `${file}.partial`]) rmSync(each, { force: true });
    throw error;
  } finally {
    for (const file of files) rmSync(`${file}-lock`, { force: true });
  }
  return { bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}

async function copyPart(part: SessionStore, file: string, onGrown: (bytes: number) => void): Promise<void> {
  const partial = `${file}.partial`;
  await watched(part.root.backup(partial, true), partial, onGrown);
  flush(partial);
  renameSync(partial, file);
}

const lookEveryMs = 200;

/** Tells how far the copy has grown. It ends a little smaller than what is in use, since free pages are left out. */
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
