/**
 * Starts the programs of a live measurement and makes sure that none outlives it. Every child leads a process group of its own,
 * so that what it starts ends with it. Knows nothing of browsers.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

const running = new Set<ChildProcess>();

/** Starts a program in a process group of its own; it is killed when this process exits, whatever happens. */
export function startChild(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], ...options, detached: true });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.once("error", () => running.delete(child));
  // Pipes that nobody reads would stop the child.
  child.stdout?.resume();
  child.stderr?.resume();
  return child;
}

/** Kills the child and its group and waits for its end. Does nothing when it has ended. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  killGroup(child);
  await ended;
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // Its group has ended already.
  }
}

/**
 * The first match of `pattern` in what the child prints on either pipe. Rejects when it ends or `ms` pass without one; the error
 * shows the last that it said.
 */
export function awaitOutput(child: ChildProcess, pattern: RegExp, ms: number): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    let said = "";
    const done = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    const fail = (why: string) =>
      done(() => reject(new Error(`${child.spawnfile} ${why} before ${String(pattern)}: ${said.slice(-400)}`)));
    const timer = setTimeout(() => fail(`took more than ${ms} ms`), ms);
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const found = pattern.exec(said);
      if (found !== null) done(() => resolve(found));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", () => fail("ended"));
    child.once("error", (error) => fail(`could not start (${error.message})`));
  });
}

process.once("exit", () => {
  for (const child of running) killGroup(child);
});
