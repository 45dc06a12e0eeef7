/** Addresses as rows of 32-bit words, one for IPv4 and four for IPv6: how sorted tables hold them. */

/** The four words of eight 16-bit groups, into `words`. */
export function wordsOfGroups(groups: Uint16Array, words: Uint32Array): void {
  for (let index = 0; index < 4; index++) words[index] = groups[2 * index]! * 65_536 + groups[2 * index + 1]!;
}

/** Index of the last of the sorted rows that is not above the value, or -1; of those before `low` none is, and of those from `high` on all are. */
export function lastNotAboveV4(rows: Uint32Array, value: number, low = 0, high = rows.length): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The same over rows of four words. */
export function lastNotAboveV6(rows: Uint32Array, words: Uint32Array): number {
  let low = 0;
  let high = rows.length >>> 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareWords(rows, middle << 2, words, 0, 4) > 0) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** Below 0, 0 or above 0, as the row of `count` words at `oneAt` is below, equal to or above the other. */
export function compareWords(
  one: Uint32Array,
  oneAt: number,
  other: Uint32Array,
  otherAt: number,
  count: number,
): number {
  for (let index = 0; index < count; index++) {
    const difference = one[oneAt + index]! - other[otherAt + index]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Adds one to a row of words; false when it was the highest of all, which is then 0. */
export function increment(words: Uint32Array): boolean {
  for (let index = words.length - 1; index >= 0; index--) {
    words[index] = words[index]! + 1;
    if (words[index] !== 0) return true;
  }
  return false;
}
