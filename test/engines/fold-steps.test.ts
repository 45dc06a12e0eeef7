/** What the fold keeps of steps: swerves tell a path that noise was added to from one that a mass was moved along. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { PointRow } from "../../src/contract/events/events.js";
import { F } from "../../src/engines/session-features.js";
import { event, folded, startMs } from "./sessions.js";

/** Arcs of 40 points 16 ms apart, with half a second between them; `noise` px of independent error, places on a grid. */
function arcs(noise: number, grid = 1): PointRow[] {
  const random = seededRandom(7);
  const error = () => noise * (random() + random() + random() + random() - 2);
  const rows: PointRow[] = [];
  for (let index = 0; index < 240; index++) {
    const arc = Math.floor(index / 40);
    const angle = (index % 40) / 16 + arc;
    const t = index * 16 + arc * 500;
    const [x, y] = [800 + 220 * Math.cos(angle), 500 + 220 * Math.sin(angle)].map(
      (place) => grid * Math.round((place + error()) / grid),
    );
    rows.push([t, x!, y!]);
  }
  return rows;
}

function numbersOf(rows: readonly PointRow[]): number[] {
  return folded(rows.map(([at, x, y]) => event("mouse", { t: at, x, y }, startMs + at))).numbers;
}

t.test("a path with independent noise swerves to and fro, a smooth one does not swerve", async (t) => {
  const noisy = numbersOf(arcs(2.5));
  const smooth = numbersOf(arcs(0));
  t.ok(noisy[F.swerves]! >= 20, `${noisy[F.swerves]} of ${noisy[F.swerveChances]}`);
  t.ok(noisy[F.swervesBack]! / noisy[F.swerves]! >= 0.8);
  t.ok(smooth[F.swerveChances]! >= 150);
  t.equal(smooth[F.swerves], 0);
});

t.test("places on a grid of 2 px say nothing of swerves", async (t) => {
  const numbers = numbersOf(arcs(2.5, 2));
  t.ok(numbers[F.swerveChances]! >= 100);
  t.equal(numbers[F.swerves], 0);
});

t.test("slow steps are those under 3 px", async (t) => {
  const rows: PointRow[] = Array.from({ length: 60 }, (_, index) => [index * 16, 100 + index * 2, 300]);
  t.equal(numbersOf(rows)[F.slowSteps], 59);
  t.equal(numbersOf(arcs(0))[F.slowSteps], 0);
});

t.test("movements of one speed profile have one peak, uneven ones do not", async (t) => {
  const movement = (index: number, steps: number, pace: (part: number) => number): PointRow[] => {
    let x = 100;
    return Array.from({ length: steps }, (_, step) => {
      x += pace((step + 0.5) / steps);
      return [index * 2000 + step * 16, Math.round(x), 200 + 40 * index];
    });
  };
  const bell = (part: number) => 30 * part * part * (1 - part) * (1 - part) * 12;
  const alike = numbersOf([0, 1, 2, 3, 4, 5, 6].flatMap((index) => movement(index, 30 + index, bell)));
  const mean = alike[F.peakSum]! / 64 / alike[F.movements]!;
  const deviation = Math.sqrt(alike[F.peakSquares]! / 64 / alike[F.movements]! - mean * mean);
  t.equal(alike[F.movements], 6, "the last movement is under way");
  t.ok(Math.abs(mean - 1.875) < 0.15, `a minimum-jerk movement peaks at 15/8 of its mean speed: ${mean}`);
  t.ok(deviation / mean < 0.05);
  const hasty = (index: number) => (part: number) => (part < 0.05 + 0.04 * index ? 60 : 3);
  const uneven = numbersOf([0, 1, 2, 3, 4, 5, 6].flatMap((index) => movement(index, 30, hasty(index))));
  const unevenMean = uneven[F.peakSum]! / 64 / uneven[F.movements]!;
  t.ok(unevenMean > 3, `${unevenMean}`);
  t.ok(uneven[F.peakSquares]! / 64 / uneven[F.movements]! > unevenMean * unevenMean * 1.05);
});
