/**
 * Puts the last bench into the README: the goals and the plots, between two marks, from `bench/results/results.json` alone. Makes the
 * tables and plots beside that file anew as well, so that a change of their looks needs no new run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readmeText, readReport, writeReportFiles } from "../bench/report/report.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const readme = join(root, "README.md");
/** The committed results, from the README's place. */
export const resultsFolder = "bench/results";
const opening = "<!-- bench -->";
const closing = "<!-- end of bench -->";

/** The README before its generated part, the part, and what follows. Throws when the marks are missing. */
function readmeParts(): { readonly head: string; readonly part: string; readonly tail: string } {
  const text = readFileSync(readme, "utf8");
  const from = text.indexOf(opening) + opening.length;
  const to = text.indexOf(closing);
  if (from < opening.length || to < from) throw new Error("README.md lacks the marks of the bench");
  return { head: text.slice(0, from), part: text.slice(from, to).trim(), tail: text.slice(to) };
}

/** The README's generated part as it stands. */
export function benchOfReadme(): string {
  return readmeParts().part;
}

/** The part as the committed results make it. */
export function benchOfResults(): string {
  return readmeText(readReport(join(root, resultsFolder)), resultsFolder);
}

function main(): void {
  const folder = join(root, resultsFolder);
  writeReportFiles(folder, readReport(folder));
  const { head, tail } = readmeParts();
  writeFileSync(readme, `${head}\n\n${benchOfResults()}\n\n${tail}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
