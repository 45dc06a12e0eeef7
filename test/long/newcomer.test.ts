/** The newcomer's path from the very start: a fresh clone, `npm ci`, `npm start`, and on. Says what it costs; needs the registry. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { walkAsNewcomer } from "../e2e/newcomer.js";
import { noChromium } from "../support/chromium.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);
const skip = noChromium ?? (existsSync(join(root, ".git")) ? false : "this is no clone: nothing to clone from");

/** CPU seconds of all processes that this one started and that have ended (proc(5): cutime, cstime in hundredths). */
function cpuOfChildren(): number {
  const [, rest] = readFileSync("/proc/self/stat", "utf8").split(") ");
  const fields = rest!.split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

t.test("clone, install, start, demo, console, first active rule, first block", { skip }, async (t) => {
  const folder = join(t.testdir(), "verdictd");
  const startedMs = Date.now();
  const steps: string[] = [];
  const done = (step: string): void => {
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    steps.push(`${step} after ${seconds} s, ${cpuOfChildren().toFixed(1)} s of CPU`);
  };
  await run("git", ["clone", "--quiet", root, folder]);
  done("cloned");
  await run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder });
  done("installed");
  await t.test("npm start and on", (t) => walkAsNewcomer(t, ["npm", "start"], folder));
  done("built, started, walked and stopped");
  for (const step of steps) t.comment(step);
});
