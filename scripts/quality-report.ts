/**
 * `npm run quality`: the recorded traces and the recorded agents, the live browsers and the bench of jobs, one after another. With `--only TEXT,…` the live
 * browsers alone, with `--only agents` the recorded agents alone, with `--only jobs` the bench of jobs alone (`--only jobs --only TEXT`: its rows
 * whose names contain TEXT, which may be given several times); other flags go to what is run.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const given = process.argv.slice(2);

function run(script: string, args: readonly string[]): number {
  return spawnSync(process.execPath, [join(folder, script), ...args], { stdio: "inherit" }).status ?? 1;
}

function statusOf(): number {
  const at = given.findIndex((each) => each === "--only" || each.startsWith("--only="));
  if (at < 0) {
    const recorded = Math.max(run("quality.js", []), run("quality-agents.js", []));
    return Math.max(recorded, run("quality-live.js", given), run("quality-jobs.js", []));
  }
  const isOneWord = given[at] !== "--only";
  const part = isOneWord ? given[at]!.slice("--only=".length) : given[at + 1];
  if (part?.startsWith("jobs,")) throw new Error("say --only jobs, and --only again for each part of it");
  if (part === "agents") return run("quality-agents.js", []);
  if (part !== "jobs") return run("quality-live.js", given);
  return run("quality-jobs.js", given.toSpliced(at, isOneWord ? 1 : 2));
}

process.exitCode = statusOf();
