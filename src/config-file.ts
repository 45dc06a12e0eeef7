/**
 * Files that hold configuration: the JSON file of `--config`, and files with one value (`VERDICTD_…_FILE`). What they say becomes
 * text as a flag would be written; `config.ts` checks it like any other. Mistakes are collected, never thrown.
 */
import { readFileSync } from "node:fs";

/** The text of a file with one value, without the line break at its end, or why there is none. */
export function readValueFile(path: string): string | { readonly fault: string } {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    return { fault: `can't read "${path}" (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/**
 * The options that a JSON object of options by flag name sets, as texts: `{"port": 8080, "trusted-proxies": ["10.0.0.0/8"]}`. Adds
 * a mistake for a file that can't be read, a key that is no option of a file, and a value of a form that no option has.
 */
export function readConfigFile(
  path: string,
  known: Readonly<Record<string, unknown>>,
  mistakes: string[],
): Map<string, string> {
  const texts = new Map<string, string>();
  const held = readValueFile(path);
  if (typeof held !== "string") {
    mistakes.push(`--config: ${held.fault}`);
    return texts;
  }
  const object = parsed(held);
  if (object === null) {
    mistakes.push(`${path}: expected a JSON object of options by flag name`);
    return texts;
  }
  for (const [name, value] of Object.entries(object)) {
    if (name === "config" || !Object.hasOwn(known, name)) {
      const near = Object.keys(known).find((each) => plain(each) === plain(name) && each !== name);
      mistakes.push(`${path}: ${name}: no such option${near === undefined ? "" : `, did you mean "${near}"?`}`);
      continue;
    }
    if (Array.isArray(value) && value.length === 0) continue;
    const text = textOf(value);
    if (text === null) mistakes.push(`${path}: ${name}: expected a text, a number, true, false or a list of texts`);
    else texts.set(name, text);
  }
  return texts;
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A name without its punctuation, to tell that `verdict_ttl` means `verdict-ttl`. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value.join(",") : null;
}
