/**
 * `packed_points`: the rows of `points` as printable ASCII without quote and backslash, 3 to 4 characters a row instead of 14. The SDK writes it once an
 * answer has said that it is understood.
 *
 * A digit is a character: 0 is `#`, and so on up to 89, leaving out the backslash. A number is little-endian to the base 45: digits of 45 and more go on,
 * one below is the last. Signs are folded in: 0, -1, 1, -2 are 0, 1, 2, 3. The first number is 0 where places are whole pixels, or 1 where they are
 * hundredths. Each row has three: the difference of its step of time, in tenths of a ms, from the step before it; its way across; its way down.
 *
 * A first number of 2 is the form for whole pixels and whole ms, in 2 to 3 characters a row: the step of time in ms, without a sign, then one digit: 9 times
 * how its way across differs from that of the row before, plus the same of its way down, each plus 4 where both differ by 4 at most; else 81, and its two
 * ways follow as numbers.
 */
import { doubleRow } from "./double-row.js";
import type { EventPayload, PointRow } from "./events.js";
import { base, firstCode, packedRowsMax, skippedCode, wayDigit, wayMost } from "./packed-alphabet.js";

/** 45^7: what no page reaches in tenths of a ms or hundredths of a pixel. */
const digitsMax = 7;

/** Digit of each code; -1 for none. */
const digits = Int8Array.from({ length: 256 }, (_, code) => {
  const digit = code - firstCode - (code > skippedCode ? 1 : 0);
  return code === skippedCode || digit < 0 || digit >= 2 * base ? -1 : digit;
});

/** Reads numbers and rows from the codes of a text; one text at a time. */
class PackedReader {
  #codes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;

  open(codes: Uint8Array, from: number, end: number): void {
    this.#codes = codes;
    this.#at = from;
    this.#end = end;
  }

  get isOver(): boolean {
    return this.#at >= this.#end;
  }

  rows(): PointRow[] | null {
    const scale = this.#digits();
    if (scale === 2) return this.#wholeRows();
    if (scale !== 0 && scale !== 1) return null;
    const unit = scale === 0 ? 1 : 100;
    const rows: PointRow[] = [];
    let [t, pace, x, y] = [0, 0, 0, 0];
    while (!this.isOver) {
      pace += this.delta();
      t += pace;
      x += this.delta();
      y += this.delta();
      if (Number.isNaN(t + x + y) || rows.length === packedRowsMax) return null;
      rows.push(doubleRow(t / 10, x / unit, y / unit));
    }
    return rows;
  }

  #wholeRows(): PointRow[] | null {
    const rows: PointRow[] = [];
    let [t, x, y, across, down] = [0, 0, 0, 0, 0];
    while (!this.isOver) {
      t += this.#digits();
      const way = digits[this.#codes[this.#at++]!] ?? -1;
      if (way === wayDigit) {
        across = this.delta();
        down = this.delta();
      } else {
        const side = 2 * wayMost + 1;
        across += Math.floor(way / side) - wayMost;
        down += (way % side) - wayMost;
      }
      x += across;
      y += down;
      if (way < 0 || way > wayDigit || Number.isNaN(t + x + y) || rows.length === packedRowsMax) return null;
      rows.push(doubleRow(t, x, y));
    }
    return rows;
  }

  /** A number with a sign; NaN for none. */
  delta(): number {
    const folded = this.#digits();
    return folded % 2 === 1 ? -(folded + 1) / 2 : folded / 2;
  }

  /** NaN for none. */
  #digits(): number {
    let value = 0;
    for (let place = 1, count = 0; count < digitsMax && this.#at < this.#end; count++, place *= base) {
      const digit = digits[this.#codes[this.#at++]!]!;
      if (digit < 0) return Number.NaN;
      if (digit < base) return value + digit * place;
      value += (digit - base) * place;
    }
    return Number.NaN;
  }
}

const reader = new PackedReader();

/** Returns the rows of a packed text that are the bytes from `from` to `end`; null for a text that is none, or has more rows than an event may. */
export function unpackPoints(codes: Uint8Array, from: number, end: number): PointRow[] | null {
  reader.open(codes, from, end);
  return reader.rows();
}

/** The numbers of a text, each with its sign; null for a text that is none. */
export function unpackNumbers(text: string): number[] | null {
  const codes = Buffer.from(text, "latin1");
  reader.open(codes, 0, codes.length);
  const numbers: number[] = [];
  while (!reader.isOver) numbers.push(reader.delta());
  return numbers.some(Number.isNaN) ? null : numbers;
}

/** The same of a text by itself. */
export function unpackText(text: string): PointRow[] | null {
  const codes = Buffer.from(text, "utf8");
  return unpackPoints(codes, 0, codes.length);
}

/** The rows of a payload that was accepted, however they came. */
export function pointsOf({
  points = [],
  packed_points: packed,
}: Pick<EventPayload, "points" | "packed_points">): readonly PointRow[] {
  return packed === undefined ? points : (unpackText(packed) ?? []);
}
