/**
 * The `wildcard` operator: `*` matches any run of characters (also none), `?` exactly one, everything else itself; ASCII letters match in either
 * case. It builds no regular expression. There is no escape: `wildcard` can't match a literal `*` or `?` (`contains` can).
 */
import { anyCharacter, folded, literalSearch, maskSearch, maskWords, type Search } from "./text-search.js";

/** Stands for a `*` of the text, which a pattern can't write. Half a surrogate pair: no literal of a rule has one. */
export const literalStar = "\uD800";

/** Characters of a pattern between two stars, with case folded. */
type Segment = Int32Array;

/** A compiled pattern. Its cost is known before it runs, for the rules' budget. */
interface Glob {
  readonly matches: (text: string) => boolean;
  /** Maximum of steps for each UTF-16 unit of a text. */
  readonly stepsPerUnit: number;
}

/**
 * Returns the matcher of one pattern. The text must begin with the segment before the first star and end with the one after the last star. The
 * segments between are searched one after another, each as far to the front as possible, which leaves the most room to the rest. So a search reads
 * each unit of the text once, and the checks of its ends at most once more. A text shorter than the pattern needs is refused at once.
 */
export function compileGlob(pattern: string): Glob {
  const segments = pattern.split("*").map(segmentOf);
  const needed = segments.reduce((sum, segment) => sum + unitsOf(segment), 0);
  const first = segments[0]!;
  if (segments.length === 1) {
    const matches = (text: string): boolean => text.length >= needed && endOfPrefix(first, text) === text.length;
    return { matches, stepsPerUnit: 1 };
  }
  const last = segments.at(-1)!;
  const between = segments.slice(1, -1).filter(({ length }) => length > 0);
  const searches = between.map(searchFor);
  const matches = (text: string): boolean => {
    if (text.length < needed) return false;
    const end = startOfSuffix(last, text);
    let at = endOfPrefix(first, text);
    if (at < 0 || end < at) return false;
    for (const search of searches) {
      at = search(text, at);
      if (at < 0 || at > end) return false;
    }
    return true;
  };
  const words = Math.max(
    1,
    ...between.filter((each) => each.includes(anyCharacter)).map((each) => maskWords(each.length)),
  );
  return { matches, stepsPerUnit: 1 + words };
}

function segmentOf(text: string): Segment {
  return Int32Array.from([...text], (character) => {
    if (character === literalStar) return "*".charCodeAt(0);
    return character === "?" ? anyCharacter : folded(character.codePointAt(0)!);
  });
}

/** Least number of UTF-16 units that a segment takes. */
function unitsOf(segment: Segment): number {
  return segment.reduce((sum, character) => sum + (character > 0xffff ? 2 : 1), 0);
}

function searchFor(segment: Segment): Search {
  if (segment.includes(anyCharacter)) return maskSearch(segment);
  const text = Array.from(segment, (character) => String.fromCodePoint(character)).join("");
  return literalSearch(Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index)));
}

/** Returns where the segment that begins the text ends, or -1. */
function endOfPrefix(segment: Segment, text: string): number {
  let at = 0;
  for (const wanted of segment) {
    if (at >= text.length) return -1;
    const character = text.codePointAt(at)!;
    if (wanted !== anyCharacter && wanted !== folded(character)) return -1;
    at += character > 0xffff ? 2 : 1;
  }
  return at;
}

/** Returns where the segment that ends the text begins, or -1. */
function startOfSuffix(segment: Segment, text: string): number {
  let at = text.length;
  for (let index = segment.length - 1; index >= 0; index--) {
    if (at === 0) return -1;
    at -= isPairBefore(text, at) ? 2 : 1;
    const wanted = segment[index]!;
    if (wanted !== anyCharacter && wanted !== folded(text.codePointAt(at)!)) return -1;
  }
  return at;
}

/** Whether the two units before `at` form one character. */
function isPairBefore(text: string, at: number): boolean {
  return at >= 2 && text.codePointAt(at - 2)! > 0xffff;
}
