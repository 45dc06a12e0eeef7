/**
 * Checks the names and kinds of options, so that a mistake shows when the program starts instead of being ignored. For the client, the
 * middlewares and the browser module: nothing of Node.
 */

/**
 * Throws a `TypeError` unless `given` is an object whose names are all in `known`. The message names the option that was probably meant.
 * `what` says what takes them: `verdictd`, `client`.
 */
export function checkOptionNames(what: string, given: unknown, known: Readonly<Record<string, unknown>>): void {
  if (typeof given !== "object" || given === null) throw new TypeError(`${what}: expected an object of options`);
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`${what}: unknown option \`${unknown}\`${hint(unknown, names)}`);
}

/** What an option's value has to be, as the message says it. */
export type OptionKind = keyof typeof kinds;

const kinds = {
  "a function": (value: unknown) => typeof value === "function",
  "a string": (value: unknown) => typeof value === "string",
  "a name": (value: unknown) => typeof value === "string" && value !== "",
  "a number above 0": (value: unknown) => typeof value === "number" && value > 0 && Number.isFinite(value),
  "true or false": (value: unknown) => typeof value === "boolean",
  "an object": (value: unknown) => typeof value === "object" && value !== null,
} as const;

/** Throws a `TypeError` where an option that was given is not of its kind. The message begins with `within` and the option's name. */
export function checkKinds(given: object, expected: Readonly<Record<string, OptionKind>>, within = ""): void {
  for (const [name, kind] of Object.entries(expected)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && !kinds[kind](value)) throw new TypeError(`${within}${name}: expected ${kind}`);
  }
}

/** `; did you mean …?` where one of the words is near; otherwise all of them, and `other`, which is no word. */
export function hint(word: string, words: readonly string[], other = ""): string {
  const distances = words.map((each) => ({ each, distance: editDistance(word.toLowerCase(), each.toLowerCase()) }));
  const nearest = distances.sort((one, other) => one.distance - other.distance)[0];
  return nearest !== undefined && nearest.distance <= Math.max(2, word.length / 3)
    ? `; did you mean \`${nearest.each}\`?`
    : `; expected one of ${words.map((each) => `\`${each}\``).join(", ")}${other === "" ? "" : `, or ${other}`}`;
}

/** Levenshtein's distance; of words longer than 40 characters the first 40 count. */
function editDistance(one: string, other: string): number {
  const [a, b] = [one.slice(0, 40), other.slice(0, 40)];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
