/** Shared by the checks of imported catalogues: the fault that refuses one, and the forms of values. */

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

/** Checks the form of any catalogue, a version and a list with a maximum of entries, without checking the entries. Otherwise returns the fault. */
export function catalogueHead(
  value: unknown,
  entriesMax: number,
): { readonly version: string; readonly entries: readonly unknown[] } | CatalogueFault {
  if (!isRecord(value)) return fault("catalogue", "must be an object {version, entries}");
  const { version, entries } = value;
  if (!isLine(version, limits.catalogueVersionMax)) {
    return fault("version", `must be a text of 1 to ${limits.catalogueVersionMax} characters`);
  }
  if (!Array.isArray(entries)) return fault("entries", "must be a list");
  if (entries.length > entriesMax) {
    return fault("entries", `has ${entries.length} entries: at most ${entriesMax} are allowed`);
  }
  return { version, entries };
}

/** Whether it is a JSON object: no list, not null. Does not check its values. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
