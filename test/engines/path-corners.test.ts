/** Corners of a path: known again moved, turned, scaled, thinned out and with noise; not known of another's. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { PointRow } from "../../src/contract/events/events.js";
import { cornerHashes, cornerHashesPerBatchMax, foldCornerOwners } from "../../src/engines/path-corners.js";
import { F, newFeatures } from "../../src/engines/session-features.js";
import { event } from "./sessions.js";

/** Movements from target to target along arcs, as of a hand at work. */
function handPath(seed: number, targets = 40): PointRow[] {
  const random = seededRandom(seed);
  const rows: PointRow[] = [];
  let [t, x, y] = [0, 500, 400];
  for (let target = 0; target < targets; target++) {
    const [toX, toY] = [60 + 1100 * random(), 60 + 700 * random()];
    const steps = 8 + Math.floor(20 * random());
    const bow = 0.3 * (random() - 0.5);
    for (let step = 1; step <= steps; step++) {
      const share = (1 - Math.cos((Math.PI * step) / steps)) / 2;
      const aside = bow * Math.sin(Math.PI * share);
      t += 16;
      rows.push([t, x + share * (toX - x) - aside * (toY - y), y + share * (toY - y) + aside * (toX - x)]);
    }
    [x, y, t] = [toX, toY, t + 200];
  }
  return rows;
}

function hashesOf(rows: readonly PointRow[], batchRows = 100): number[] {
  const features = newFeatures();
  const found: number[] = [];
  for (let from = 0; from < rows.length; from += batchRows) {
    const points = rows.slice(from, from + batchRows).map(([t, x, y]): PointRow => [t, Math.round(x), Math.round(y)]);
    found.push(...cornerHashes(features, [event("mouse", { t: 1, points })]));
  }
  if (features.numbers[F.cornerHashes] !== found.length) throw new Error("hashes were counted wrong");
  return found;
}

/** Share of the hashes of `rows` that the path of `seed` has. */
function known(rows: readonly PointRow[], seed = 1): number {
  const of = new Set(hashesOf(handPath(seed)));
  const hashes = hashesOf(rows);
  return hashes.filter((each) => of.has(each)).length / hashes.length;
}

const path = handPath(1);
const noise = seededRandom(9);
const manners: Record<string, (row: PointRow) => PointRow> = {
  moved: ([t, x, y]) => [t, x + 171, y - 33],
  turned: ([t, x, y]) => [t, 0.85 * x - 0.53 * y, 0.53 * x + 0.85 * y],
  "made smaller, and faster": ([t, x, y]) => [0.6 * t, 0.75 * x, 0.75 * y],
  "made larger, and slower": ([t, x, y]) => [1.7 * t, 1.3 * x, 1.3 * y],
  "given noise": ([t, x, y]) => [t, x + 4 * (noise() - 0.5), y + 4 * (noise() - 0.5)],
};

t.test("a path is known again", async (t) => {
  t.ok(hashesOf(path).length >= 20);
  for (const [manner, change] of Object.entries(manners)) {
    const share = known(path.map(change));
    t.ok(share >= 0.4, `${manner}: ${share}`);
  }
  const thinned = known(path.filter((_, index) => index % 2 === 0));
  t.ok(thinned >= 0.3, `every other point: ${thinned}`);
});

t.test("another path is not", async (t) => {
  for (let seed = 2; seed < 30; seed++) t.ok(known(path, seed) < 0.05, `seed ${seed}`);
});

t.test("it does not matter where batches are cut, nor are there more hashes than the bound", async (t) => {
  t.same(hashesOf(path, 7), hashesOf(path, 100));
  const wild = Array.from({ length: 4000 }, (_, index): PointRow => [index, 900 * noise(), 900 * noise()]);
  t.equal(cornerHashes(newFeatures(), [event("mouse", { t: 1, points: wild })]).length, cornerHashesPerBatchMax);
});

t.test("what everybody draws has no hashes: lines to and fro, circles, a pointer at rest", async (t) => {
  const rows = Array.from({ length: 600 }, (_, index) => index);
  t.same(hashesOf(rows.map((index): PointRow => [16 * index, 500 + 300 * Math.cos(index / 20), 300])), []);
  t.same(hashesOf(rows.map((i): PointRow => [16 * i, 500 + 200 * Math.cos(i / 20), 400 + 200 * Math.sin(i / 20)])), []);
  t.same(hashesOf(rows.map((index): PointRow => [16 * index, 500 + (index % 3), 300])), []);
});

t.test("one original leads, chance does not", async (t) => {
  const copy = newFeatures();
  foldCornerOwners(copy, [7, 7, 3, 7, 7, 7, 9]);
  t.equal(copy.numbers[F.cornerLeadMax], 4);
  t.equal(copy.numbers[F.cornerOwner], 7);
  const stranger = newFeatures();
  for (let session = 1; session < 300; session++) foldCornerOwners(stranger, [session]);
  t.equal(stranger.numbers[F.cornerLeadMax], 1);
});
