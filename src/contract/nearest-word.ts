/** Guesses the word behind a misspelt one, for messages that say "did you mean". Pure. */

/** Returns the nearest of the words, in any case; undefined if none is within two edits or a third of the length, or shares any letter. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const distances = words.map((each) => ({ each, distance: editDistance(word.toLowerCase(), each.toLowerCase()) }));
  const nearest = distances.sort((one, other) => one.distance - other.distance)[0];
  if (nearest === undefined) return undefined;
  const { each, distance } = nearest;
  const hasCommon = distance < Math.max(word.length, each.length);
  return hasCommon && distance <= Math.max(2, word.length / 3) ? each : undefined;
}

/** Levenshtein's distance; for words longer than 40 characters only the first 40 count. */
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
