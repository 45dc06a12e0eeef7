/**
 * Files that hold configuration: the YAML or JSON file of `--config`, and files with one value (`VERDICTD_…_FILE`). What they say becomes
 * text as a flag would be written; `config.ts` checks it like any other. Mistakes are collected, never thrown.
 */
import { readFileSync } from "node:fs";
import { nearestWord } from "../contract/values/nearest-word.js";
import { type YamlEntry, yamlEntries } from "./yaml-file.js";

/** The text of a file with one value, without the line break at its end, or why there is none. */
export function readValueFile(path: string): string | { readonly fault: string } {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    return { fault: `can't read "${path}" (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** What a file says of an option. */
export interface FileValue {
  readonly text: string;
  /** File, line and key, as mistakes name it. */
  readonly from: string;
}

/**
 * The options that a map by flag name sets, as texts: `port: 8080`, `trusted-proxies: [10.0.0.0/8]`, or the same as a JSON object. Adds
 * a mistake for a file that can't be read, each line that is no YAML, a key that is no option of a file, and a value of a form that
 * no option has.
 */
export function readConfigFile(
  path: string,
  known: Readonly<Record<string, unknown>>,
  mistakes: string[],
): Map<string, FileValue> {
  const found = new Map<string, FileValue>();
  const held = readValueFile(path);
  if (typeof held !== "string") {
    mistakes.push(`--config: ${held.fault}`);
    return found;
  }
  const entries = yamlEntries(held);
  if (entries === null) {
    mistakes.push(`${path}: expected a map of options by flag name, in YAML or JSON`);
    return found;
  }
  if ("mistakes" in entries) {
    mistakes.push(...entries.mistakes.map(({ line, why }) => `${path}:${line}: ${why}`));
    return found;
  }
  for (const entry of entries) {
    const { key, line, value } = entry;
    const from = `${path}:${line}: ${key}`;
    if (key === "config" || !Object.hasOwn(known, key)) {
      const options = Object.keys(known).filter((each) => each !== "config");
      const near = options.find((each) => plain(each) === plain(key)) ?? nearestWord(key, options);
      mistakes.push(`${from}: no such option${near === undefined ? "" : `, did you mean "${near}"?`}`);
      continue;
    }
    if (Array.isArray(value) && value.length === 0) continue;
    const text = textOf(entry);
    if (text === null) mistakes.push(`${from}: expected a string, a number, true, false or a list of strings`);
    else found.set(key, { text, from });
  }
  return found;
}

/** A name without its punctuation, to tell that `verdict_ttl` means `verdict-ttl`. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

function textOf({ value, written }: YamlEntry): string | null {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value.join(",") : written;
}
