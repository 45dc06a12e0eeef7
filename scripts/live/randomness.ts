/** Seeded randomness, so that a run can be repeated: targets, pauses and curves of the live measurement, and what tests make up. */

/** A source of randomness: numbers from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** mulberry32; 32 bits of state. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A number from `from` to `to`. */
export function between(random: Random, from: number, to: number): number {
  return from + (to - from) * random();
}

/** A whole number from `from` to `to`, both included. */
export function integerBetween(random: Random, from: number, to: number): number {
  return Math.floor(between(random, from, to + 1));
}

/** About normal: the sum of six uniform numbers, mean 0, deviation 1. */
export function roughlyNormal(random: Random): number {
  let sum = 0;
  for (let index = 0; index < 6; index++) sum += random();
  return (sum - 3) * Math.SQRT2;
}
