/**
 * The `wildcard` operator: `*` any run of characters (also none), `?` exactly one, everything else itself; ASCII letters match in either
 * case. No regular expression is built. There is no escape: a literal `*` or `?` can't be asked for here (`contains` can).
 */

const star = 0x2a;
const question = 0x3f;

/** Code points with ASCII capitals made small, so that a character is one element whatever its encoding. */
function foldedCodePoints(text: string): number[] {
  const points: number[] = [];
  for (const character of text) points.push(foldedCase(character.codePointAt(0)!));
  return points;
}

function foldedCase(point: number): number {
  return point >= 0x41 && point <= 0x5a ? point + 0x20 : point;
}

/** Runs of stars say no more than one, and cost more. */
function withoutStarRuns(points: readonly number[]): number[] {
  return points.filter((point, index) => point !== star || points[index - 1] !== star);
}

/**
 * A matcher for one pattern. Cost: at most text × pattern steps, in practice about the text's length, for on a mismatch only the latest star is
 * asked again; a text shorter than the pattern's plain characters is refused at once, which bounds a long pattern by the text.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const points = withoutStarRuns(foldedCodePoints(pattern));
  const plain = points.reduce((count, point) => count + (point === star ? 0 : 1), 0);
  return (text) => text.length >= plain && matchGlob(points, text);
}

function matchGlob(pattern: readonly number[], text: string): boolean {
  let at = 0;
  let patternAt = 0;
  let starAt = -1;
  let retryAt = 0;
  while (at < text.length) {
    const point = text.codePointAt(at)!;
    const wanted = patternAt < pattern.length ? pattern[patternAt]! : -1;
    if (wanted === star) {
      starAt = patternAt++;
      if (patternAt === pattern.length) return true;
      retryAt = at;
    } else if (wanted === question || wanted === foldedCase(point)) {
      patternAt++;
      at += width(point);
    } else if (starAt >= 0) {
      retryAt += width(text.codePointAt(retryAt)!);
      at = retryAt;
      patternAt = starAt + 1;
    } else return false;
  }
  return patternAt === pattern.length || (patternAt === pattern.length - 1 && pattern[patternAt] === star);
}

/** UTF-16 units of a code point. */
function width(point: number): number {
  return point > 0xffff ? 2 : 1;
}
