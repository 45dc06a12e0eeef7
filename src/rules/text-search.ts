/**
 * Searches text in linear time, whatever text and pattern are. Built-in searches take the product of both lengths in the worst case, which a visitor
 * may choose. Used by `contains` and `wildcard`.
 */

/** Converts ASCII capitals to small letters; leaves other characters unchanged. */
export function folded(character: number): number {
  return character >= 0x41 && character <= 0x5a ? character | 0x20 : character;
}

/** Stands for any one character in a pattern of `maskSearch`. */
export const anyCharacter = -1;

/** Returns where the first match at `from` or later ends in the text, or -1. Positions are UTF-16 units. */
export type Search = (text: string, from: number) => number;

/** Up to this length, V8 compares the text with each character of the pattern at most once (`kBMMinPatternLength`). */
const linearIndexOfMax = 6;

/**
 * Whether a text contains this part, case-sensitive. The built-in search only looks for the part's first characters: that answers most texts, in a
 * tenth of the time.
 */
export function containsSearch(part: string): (text: string) => boolean {
  if (part.length <= linearIndexOfMax) return (text) => text.includes(part);
  const head = part.slice(0, linearIndexOfMax);
  const units = Uint16Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
  const failures = failuresOf(units);
  return (text) => {
    const at = text.indexOf(head);
    return at >= 0 && literalEnd(units, failures, text, at, false) >= 0;
  };
}

/** Searches for a non-empty literal, given as folded units, in either case. Reads each unit of the text once (Knuth, Morris, Pratt). */
export function literalSearch(units: Uint16Array): Search {
  const failures = failuresOf(units);
  return (text, from) => literalEnd(units, failures, text, from, true);
}

/** For each length of a matched prefix: the length of its longest proper suffix that is also a prefix. */
function failuresOf(units: Uint16Array): Uint16Array {
  const failures = new Uint16Array(units.length + 1);
  let matched = 0;
  for (let at = 1; at < units.length; at++) {
    while (matched > 0 && units[at] !== units[matched]) matched = failures[matched]!;
    if (units[at] === units[matched]) matched++;
    failures[at + 1] = matched;
  }
  return failures;
}

function literalEnd(units: Uint16Array, failures: Uint16Array, text: string, from: number, folds: boolean): number {
  const { length } = text;
  let matched = 0;
  for (let at = from; at < length; at++) {
    const written = text.charCodeAt(at);
    const unit = folds ? folded(written) : written;
    while (matched > 0 && units[matched] !== unit) matched = failures[matched]!;
    if (units[matched] === unit && ++matched === units.length) return at + 1;
  }
  return -1;
}

const wordBits = 32;

/** Words that `maskSearch` processes for each character of the text. */
export function maskWords(patternLength: number): number {
  return Math.ceil(patternLength / wordBits);
}

/**
 * Searches for a pattern of folded code points in which `anyCharacter` matches each: one bit for every prefix of the pattern that ends here, 32 of
 * them per word (Baeza-Yates and Gonnet's "shift-and"). Costs text × `maskWords`.
 */
export function maskSearch(pattern: Int32Array): Search {
  const words = maskWords(pattern.length);
  const anywhere = new Int32Array(words);
  for (const [at, wanted] of pattern.entries()) if (wanted === anyCharacter) setBit(anywhere, at);
  const masks = new Map<number, Int32Array>();
  for (const [at, wanted] of pattern.entries()) {
    if (wanted === anyCharacter) continue;
    const mask = masks.get(wanted) ?? anywhere.slice();
    setBit(mask, at);
    masks.set(wanted, mask);
  }
  const last = pattern.length - 1;
  return (text, from) => {
    const state = new Int32Array(words);
    for (let at = from; at < text.length; ) {
      const character = text.codePointAt(at)!;
      at += character > 0xffff ? 2 : 1;
      const mask = masks.get(folded(character)) ?? anywhere;
      let carried = 1;
      for (let word = 0; word < words; word++) {
        const before = state[word]!;
        state[word] = ((before << 1) | carried) & mask[word]!;
        carried = before >>> (wordBits - 1);
      }
      if (hasBit(state, last)) return at;
    }
    return -1;
  };
}

function setBit(words: Int32Array, at: number): void {
  words[at >>> 5]! |= 1 << (at & 31);
}

function hasBit(words: Int32Array, at: number): boolean {
  return (words[at >>> 5]! & (1 << (at & 31))) !== 0;
}
