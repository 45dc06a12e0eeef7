/** Guesses the word behind a misspelt one, for messages that say "did you mean". Pure. */

/** Returns the nearest of the words, in any case; undefined if none is within two edits or a third of the length, or shares any letter. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const distances = words.map((each) => ({ each, distance: editDistance(word.toLowerCase(), each.toLowerCase()) }));
  const [nearest] = distances.sort((one, other) => one.distance - other.distance);
  if (!nearest) return undefined;
  const { each, distance } = nearest;
  const hasCommon = distance < Math.max(word.length, each.length);
  return hasCommon && distance <= Math.max(2, word.length / 3) ? each : undefined;
}

/** Levenshtein's distance; for words longer than 40 characters only the first 40 count. */
function editDistance(one: string, other: string): number {
  const letters = other.slice(0, 40).split("");
  let row = ["", ...letters].map((_, at) => at);
  for (const letter of one.slice(0, 40)) {
    const next = [row[0]! + 1];
    letters.forEach((each, at) => {
      next.push(Math.min(row[at]! + Number(letter !== each), row[at + 1]! + 1, next[at]! + 1));
    });
    row = next;
  }
  return row.pop()!;
}
