/**
 * `packed_points`: the rows of `points` as printable ASCII without quote and backslash, 3 to 4 characters a row instead of 14. The SDK writes it once an
 * answer has said that it is understood.
 *
 * A digit is a character: 0 is `#`, and so on up to 89, leaving out the backslash. A number is little-endian to the base 45: digits of 45 and more go on,
 * one below is the last. Signs are folded in: 0, -1, 1, -2 are 0, 1, 2, 3. The first number is 0 where places are whole pixels, or 1 where they are
 * hundredths. Each row has three: the difference of its step of time, in tenths of a ms, from the step before it; its way across; its way down.
 */
import type { EventPayload, PointRow } from "./events.js";

const firstCode = 0x23;
const backslash = 0x5c;
const base = 45;
/** 45^7: what no page reaches in tenths of a ms or hundredths of a pixel. */
const digitsMax = 7;
const rowsMax = 512;

/** Digit of each code; -1 for none. */
const digits = Int8Array.from({ length: 256 }, (_, code) => {
  const digit = code - firstCode - (code > backslash ? 1 : 0);
  return code === backslash || digit < 0 || digit >= 2 * base ? -1 : digit;
});

/** Reads rows from the codes of a text; one at a time. */
class PackedReader {
  #codes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;

  rows(codes: Uint8Array, from: number, end: number): PointRow[] | null {
    this.#codes = codes;
    this.#at = from;
    this.#end = end;
    const scale = this.#digits();
    if (scale !== 0 && scale !== 1) return null;
    const unit = scale === 0 ? 1 : 100;
    const rows: PointRow[] = [];
    let [t, pace, x, y] = [0, 0, 0, 0];
    while (this.#at < end) {
      pace += this.#delta();
      t += pace;
      x += this.#delta();
      y += this.#delta();
      if (Number.isNaN(t + x + y) || rows.length === rowsMax) return null;
      rows.push([t / 10, x / unit, y / unit]);
    }
    return rows;
  }

  #delta(): number {
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
  return reader.rows(codes, from, end);
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
