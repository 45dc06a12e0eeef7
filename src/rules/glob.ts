/**
 * The `wildcard` operator: `*` any run of characters (also none), `?` exactly one, everything else itself; ASCII letters match in either
 * case. No regular expression is built. There is no escape: a literal `*` or `?` can't be asked for here (`contains` can).
 */
import { anyCharacter, folded, literalSearch, maskSearch, maskWords, type Search } from "./text-search.js";

/** Characters of a pattern between two stars, folded. */
type Segment = Int32Array;

/** A compiled pattern. What it costs is known before it is used, for the rules' budget. */
export interface Glob {
  readonly matches: (text: string) => boolean;
  /** Steps for each UTF-16 unit of a text, at most. */
  readonly stepsPerUnit: number;
}

/**
 * The matcher of one pattern. The segment before the first star must begin the text and the one behind the last star must end it; those between
 * are looked for one after another, each as far to the front as it can be, which leaves the most to the others. So each unit of the
 * text is read once by a search and at most once more at its ends. A text shorter than what the pattern needs is refused at once.
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
  return Int32Array.from([...text], (character) =>
    character === "?" ? anyCharacter : folded(character.codePointAt(0)!),
  );
}

/** UTF-16 units that a segment takes at least. */
function unitsOf(segment: Segment): number {
  return segment.reduce((sum, character) => sum + (character > 0xffff ? 2 : 1), 0);
}

function searchFor(segment: Segment): Search {
  if (segment.includes(anyCharacter)) return maskSearch(segment);
  const text = Array.from(segment, (character) => String.fromCodePoint(character)).join("");
  return literalSearch(Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index)));
}

/** Where the segment ends that begins the text, or -1. */
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

/** Where the segment begins that ends the text, or -1. */
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

/** Whether the two units before `at` are one character. */
function isPairBefore(text: string, at: number): boolean {
  return at >= 2 && text.codePointAt(at - 2)! > 0xffff;
}
