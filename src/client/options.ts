/** Checks the names of options, so that a misspelt one fails when the program starts instead of being ignored. */

/**
 * Throws a `TypeError` unless `given` is an object whose names are all in `known`. The message names the option that was probably meant.
 * `what` says what takes them: `verdictd`, `client`.
 */
export function checkOptionNames(what: string, given: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof given !== "object" || given === null) throw new TypeError(`${what}: expected an object of options`);
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`${what}: unknown option \`${name}\`${hint(name, Object.keys(known))}`);
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
