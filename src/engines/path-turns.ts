/**
 * Turns of a pointer path: the points at which it reverses along an axis. They stay the same at any speed of replay and however the browser thins the
 * path out. So hashes over four turns identify a path when hashes over single steps (path-shingles.ts) do not. The store keeps both per project;
 * matches come back in `CrossSessionCounts.replayedTurns`.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { mix } from "../contract/values/hashes.js";
import { packStep } from "./path-shingles.js";
import { F, type SessionFeatures } from "./session-features.js";

/** Least size of a reversal, px: a smaller one is the tremor of a hand. */
const reversalMin = 6;
/** Cell sizes of the ways between turns, px: along the axis that reverses, and across it, where a turn is less sharp. */
const alongCell = 6;
const acrossCell = 16;
/** The same ways are hashed in two grids half a cell apart: a value on a border of one is inside a cell of the other. */
const gridShifts = [0, 0.5] as const;
/** Three ways between four turns must add up to this much along the axis, px: wriggling in place looks alike for everybody. */
const reachMin = 60;
/** Hashes returned for one batch at most. */
const turnHashesPerBatchMax = 64;

/** Position of an axis's state in the features. */
interface AxisFields {
  readonly way: number;
  readonly edge: number;
  readonly held: number;
  readonly turns: readonly [number, number, number];
}

const fieldsX: AxisFields = {
  way: F.turnXWay,
  edge: F.turnXEdge,
  held: F.turnXHeld,
  turns: [F.turnX0, F.turnX1, F.turnX2],
};
const fieldsY: AxisFields = {
  way: F.turnYWay,
  edge: F.turnYEdge,
  held: F.turnYHeld,
  turns: [F.turnY0, F.turnY1, F.turnY2],
};

const columnOf = (packed: number) => packed >> 16;
const lineOf = (packed: number) => (packed << 16) >> 16;

/** Follows one axis; `u` runs along it, `v` across. Positions are packed like steps: 16 bits each. */
class TurnFinder {
  private readonly n: number[];
  private readonly fields: AxisFields;
  private readonly seed: number;
  /** The furthest point on the current way. */
  private u: number;
  private v: number;

  constructor(n: number[], fields: AxisFields, seed: number) {
    this.n = n;
    this.fields = fields;
    this.seed = seed;
    this.u = columnOf(n[fields.edge]!);
    this.v = lineOf(n[fields.edge]!);
  }

  carry(): void {
    this.n[this.fields.edge] = packStep(this.u, this.v);
  }

  /** 0: no point yet, 1: no way yet, 2: on the way down, 3: on the way up. */
  visit(u: number, v: number, hashes: number[]): void {
    const { way } = this.fields;
    const heading = this.n[way]!;
    const gone = u - this.u;
    if (heading === 0) this.n[way] = 1;
    else if (heading === 1) {
      if (Math.abs(gone) < reversalMin) return;
      this.n[way] = gone > 0 ? 3 : 2;
    } else {
      const forward = heading === 3 ? gone : -gone;
      if (forward <= 0 && forward > -reversalMin) return;
      if (forward < 0) {
        this.turn(hashes);
        this.n[way] = heading === 3 ? 2 : 3;
      }
    }
    this.u = u;
    this.v = v;
  }

  private turn(hashes: number[]): void {
    const { n, fields } = this;
    const [first, second, third] = fields.turns;
    const held = n[fields.held]!;
    const here = packStep(this.u, this.v);
    if (held >= 3) this.hash([n[first]!, n[second]!, n[third]!, here], hashes);
    n[first] = n[second]!;
    n[second] = n[third]!;
    n[third] = here;
    n[fields.held] = Math.min(3, held + 1);
  }

  private hash(turns: readonly number[], hashes: number[]): void {
    let reach = 0;
    for (let index = 1; index < 4; index++) reach += Math.abs(columnOf(turns[index]!) - columnOf(turns[index - 1]!));
    if (reach < reachMin || hashes.length + gridShifts.length > turnHashesPerBatchMax) return;
    for (const shift of gridShifts) {
      let hash = (this.seed + shift * 4) | 0;
      for (let index = 1; index < 4; index++) {
        const along = columnOf(turns[index]!) - columnOf(turns[index - 1]!);
        const across = lineOf(turns[index]!) - lineOf(turns[index - 1]!);
        hash = mix(hash, Math.floor(along / alongCell + shift));
        hash = mix(hash, Math.floor(across / acrossCell + shift));
      }
      hashes.push(hash >>> 0);
    }
  }
}

const seedX = 0x51ed270b;
const seedY = 0x2545f491;

/**
 * Returns hashes of turns (32 bit, at most 64) of the mouse moves in a batch that will be folded into `features`, and stores their number and the
 * state of the path there. Call it once per batch, without events that were seen before. Cost: about 10 ns a point.
 */
export function turnHashes(features: SessionFeatures, events: readonly IngestEvent[]): number[] {
  const hashes: number[] = [];
  const alongX = new TurnFinder(features.numbers, fieldsX, seedX);
  const alongY = new TurnFinder(features.numbers, fieldsY, seedY);
  const visit = (x: number, y: number) => {
    const column = Math.max(-32768, Math.min(32767, Math.round(x)));
    const line = Math.max(-32768, Math.min(32767, Math.round(y)));
    alongX.visit(column, line, hashes);
    alongY.visit(line, column, hashes);
  };
  for (const { type, payload } of events) {
    if (type !== "mouse" || payload.pointer_type === "touch") continue;
    if (payload.points !== undefined) for (const row of payload.points) visit(row[1], row[2]);
    else if (payload.x !== undefined && payload.y !== undefined) visit(payload.x, payload.y);
  }
  alongX.carry();
  alongY.carry();
  features.numbers[F.turnHashes]! += hashes.length;
  return hashes;
}
