/** Rises of speed: a formula grows the speed alike in every movement, whatever else an author adds; hands, sticks and number pads do not. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { ownDrivers } from "../../scripts/own-drivers.js";
import { ShingleIndex, scoreTrace } from "../../scripts/quality.js";
import type { PointRow } from "../../src/contract/events/events.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { F } from "../../src/engines/session-features.js";
import { event, folded, lastRequest, startMs } from "./sessions.js";

const oneRiseOfSpeed = 300143;
const seeds = [91, 92, 93, 94, 95];

/** Sixty movements of `steps` steps 16 ms apart and half a second between them: `pace` gives the steps of each, px. */
function movements(steps: number, pace: (movement: number, step: number) => readonly [number, number]): PointRow[] {
  const rows: PointRow[] = [];
  let [t, x, y] = [0, 400, 300];
  for (let movement = 0; movement < 60; movement++) {
    const way = movement % 2 === 0 ? 1 : -1;
    for (let step = 0; step < steps; step++) {
      const [dx, dy] = pace(movement, step);
      rows.push([t, Math.round(x), Math.round(y)]);
      [t, x, y] = [t + 16, x + way * dx, y + way * dy];
    }
    t += 500;
  }
  return rows;
}

const events = (rows: readonly PointRow[]) => rows.map(([at, x, y]) => event("mouse", { t: at, x, y }, startMs + at));
const evidence = (rows: readonly PointRow[]) => evidenceOf(folded(events(rows)), lastRequest);

const bell = (share: number) => 30 * share * share * (1 - share) * (1 - share);

t.test(
  "a minute of a formula is recognised, with tremor, corrections and overlaps, as the operating system delivers it",
  async (t) => {
    const minimumJerk = ownDrivers.filter(({ name }) => !/spring|any profile|busy/.test(name));
    t.equal(minimumJerk.length, 7);
    for (const { name, trace } of minimumJerk) {
      const outcomes = seeds.map((seed) => scoreTrace(trace(seed), "system", new ShingleIndex()));
      const named = outcomes.filter(({ detectionIds }) => detectionIds.includes(oneRiseOfSpeed));
      t.ok(named.length >= 4, `${name}: ${named.length} of ${seeds.length}`);
      for (const { score } of named) t.ok(score > 15, "alone it is likely automated at most");
    }
  },
);

t.test("the rise of a minimum-jerk movement has the skewness of its formula, however far it goes", async (t) => {
  const { rises, riseSkewness, riseSpread } = evidence(
    movements(30, (movement, step) => {
      const reach = 6 + 2 * (movement % 9);
      return [reach * bell((step + 0.5) / 30), 0.4 * reach * bell((step + 0.5) / 30)];
    }),
  );
  t.ok(rises! >= 50, `${rises}`);
  t.ok(Math.abs(riseSkewness! + 0.5) < 0.08, `${riseSkewness}`);
  t.ok(riseSpread! < 0.06, `${riseSpread}`);
});

t.test("speeds that grow now early, now late, have a wide spread", async (t) => {
  const random = seededRandom(3);
  const warps = Array.from({ length: 60 }, () => Math.exp(2.4 * (random() - 0.5)));
  const { riseSpread } = evidence(
    movements(30, (movement, step) => {
      const reach = 14 * bell(((step + 0.5) / 30) ** warps[movement]!);
      return [reach, 0.4 * reach];
    }),
  );
  t.ok(riseSpread! > 0.2, `${riseSpread}`);
});

t.test("a stick rises evenly, and a smoothed pointer at once", async (t) => {
  const random = seededRandom(5);
  const tilts = Array.from({ length: 60 }, () => [6 + 6 * random(), 2 + 4 * random()] as const);
  const stick = evidence(movements(40, (movement) => tilts[movement]!));
  t.ok(stick.rises! >= 16, `${stick.rises}`);
  t.ok(stick.riseSkewness! > -0.3, `${stick.riseSkewness}`);
  const smoothed = evidence(
    movements(30, (movement, step) => {
      const reach = (4 + (movement % 7)) * (step + 1) * Math.exp(-0.25 * (step + 1));
      return [3 * reach, 1.2 * reach];
    }),
  );
  t.ok(smoothed.rises! >= 16, `${smoothed.rises}`);
  t.ok(smoothed.riseSkewness! > -0.38, `${smoothed.riseSkewness}`);
});

t.test("a number pad gathers speed as it is made to, along axes and diagonals: no rise of a hand", async (t) => {
  const pad = movements(30, (movement, step) => {
    const pace = Math.min(12, 1 + step);
    return movement % 3 === 0 ? [pace, 0] : movement % 3 === 1 ? [0, pace] : [pace, pace];
  });
  t.equal(evidence(pad).rises, 0);
});

t.test("sums are the same in one batch and in many, and stay bounded", async (t) => {
  const rows = movements(20, (movement, step) => [20 * bell((step + 0.5) / 20), 3 + (movement % 5)]);
  const one = folded(events(rows), { batchSize: rows.length }).numbers;
  const many = folded(events(rows), { batchSize: 7 }).numbers;
  for (const field of [F.rises, F.riseSkewnessSum, F.riseSkewnessSquares, F.reachLength])
    t.equal(one[field], many[field]);
  const long = Array.from({ length: 40 }, (_, part) =>
    rows.map(([at, x, y]): PointRow => [at + part * 60_000, x, y]),
  ).flat();
  const { [F.rises]: rises, [F.riseSkewnessSum]: sum } = folded(events(long)).numbers;
  t.ok(rises! > 500 && rises! <= 1024, `${rises}`);
  t.ok(Math.abs(sum! / rises! - one[F.riseSkewnessSum]! / one[F.rises]!) < 0.02);
});
