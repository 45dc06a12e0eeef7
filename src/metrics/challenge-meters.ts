/**
 * Counts of challenges by project and rule, in shared memory that one HTTP thread writes and the scrape reads. As many pairs as it has rows
 * for; what comes after them is counted together, as project 0 and rule 0.
 */
import { newCells } from "./cells.js";

/** The sum of the times from issuing to passing is in `passedMs`. */
const columns = ["project", "rule", "issued", "passed", "failed", "passedMs"] as const;
type Column = (typeof columns)[number];
/** Counts of one rule of one project, in milliseconds for `passedMs`. Project 0: all that found no row of their own. */
export type ChallengeRow = Readonly<Record<Column, number>>;

/** The first is that of all others. */
const rowsMax = 257;

/** The counts of one thread, in `buffer`; `challengeRows` reads it. `add` never fails and never grows it: 256 pairs have a row. */
export class ChallengeMeters {
  readonly buffer = newCells(rowsMax * columns.length);
  readonly #cells = new Float64Array(this.buffer);
  readonly #rows = new Map<string, number>();

  add(
    project: number,
    rule: number,
    counts: Partial<Record<"issued" | "passed" | "failed" | "passedMs", number>>,
  ): void {
    const at = this.#rowOf(project, rule) * columns.length;
    for (const [index, column] of columns.entries()) {
      if (column !== "project" && column !== "rule") this.#cells[at + index]! += counts[column] ?? 0;
    }
  }

  #rowOf(project: number, rule: number): number {
    const name = `${project}/${rule}`;
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    const row = this.#rows.size + 1;
    if (row >= rowsMax) return 0;
    this.#rows.set(name, row);
    this.#cells[row * columns.length] = project;
    this.#cells[row * columns.length + 1] = rule;
    return row;
  }
}

/** The rows of all threads, those of one project and rule added up; those that were counted in, and always that of all others. */
export function challengeRows(buffers: readonly SharedArrayBuffer[]): ChallengeRow[] {
  const sums = new Map<string, Record<Column, number>>();
  for (const buffer of buffers) {
    const cells = new Float64Array(buffer);
    for (let at = 0; at < cells.length; at += columns.length) {
      const row = Object.fromEntries(columns.map((column, index) => [column, cells[at + index]!])) as Record<
        Column,
        number
      >;
      if (row.project !== 0 && row.issued + row.passed + row.failed === 0) continue;
      if (row.project === 0 && at > 0) continue;
      const name = `${row.project}/${row.rule}`;
      const sum = sums.get(name);
      if (sum === undefined) sums.set(name, row);
      else for (const column of columns.slice(2)) sum[column] += row[column];
    }
  }
  return [...sums.values()];
}
