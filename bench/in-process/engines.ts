/** Times what scoring adds to a batch: unpack, shingles, fold, run, combine, pack.  */
import { foldBatch } from "../../src/engines/fold-batch.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { turnHashes } from "../../src/engines/path-turns.js";
import { combine, runEngines } from "../../src/engines/score.js";
import {
  newFeatures,
  packedBytes,
  packedBytesMax,
  packFeatures,
  unpackFeatures,
} from "../../src/engines/session-features.js";
import {
  alone,
  chromeEnvironment,
  chromeFacts,
  event,
  lastRequest,
  startMs,
  wobblyPath,
} from "../../test/engines/sessions.js";
import { type TimedRow, timed } from "./timed.js";

const rounds = 20_000;

export function enginesBench(): TimedRow[] {
  const bytes = Buffer.alloc(packedBytesMax);
  const target = Buffer.alloc(packedBytesMax);
  const features = newFeatures();
  const path = wobblyPath(200);
  const singles = path.slice(0, 10).map(([t, x, y]) => event("mouse", { t, x, y }, startMs + t));
  const rows = [0, 1, 2].map((index) => {
    const part = path.slice(index * 60, index * 60 + 60);
    return event("mouse", { t: part[0]![0], points: part.map(([t, x, y]) => [t - part[0]![0], x, y]) });
  });
  foldBatch(features, [event("page", { path: "/" }), event("env", chromeEnvironment)], chromeFacts, alone);
  for (let index = 0; index < 20; index++) foldBatch(features, rows, chromeFacts, alone);
  const end = packFeatures(features, bytes, 0);

  return [
    timed(`pack ${packedBytes(features)} bytes`, rounds, () => packFeatures(features, target, 0)),
    timed("unpack", rounds, () => unpackFeatures(bytes, 0, end)),
    timed("shingles, 10 single moves", rounds, () => shingleHashes(features, singles)),
    timed("turns, 10 single moves", rounds, () => turnHashes(features, singles)),
    timed("fold, 10 single moves", rounds, () => foldBatch(features, singles, chromeFacts, alone)),
    timed("shingles, 3 events of 60 points", rounds, () => shingleHashes(features, rows)),
    timed("turns, 3 events of 60 points", rounds, () => turnHashes(features, rows)),
    timed("fold, 3 events of 60 points", rounds, () => foldBatch(features, rows, chromeFacts, alone)),
    timed("run engines and combine", rounds, () => combine(runEngines(features, lastRequest))),
    timed("all of it, 10 single moves", rounds, () => {
      const loaded = unpackFeatures(bytes, 0, end)!;
      shingleHashes(loaded, singles);
      turnHashes(loaded, singles);
      foldBatch(loaded, singles, chromeFacts, alone);
      combine(runEngines(loaded, lastRequest));
      packFeatures(loaded, target, 0);
    }),
  ];
}
