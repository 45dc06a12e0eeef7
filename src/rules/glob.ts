/**
 * The `wildcard` operator: `*` any run of characters (also none), `?` exactly one, everything else itself; ASCII letters match in either
 * case. No regular expression is built. There is no escape: a literal `*` or `?` can't be asked for here (`contains` can).
 */

const star = 0x2a;
const question = 0x3f;

/** ASCII capitals made small; other code units as they are. */
function folded(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
}

/** UTF-16 units of the character at `at`: a surrogate pair is one character. */
function widthAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1;
}

/** The pattern's code units, folded. Runs of stars say no more than one, and cost more. */
function patternUnits(pattern: string): Uint16Array {
  const single = pattern.replace(/\*+/g, "*");
  return Uint16Array.from({ length: single.length }, (_, index) => folded(single.charCodeAt(index)));
}

/**
 * A matcher for one pattern. Cost: at most text × pattern steps, in practice about the text's length, for on a mismatch only the latest star is
 * asked again; a text shorter than what the pattern needs is refused at once, which bounds a long pattern by the text.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const units = patternUnits(pattern);
  const needed = units.filter((unit) => unit !== star).length;
  return (text) => text.length >= needed && matchGlob(units, text);
}

/**
 * From `from` on, the first place where a match of what follows a star could begin, or -1. Inside a surrogate pair only `?` can begin, and
 * it could as well have taken the whole pair, so no answer depends on it.
 */
function nextStart(wanted: number, text: string, from: number): number {
  if (wanted === question) return from < text.length ? from : -1;
  for (let at = from; at < text.length; at++) if (folded(text.charCodeAt(at)) === wanted) return at;
  return -1;
}

function matchGlob(pattern: Uint16Array, text: string): boolean {
  let at = 0;
  let patternAt = 0;
  /** Place in the pattern after the latest star, and where in the text its rest was last tried; -1 before any star. */
  let afterStar = -1;
  let tried = 0;
  for (;;) {
    if (patternAt < pattern.length && pattern[patternAt] === star) {
      afterStar = ++patternAt;
      if (afterStar === pattern.length) return true;
      tried = nextStart(pattern[afterStar]!, text, at);
    } else if (patternAt < pattern.length && at < text.length && pattern[patternAt] === question) {
      at += widthAt(text, at);
      patternAt++;
      continue;
    } else if (patternAt < pattern.length && at < text.length && pattern[patternAt] === folded(text.charCodeAt(at))) {
      at++;
      patternAt++;
      continue;
    } else if (patternAt === pattern.length && at === text.length) {
      return true;
    } else {
      // A mismatch with no text left can't be mended by a longer run.
      if (afterStar < 0 || (at === text.length && patternAt < pattern.length)) return false;
      tried = nextStart(pattern[afterStar]!, text, tried + 1);
    }
    if (tried < 0) return false;
    at = tried;
    patternAt = afterStar;
  }
}
