/**
 * Prints the catalogue of detections as a Markdown table, for the documentation. Made from the catalogue alone, so that the table
 * can be generated again and a test can hold it against the code. Usage: detections-table.
 */
import { fileURLToPath } from "node:url";
import { type PublicDetection, publicCatalogue } from "../src/detections/catalogue.js";

/** Text in a cell: a bar would end it. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function row({ id, slug, engine, severity, state, meaning }: PublicDetection): string {
  return `| ${id} | \`${slug}\` | ${engine} | ${severity} | ${state} | ${cell(meaning)} |`;
}

/** The table, a row a detection by id, without a newline at its end. */
export function detectionsTable(catalogue: readonly PublicDetection[] = publicCatalogue()): string {
  return [
    "| id | slug | engine | severity | state | meaning |",
    "| --- | --- | --- | --- | --- | --- |",
    ...catalogue.map(row),
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(detectionsTable());
