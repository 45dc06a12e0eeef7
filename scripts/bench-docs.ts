/**
 * Puts the last bench into the README and the performance page, between two marks, from `bench/results/results.json` alone. Also rebuilds
 * the tables and plots beside that file, so that a change of their looks needs no new run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { headlineText, performanceText, type Report, readReport, writeReportFiles } from "../bench/report/report.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
/** The committed results, from the project's root. */
export const resultsFolder = "bench/results";
const opening = "<!-- bench -->";
const closing = "<!-- end of bench -->";

/** The documents with a generated part, and what makes it. */
const documents: Readonly<Record<string, (report: Report) => string>> = {
  "README.md": headlineText,
  "src/docs/performance.md": (report) => performanceText(report, `../../${resultsFolder}`),
};

/** A document before its generated part, the part, and what follows. Throws when the marks are missing. */
function partsOf(file: string): { readonly head: string; readonly part: string; readonly tail: string } {
  const text = readFileSync(join(root, file), "utf8");
  const from = text.indexOf(opening) + opening.length;
  const to = text.indexOf(closing);
  if (from < opening.length || to < from) throw new Error(`${file} lacks the marks of the bench`);
  return { head: text.slice(0, from), part: text.slice(from, to).trim(), tail: text.slice(to) };
}

/** The generated part of each document: as it stands, and as the committed results make it. */
export function benchParts(): { readonly file: string; readonly stands: string; readonly made: string }[] {
  const report = readReport(join(root, resultsFolder));
  return Object.entries(documents).map(([file, make]) => ({ file, stands: partsOf(file).part, made: make(report) }));
}

function main(): void {
  const folder = join(root, resultsFolder);
  writeReportFiles(folder, readReport(folder));
  for (const { file, made } of benchParts()) {
    const { head, tail } = partsOf(file);
    writeFileSync(join(root, file), `${head}\n\n${made}\n\n${tail}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
