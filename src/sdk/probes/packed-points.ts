/**
 * Points of a path as a text, a sixth to a quarter as long as their rows; `src/contract/events/packed-points.ts` says how, and reads it. Loses nothing.
 */

import {
  base,
  firstCode,
  packedRowsMax,
  skippedCode,
  wayDigit,
  wayMost,
} from "../../contract/events/packed-alphabet.js";
import type { ObservedFacts, Told } from "../recorder.js";

const digit = (value: number) => {
  const code = firstCode + value;
  return String.fromCharCode(code < skippedCode ? code : code + 1);
};
const number = (value: number): string =>
  value < base ? digit(value) : digit(base + (value % base)) + number(Math.floor(value / base));
/** The text of a number with its sign. */
export const delta = (value: number): string => number(value < 0 ? -2 * value - 1 : 2 * value);

/** Texts in the form that not every server reads, by the payload that has the other one. */
export const shorter = new WeakMap<object, string>();

/** The payload with `packed_points` in place of its `points`; undefined where it has none, or the server does not understand them. */
export function packPoints({ points, ...payload }: ObservedFacts, told: Told): ObservedFacts | undefined {
  told.rows = told.times ? packedRowsMax : undefined;
  if (!points || !told.rows) return undefined;
  const isWhole = points.every(([, x, y]) => !(x % 1) && !(y % 1));
  let text = digit(isWhole ? 0 : 1);
  let short = digit(2);
  let isShort = isWhole;
  let [atBefore, xBefore, yBefore, paceBefore, acrossBefore, downBefore] = [0, 0, 0, 0, 0, 0];
  for (const row of points) {
    const [at, x, y] = row.map((value, index) => Math.round(value * (index ? (isWhole ? 1 : 100) : 10))) as [
      number,
      number,
      number,
    ];
    const pace = at - atBefore;
    const across = x - xBefore;
    const down = y - yBefore;
    text += delta(pace - paceBefore) + delta(across) + delta(down);
    const sideways = across - acrossBefore;
    const downwards = down - downBefore;
    isShort &&= pace >= 0 && !(pace % 10);
    short +=
      number(Math.max(0, pace / 10) | 0) +
      (Math.abs(sideways) > wayMost || Math.abs(downwards) > wayMost
        ? digit(wayDigit) + delta(across) + delta(down)
        : digit((sideways + wayMost) * (2 * wayMost + 1) + downwards + wayMost));
    [atBefore, xBefore, yBefore, paceBefore, acrossBefore, downBefore] = [at, x, y, pace, across, down];
  }
  const packed = { ...payload, packed_points: text };
  if (isShort) shorter.set(packed, short);
  return packed;
}
