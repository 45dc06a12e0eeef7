/**
 * Keeps the cache from growing with every version: removes the folders beside the one in use that were started longest ago. Never
 * one that a process runs from, which may still have to load a file of it. A failure here stops nobody.
 */
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Folders kept beside the present one, some 15 MB each: to go back a version, or two programs that share a cache. */
const keptBeside = 2;

/** As `unpack` names them: the version and the start of a hash. */
const namePattern = /^[\w.+-]+-[0-9a-f]{16}$/;

/** Removes old folders beside `present`. `processes` is where Linux lists processes. */
export function removeOldCaches(present: string, uid: number, processes = "/proc"): void {
  try {
    // As Linux names it in its list of mapped files.
    const cache = realpathSync(dirname(present));
    const names = readdirSync(cache).filter((name) => namePattern.test(name) && name !== basename(present));
    const found = names.map((name) => join(cache, name)).map((folder) => ({ folder, stats: lstatSync(folder) }));
    const old = found
      .filter(({ stats }) => stats.isDirectory() && stats.uid === uid)
      .sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs)
      .slice(keptBeside);
    if (old.length === 0) return;
    const mapped = mappedFiles(processes);
    for (const { folder } of old) if (!mapped.includes(`${folder}/`)) rmSync(folder, { recursive: true, force: true });
  } catch {
    // Another start removes them at the same time, or the folder may be read but not listed: next time.
  }
}

/** What running processes have mapped into memory, as one text: the native parts of every version that runs are among it. */
function mappedFiles(processes: string): string {
  const ids = readdirSync(processes).filter((name) => /^\d+$/.test(name));
  return ids.map((id) => readOrNothing(join(processes, id, "maps"))).join("\n");
}

/** Processes of others can't be read, and don't use this cache; one may also have ended just now. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
