/**
 * Checks the names and kinds of options: a mistake shows when the program starts instead of being ignored. For the client, the middlewares and the
 * browser module: uses nothing from Node.
 */
import { nearestWord } from "./nearest-word.js";

/**
 * Throws a `TypeError` unless `given` is an object with only names in `known`. The message suggests the option that was probably meant. `what` names
 * the function or program that takes them: `verdictd`, `client`.
 */
export function checkOptionNames(what: string, given: unknown, known: Readonly<Record<string, unknown>>): void {
  if (typeof given !== "object" || given === null) throw new TypeError(`${what}: expected an object of options`);
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`${what}: unknown option \`${unknown}\`${hint(unknown, names)}`);
}

/** The required kind of an option's value, in the message's words. */
export type OptionKind = keyof typeof kinds;

const kinds = {
  "a function": (value: unknown) => typeof value === "function",
  "a string": (value: unknown) => typeof value === "string",
  "a name": (value: unknown) => typeof value === "string" && value !== "",
  "a number above 0": (value: unknown) => typeof value === "number" && value > 0 && Number.isFinite(value),
  "true or false": (value: unknown) => typeof value === "boolean",
  "an object": (value: unknown) => typeof value === "object" && value !== null,
} as const;

/** Throws a `TypeError` if a given option has another kind. The message begins with `within` and the option's name. */
export function checkKinds(given: object, expected: Readonly<Record<string, OptionKind>>, within = ""): void {
  for (const [name, kind] of Object.entries(expected)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && !kinds[kind](value)) throw new TypeError(`${within}${name}: expected ${kind}`);
  }
}

/** Returns `; did you mean …?` if one of the words is near; otherwise all of them, and `other`, which is no word. */
export function hint(word: string, words: readonly string[], other = ""): string {
  const nearest = nearestWord(word, words);
  return nearest !== undefined
    ? `; did you mean \`${nearest}\`?`
    : `; expected one of ${words.map((each) => `\`${each}\``).join(", ")}${other === "" ? "" : `, or ${other}`}`;
}
