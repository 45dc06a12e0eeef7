/** Times what scoring adds to a batch: unpack, shingles, fold, run, combine, pack. Prints microseconds, asserts nothing. */
import { foldBatch } from "../src/engines/fold-batch.js";
import { shingleHashes } from "../src/engines/path-shingles.js";
import { combine, runEngines } from "../src/engines/score.js";
import {
  newFeatures,
  packedBytes,
  packedBytesMax,
  packFeatures,
  unpackFeatures,
} from "../src/engines/session-features.js";
import {
  alone,
  chromeEnvironment,
  chromeFacts,
  event,
  lastRequest,
  startMs,
  wobblyPath,
} from "../test/engines/sessions.js";

const rounds = 200_000;
const bytes = Buffer.alloc(packedBytesMax);
const target = Buffer.alloc(packedBytesMax);

function timed(label: string, task: () => void): void {
  for (let index = 0; index < rounds / 10; index++) task();
  const start = process.hrtime.bigint();
  for (let index = 0; index < rounds; index++) task();
  const microseconds = Number(process.hrtime.bigint() - start) / 1000 / rounds;
  console.log(`${label.padEnd(52)} ${microseconds.toFixed(2).padStart(8)} µs`);
}

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

console.log(`packed features: ${packedBytes(features)} bytes`);
timed("pack", () => packFeatures(features, target, 0));
timed("unpack", () => unpackFeatures(bytes, 0, end));
timed("shingles, 10 single moves", () => shingleHashes(features, singles));
timed("fold, 10 single moves", () => foldBatch(features, singles, chromeFacts, alone));
timed("shingles, 3 events of 60 points", () => shingleHashes(features, rows));
timed("fold, 3 events of 60 points", () => foldBatch(features, rows, chromeFacts, alone));
timed("run engines and combine", () => combine(runEngines(features, lastRequest)));
timed("all of it, 10 single moves", () => {
  const loaded = unpackFeatures(bytes, 0, end)!;
  shingleHashes(loaded, singles);
  foldBatch(loaded, singles, chromeFacts, alone);
  combine(runEngines(loaded, lastRequest));
  packFeatures(loaded, target, 0);
});
