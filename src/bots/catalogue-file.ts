/** Shared by the checks of imported lists of bots: the fault that refuses one, its form, and the forms of values. */
import { isJsonObject } from "../contract/api/json-body.js";
import { limits } from "../limits.js";

/** Why a catalogue is refused. */
export interface CatalogueFault {
  /** Where: `entries[17].match_value`, `version`. */
  readonly at: string;
  /** One line with the position and the expected value. */
  readonly message: string;
}

/** Tells a refusal from the catalogue that a check otherwise returns. */
export function isCatalogueFault(value: object): value is CatalogueFault {
  return "at" in value && "message" in value;
}

/** Returns the fault at `at`; `expected` completes the sentence, as in `must be a list`. */
export function fault(at: string, expected: string): CatalogueFault {
  return { at, message: `${at} ${expected}` };
}

/** Returns a value for a message: at most a line long. */
export function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Checks a text of one line without white space around it: names are printed and compared. */
export function isLine(value: unknown, lengthMax: number): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) return false;
  return value === value.trim() && !/\p{Cc}/u.test(value);
}

/** The fault of a value that `isLine` refuses. */
export function lineFault(at: string, lengthMax: number): CatalogueFault {
  return fault(at, `must be a text of 1 to ${lengthMax} characters, without spaces around it`);
}

/** The value if it is one of these words, or its fault. */
export function checkWord<Word extends string>(
  words: readonly Word[],
  value: unknown,
  at: string,
): Word | CatalogueFault {
  return words.find((each) => each === value) ?? fault(at, `must be one of ${words.join(", ")}`);
}

/**
 * Checks a file of the form `{version, [key]: [entries]}` with at most `entriesMax` entries, each by `checkEntry`, or returns the first fault.
 * The entries are as many as in the file and in its order, so that an index is the position in both.
 */
export function checkFile<Entry extends object>(
  value: unknown,
  key: string,
  entriesMax: number,
  checkEntry: (entry: unknown, at: string) => Entry | CatalogueFault,
): { readonly version: string; readonly entries: readonly Entry[] } | CatalogueFault {
  if (!isJsonObject(value)) return fault("catalogue", `must be an object {version, ${key}}`);
  const { version, [key]: entries } = value;
  if (!isLine(version, limits.catalogueVersionMax)) {
    return fault("version", `must be a text of 1 to ${limits.catalogueVersionMax} characters`);
  }
  if (!Array.isArray(entries)) return fault(key, "must be a list");
  if (entries.length > entriesMax) {
    return fault(key, `has ${entries.length} entries: at most ${entriesMax} are allowed`);
  }
  const checked: Entry[] = [];
  for (const [index, each] of entries.entries()) {
    const entry = checkEntry(each, `${key}[${index}]`);
    if (isCatalogueFault(entry)) return entry;
    checked.push(entry);
  }
  return { version, entries: checked };
}
