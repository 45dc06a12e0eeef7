/** What commands print: one JSON value with `--json`, lines for people without; one line on stderr for what went wrong. */

/** Exit codes: done, refused or failed, wrong usage. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** Refused or failed, as the user should read it: one line. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
}

/** Wrong usage that only the command itself can tell, such as a bad value; one line a mistake. */
export class UsageFailure extends Error {
  override readonly name = "UsageFailure";
}

/** `text` on one line: what libraries say may have several. */
export function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ");
}

/** A `key: value` line a key; objects as JSON. */
export function keyLines(value: object): string {
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${typeof each === "object" ? JSON.stringify(each) : each}`)
    .join("\n");
}

/** Rows below each other, columns padded to the widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
