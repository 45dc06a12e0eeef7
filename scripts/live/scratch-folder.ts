/** Folders that a live measurement needs for a while: browser profiles and the store. Erased by their user, or at the latest at exit. */
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder. */
export interface ScratchFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  erase(): Promise<void>;
}

const kept = new Set<string>();

/** Makes an empty folder below the system's folder for temporary files. */
export async function scratchFolder(): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), "verdictd-live-"));
  kept.add(path);
  return {
    path,
    erase: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      kept.delete(path);
    },
  };
}

process.once("exit", () => {
  for (const path of kept) rmSync(path, { recursive: true, force: true });
});
