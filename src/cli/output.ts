/**
 * What commands print: one JSON value with `--json`, lines for people without; one line on stderr for what went wrong. Nothing of it has
 * characters that a terminal obeys, whoever the text is from.
 */
import { createInterface } from "node:readline/promises";
import { printableJson, printableLine, printableText } from "../runtime/printable.js";

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

/** Prints lines. Who makes them of cells that others wrote has made one line of each by `printableLine`. */
export function print(lines: string): void {
  console.log(printableText(lines));
}

/** Prints a value as JSON, on one line. */
export function printJson(value: unknown): void {
  console.log(printableJson(value));
}

/** Says lines on stderr. */
export function say(lines: string): void {
  console.error(printableText(lines));
}

/** Says what a command waits for, and why, each reason once. */
export function sayingWaits(what: string): (why: string) => void {
  const said = new Set<string>();
  return (why) => {
    if (said.has(why)) return;
    said.add(why);
    say(`waiting for ${what}: ${why}`);
  };
}

/** Asks on stderr; whether just this was typed. For a terminal only: whoever calls it has made sure of that. */
export async function isTyped(question: string, wanted: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(question);
  lines.close();
  return answer.trim() === wanted;
}

/** A `key: value` line a key; objects as JSON, empty lists not at all. */
export function keyLines(value: object): string {
  return Object.entries(value)
    .filter(([, each]) => !Array.isArray(each) || each.length > 0)
    .map(([key, each]) => `${key}: ${typeof each === "object" ? printableJson(each) : printableLine(String(each))}`)
    .join("\n");
}

/** Rows below each other, columns padded to the widest cell. */
export function columns(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(printableLine));
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
