/** What a process has used, as Linux counts it. Null elsewhere: the bench then reports no CPU and no memory. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Ticks of `/proc/PID/stat` a second: 100 on every usual Linux. */
const ticksPerSecond = existsSync("/proc/self/stat")
  ? Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))
  : 0;

/** User and system seconds of all threads of these processes since they started. */
export function cpuSeconds(pids: readonly number[]): number | null {
  if (ticksPerSecond === 0) return null;
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name may hold spaces and parentheses; the fields behind it may not. utime and stime are the 14th and 15th of all.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / ticksPerSecond;
}

/**
 * Bytes of memory that belong to the process and to no file: heaps, stacks, buffers. Pages of the store are the system's cache, even those
 * that are "private" because no other process maps them: they are dropped when memory is short.
 */
export function privateBytes(pid: number): number | null {
  const file = `/proc/${pid}/smaps_rollup`;
  if (!existsSync(file)) return null;
  const anonymous = /^Anonymous:\s+(\d+) kB/m.exec(readFileSync(file, "latin1"));
  return anonymous === null ? null : Number(anonymous[1]) * 1024;
}
