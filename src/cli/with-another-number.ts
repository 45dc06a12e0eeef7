/**
 * Runs this program again, as a child with another process number, where its own is taken in the store: two containers that share one both run their
 * first process as number 1.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { exitCodes } from "./output.js";

/** Counts the programs that began another one for this reason; what a child inherits. */
const triesName = "VERDICTD_NUMBER_TRIES";
/** A child's number is another one, and may be taken as well. */
const triesMax = 8;
const passedOn = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/** Resolves with the exit code of the child, which gets this process's signals, input and output; null once too many were tried. */
export async function runWithAnotherNumber(): Promise<number | null> {
  const tries = Number(process.env[triesName] ?? 0) + 1;
  if (tries > triesMax) return null;
  const args = isExecutable() ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, {
    // The channel tells the child when this process is killed.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [triesName]: String(tries) },
  });
  const ended = once(child, "exit");
  process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT");
  for (const signal of passedOn) process.on(signal, () => child.kill(signal));
  const [code] = (await ended) as [number | null];
  return code ?? exitCodes.failed;
}

/** Ends this process as SIGTERM does when the one that began it for its number is gone. */
export function followParent(): void {
  if (process.env[triesName] === undefined || process.channel === undefined) return;
  process.channel.unref();
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
}

/** Whether Node and the program are one file, which has no script to name. */
function isExecutable(): boolean {
  const script = process.argv[1] ?? "";
  return !existsSync(script) || realpathSync(script) === realpathSync(process.execPath);
}
