/** Times what a batch adds to a session's features: hashes of its paths, and folding. */
import { foldBatch } from "../../src/engines/fold-batch.js";
import { cornerHashes } from "../../src/engines/path-corners.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { turnHashes } from "../../src/engines/path-turns.js";
import { newFeatures, type SessionFeatures } from "../../src/engines/session-features.js";
import { alone, chromeEnvironment, chromeFacts, event, startMs, wobblyPath } from "../../test/engines/sessions.js";
import { type TimedRow, timed } from "./timed.js";

const rounds = 20_000;
const path = wobblyPath(200);

/** Ten events of a point each, as a client without the SDK's rows sends them. */
export const singleMoves = path.slice(0, 10).map(([t, x, y]) => event("mouse", { t, x, y }, startMs + t));

const rowsOfPoints = [0, 1, 2].map((index) => {
  const part = path.slice(index * 60, index * 60 + 60);
  return event("mouse", { t: part[0]![0], points: part.map(([t, x, y]) => [t - part[0]![0], x, y]) });
});

/** Features of a session that has been going on for a while. */
export function usualFeatures(): SessionFeatures {
  const features = newFeatures();
  foldBatch(features, [event("page", { path: "/" }), event("env", chromeEnvironment)], chromeFacts, alone);
  for (let index = 0; index < 20; index++) foldBatch(features, rowsOfPoints, chromeFacts, alone);
  return features;
}

export function foldBench(): TimedRow[] {
  const features = usualFeatures();
  return (
    [
      ["10 single moves", singleMoves],
      ["3 events of 60 points", rowsOfPoints],
    ] as const
  ).flatMap(([what, events]) => [
    timed(`shingles, ${what}`, rounds, () => shingleHashes(features, events)),
    timed(`turns, ${what}`, rounds, () => turnHashes(features, events)),
    timed(`corners, ${what}`, rounds, () => cornerHashes(features, events)),
    timed(`fold, ${what}`, rounds, () => foldBatch(features, events, chromeFacts, alone)),
  ]);
}
