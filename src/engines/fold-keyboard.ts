/** Folds typing rhythm into the features. Timings only: the typed text never reaches the service. */
import type { EventPayload, IngestEvent } from "../contract/events/events.js";
import { boundedCount, halve, sumsMax } from "./bounded-sums.js";
import { boundedMs, eventTimeMs, isCoarseMs } from "./event-time.js";
import { F } from "./session-features.js";

/** Longer pauses are for thinking and not part of the rhythm, ms. */
const flightMax = 2000;
const dwellMax = 2000;
const dwellShortMs = 8;
const flightShortMs = 15;
const flightInstantMs = 3;
/** Holds that a program asked for differ by its timer's error, ms. */
const equalMs = 1;
/** Times between presses, ms: above the first there is no rhythm; a pause as at the end of a word; the range in which pairs of keys are compared. */
const gapMax = 2000;
const pauseMin = 600;
const pairGapMax = 1000;
const pairDwellMax = 400;
/** Presses closer than this share of the mean are counted from this many presses on. */
const closeShare = 0.25;
const closeAfter = 20;

/** Folds a `key` event: one press (`dwell`, `flight`) or a run of them (`strokes`). */
export function foldKeys(n: number[], event: IngestEvent, nowMs: number): void {
  const { payload } = event;
  // Keys from a script are not the visitor's.
  if (payload.trusted === false) return;
  n[F.pastes]! += boundedCount(payload.pastes);
  // A report of pastes alone: a menu's, or a program's.
  if (payload.count === 0 && payload.pastes !== undefined && (payload.strokes?.length ?? 0) === 0) return;
  if (payload.strokes !== undefined && payload.strokes.length > 0) foldStrokes(n, event, payload.strokes, nowMs);
  else {
    n[F.keys]! += Math.max(1, Math.min(payload.count ?? 1, 1000));
    if (payload.dwell !== undefined) foldDwell(n, payload.dwell);
    if (payload.flight !== undefined && n[F.keys]! > 1) foldFlight(n, payload.flight);
    const pressMs = eventTimeMs(event, n[F.keyT]!, nowMs);
    if (payload.dwell !== undefined) foldPress(n, pressMs, payload.dwell);
    n[F.keyT] = pressMs;
  }
  if (n[F.dwells]! > sumsMax || n[F.flights]! > sumsMax) halve(n, keySums);
  if (n[F.pressGaps]! > sumsMax) halve(n, pressSums);
}

const keySums = [
  F.dwells,
  F.dwellSum,
  F.dwellSquares,
  F.dwellsShort,
  F.flights,
  F.flightSum,
  F.flightSquares,
  F.flightsShort,
  F.flightsInstant,
];

const pressSums = [
  F.pressGaps,
  F.pressPauses,
  F.pressOverlaps,
  F.keyPairs,
  F.pairsClose,
  F.pairGapSum,
  F.pairGapSquares,
  F.pairDwellSum,
  F.pairDwellSquares,
  F.pairGapProducts,
  F.pairDwellProducts,
];

function foldStrokes(
  n: number[],
  event: IngestEvent,
  strokes: NonNullable<EventPayload["strokes"]>,
  nowMs: number,
): void {
  const startMs = eventTimeMs(event, n[F.keyT]!, nowMs);
  let releaseMs = Number.NaN;
  foldKeyClock(n, strokes);
  for (const [offset, dwell] of strokes) {
    n[F.keys]! += 1;
    foldDwell(n, dwell);
    const pressMs = startMs + boundedMs(offset);
    foldPress(n, pressMs, dwell);
    const flight = pressMs - releaseMs;
    if (!Number.isNaN(flight)) foldFlight(n, flight);
    releaseMs = pressMs + boundedMs(Math.max(0, dwell));
  }
}

/**
 * Folds a key press after the one before it. For a hand, the time to the next press does not depend on how long a key is held. So the time between
 * release and press shrinks as the hold grows. A program that draws both times at random does not imitate that.
 */
function foldPress(n: number[], pressMs: number, dwell: number): void {
  const gap = pressMs - n[F.keyT]!;
  const held = n[F.keyDwell]!;
  n[F.keyT] = pressMs;
  n[F.keyDwell] = Math.max(0, Math.min(dwellMax, dwell));
  if (!(gap > 0 && gap < gapMax)) return;
  n[F.pressGaps]! += 1;
  if (gap > pauseMin) n[F.pressPauses]! += 1;
  if (gap < held) n[F.pressOverlaps]! += 1;
  if (gap >= pairGapMax || held >= pairDwellMax || dwell >= pairDwellMax || dwell < 0) return;
  const pairs = n[F.keyPairs]!;
  if (pairs >= closeAfter && gap < (closeShare * n[F.pairGapSum]!) / pairs) n[F.pairsClose]! += 1;
  n[F.keyPairs] = pairs + 1;
  n[F.pairGapSum]! += gap;
  n[F.pairGapSquares]! += gap * gap;
  n[F.pairDwellSum]! += held;
  n[F.pairDwellSquares]! += held * held;
  n[F.pairGapProducts]! += held * gap;
  n[F.pairDwellProducts]! += held * dwell;
}

/** The same clock as for a mouse: see `foldGrid`. */
function foldKeyClock(n: number[], strokes: NonNullable<EventPayload["strokes"]>): void {
  for (let index = 0; index < strokes.length; index++) {
    const [offset, dwell] = strokes[index]!;
    foldKeyTime(n, dwell);
    if (index > 0) foldKeyTime(n, offset - strokes[index - 1]![0]);
  }
}

function foldKeyTime(n: number[], ms: number): void {
  n[F.keyTimes]! += 1;
  if (isCoarseMs(ms)) n[F.keyTimesCoarse]! += 1;
}

function foldDwell(n: number[], dwell: number): void {
  if (dwell < 0) n[F.badDurations]! += 1;
  else if (dwell <= dwellMax) {
    n[F.dwells]! += 1;
    n[F.dwellSum]! += dwell;
    n[F.dwellSquares]! += dwell * dwell;
    foldEqualHold(n, dwell);
    if (dwell < dwellShortMs) n[F.dwellsShort]! += 1;
  }
}

/** Compares a hold with that of the press before, which `foldPress` has kept. */
function foldEqualHold(n: number[], dwell: number): void {
  n[F.holdRun] = n[F.dwells]! > 1 && Math.abs(dwell - n[F.keyDwell]!) <= equalMs ? n[F.holdRun]! + 1 : 0;
  n[F.holdRunMax] = Math.max(n[F.holdRunMax]!, n[F.holdRun]!);
}

/** A flight is negative when the next key goes down before the last came up. */
function foldFlight(n: number[], flight: number): void {
  if (Math.abs(flight) > flightMax) return;
  n[F.flights]! += 1;
  n[F.flightSum]! += flight;
  n[F.flightSquares]! += flight * flight;
  if (Math.abs(flight) < flightShortMs) n[F.flightsShort]! += 1;
  if (flight > -1 && flight < flightInstantMs) n[F.flightsInstant]! += 1;
}
