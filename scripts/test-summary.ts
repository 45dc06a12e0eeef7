/**
 * Adds up what tap runs left behind, in the folders that are named or else in .tap/test-results/, and prints `N passed, N failed, N
 * skipped` as its last line. Exits 1 when a test failed or was skipped, or none ran in one of the folders: a browser test that was
 * skipped in CI has shown nothing. Only a skip for want of the recorded traces is let pass: they are not part of the project.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** What one file of results says. Passed and failed are its outermost tests; skipped ones count at any depth. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** The lines that speak of failures and skips. */
  remarks: string[];
}

/** Counts the results of one TAP text. A file without a plan ended too early, which is a failure. */
export function tallyOf(tap: string): Tally {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, remarks: [] };
  let planned = false;
  for (const line of tap.split("\n")) {
    const plan = /^1\.\.(\d+)(.*)/.exec(line);
    const point = /^( *)(not )?ok\b(?:[^#\\]|\\.)*(# (?:skip|todo)\b.*)?/i.exec(line);
    if (plan) {
      planned = true;
      if (plan[1] === "0") tally.skipped++;
      if (plan[1] === "0") tally.remarks.push(line);
    } else if (point?.[3] !== undefined) {
      tally.skipped++;
      tally.remarks.push(line.trim());
    } else if (point?.[1] === "") {
      if (point[2] === undefined) tally.passed++;
      else tally.failed++;
      if (point[2] !== undefined) tally.remarks.push(line);
    } else if (/^Bail out!/.test(line)) {
      tally.failed++;
      tally.remarks.push(line);
    }
  }
  if (!planned) {
    tally.failed++;
    tally.remarks.push("no plan: the file ended too early");
  }
  return tally;
}

/** Results of tests that still exist: tap leaves those of deleted ones lying about. */
function resultFiles(results: string): string[] {
  try {
    return readdirSync(results, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.js.tap") && existsSync(join(root, name.slice(0, -4))))
      .map((name) => join(results, name));
  } catch {
    return [];
  }
}

interface Total {
  passed: number;
  failed: number;
  skipped: number;
  /** How many of the skipped are let pass. */
  withoutTraces: number;
}

/** Adds the results of one run, and prints what failed or was skipped. */
function add(results: string, total: Total): void {
  for (const file of resultFiles(results)) {
    const tally = tallyOf(readFileSync(file, "utf8"));
    for (const key of ["passed", "failed", "skipped"] as const) total[key] += tally[key];
    total.withoutTraces += tally.remarks.filter((remark) => /# SKIP .*shared\/data/.test(remark)).length;
    for (const remark of tally.remarks) console.log(`${relative(root, file)}: ${remark}`);
  }
}

function main(folders: readonly string[]): void {
  const total: Total = { passed: 0, failed: 0, skipped: 0, withoutTraces: 0 };
  let isEmpty = false;
  for (const folder of folders) {
    const { passed } = total;
    add(resolve(root, folder), total);
    if (total.passed > passed) continue;
    isEmpty = true;
    console.log(`${folder}: no test passed`);
  }
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  if (isEmpty || total.failed > 0 || total.skipped > total.withoutTraces) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2);
  main(folders.length > 0 ? folders : [".tap/test-results"]);
}
