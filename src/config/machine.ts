/** What the process may use of its machine: all of it, or what a control group (a container, a unit of systemd) gives it. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/** Where Linux tells of control groups; others for tests. */
interface CgroupFiles {
  /** Names the groups of this process. */
  readonly membership: string;
  /** The root of version 2, or of all controllers of version 1. */
  readonly root: string;
}

const systemFiles: CgroupFiles = { membership: "/proc/self/cgroup", root: "/sys/fs/cgroup" };

/** Processors that may be used, at least 1: those of the machine, or fewer by a quota. */
export function usableCores(files: CgroupFiles = systemFiles, ofMachine = availableParallelism()): number {
  let cores = ofMachine;
  for (const folder of foldersOf(files, "cpu")) {
    const [quota, period] = [
      ...textOf(join(folder, "cpu.max")).split(" "),
      textOf(join(folder, "cpu.cfs_quota_us")),
      textOf(join(folder, "cpu.cfs_period_us")),
    ].filter((text) => text !== "");
    const share = Number(quota) / Number(period);
    // Text such as `max`, and a quota of -1, are no bound.
    if (share > 0) cores = Math.min(cores, share);
  }
  return Math.max(1, Math.floor(cores));
}

/** Bytes of memory that the process may use by its control groups; null: no bound. */
export function memoryBound(files: CgroupFiles = systemFiles): number | null {
  let bytes = Number.POSITIVE_INFINITY;
  for (const folder of foldersOf(files, "memory")) {
    for (const name of ["memory.max", "memory.limit_in_bytes"]) {
      const bound = Number(textOf(join(folder, name)) || "max");
      if (bound > 0) bytes = Math.min(bytes, bound);
    }
  }
  // Version 1 writes "none" as a number near 2^63.
  return bytes < 2 ** 60 ? bytes : null;
}

/** The folders of the process's groups with this controller and of those above, each of which bounds it. */
function foldersOf({ membership, root }: CgroupFiles, controller: string): string[] {
  const folders: string[] = [];
  for (const line of textOf(membership).split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === "" || (controllers !== "" && !controllers.split(",").includes(controller))) continue;
    const top = controllers === "" ? root : join(root, controllers);
    // Inside a container the path may be that of outside, where nothing is then: the root counts all the same.
    for (let at = path; ; at = dirname(at)) {
      folders.push(join(top, at));
      if (at === "/") break;
    }
  }
  return folders;
}

/** "" for what is not there. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
