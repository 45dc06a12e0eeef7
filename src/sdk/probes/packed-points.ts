/** Points of a path as a text, a quarter as long as their rows; `src/contract/packed-points.ts` says how, and reads it. Loses nothing. */
import type { ObservedFacts, Told } from "../recorder.js";

const firstCode = 0x23;
const backslash = 0x5c;
const base = 45;

const packedRowsMax = 512;

/** The payload with `packed_points` in place of its `points`; undefined where it has none, or the server does not understand them. */
export function packPoints({ points, ...payload }: ObservedFacts, told: Told): ObservedFacts | undefined {
  told.rows = told.times ? packedRowsMax : undefined;
  if (!points || !told.rows) return undefined;
  let text = "";
  const put = (digit: number) => {
    const code = firstCode + digit;
    text += String.fromCharCode(code < backslash ? code : code + 1);
  };
  const putDelta = (delta: number) => {
    let left = delta < 0 ? -2 * delta - 1 : 2 * delta;
    for (; left >= base; left = Math.floor(left / base)) put(base + (left % base));
    put(left);
  };
  const isWhole = points.every(([, x, y]) => !(x % 1) && !(y % 1));
  put(isWhole ? 0 : 1);
  let before: readonly number[] = [0, 0, 0];
  let paceBefore = 0;
  for (const row of points) {
    const now = row.map((value, at) => Math.round(value * (at ? (isWhole ? 1 : 100) : 10)));
    const [pace, across, down] = now.map((value, at) => value - before[at]!) as [number, number, number];
    for (const delta of [pace - paceBefore, across, down]) putDelta(delta);
    paceBefore = pace;
    before = now;
  }
  return { ...payload, packed_points: text };
}
