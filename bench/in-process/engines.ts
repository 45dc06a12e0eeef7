/** Times what scoring adds to a batch beside folding: unpack, run, combine, pack; and all of it together. */
import { foldBatch } from "../../src/engines/fold-batch.js";
import { cornerHashes } from "../../src/engines/path-corners.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { turnHashes } from "../../src/engines/path-turns.js";
import { combine, runEngines } from "../../src/engines/score.js";
import { packedBytes, packedBytesMax, packFeatures, unpackFeatures } from "../../src/engines/session-features.js";
import { alone, chromeFacts, lastRequest } from "../../test/engines/sessions.js";
import { singleMoves, usualFeatures } from "./fold.js";
import { type TimedRow, timed } from "./timed.js";

const rounds = 20_000;

export function enginesBench(): TimedRow[] {
  const bytes = Buffer.alloc(packedBytesMax);
  const target = Buffer.alloc(packedBytesMax);
  const features = usualFeatures();
  const end = packFeatures(features, bytes, 0);
  return [
    timed(`pack ${packedBytes(features)} bytes`, rounds, () => packFeatures(features, target, 0)),
    timed("unpack", rounds, () => unpackFeatures(bytes, 0, end)),
    timed("run engines and combine", rounds, () => combine(runEngines(features, lastRequest))),
    timed("all of it, 10 single moves", rounds, () => {
      const loaded = unpackFeatures(bytes, 0, end)!;
      shingleHashes(loaded, singleMoves);
      turnHashes(loaded, singleMoves);
      cornerHashes(loaded, singleMoves);
      foldBatch(loaded, singleMoves, chromeFacts, alone);
      combine(runEngines(loaded, lastRequest));
      packFeatures(loaded, target, 0);
    }),
  ];
}
