/**
 * Corners of a pointer path: from each corner the furthest point, where the path comes back. The turns and relative lengths of the ways between
 * corners stay the same when a recording is shifted, turned, scaled, played at another pace or given a little noise. Hashes over steps and positions
 * (path-shingles.ts, path-turns.ts) change then. The store keeps all of them per project; `foldCornerOwners` gets the sessions that showed the same.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { mix } from "../contract/values/hashes.js";
import { packStep } from "./path-shingles.js";
import { F, type SessionFeatures } from "./session-features.js";

/** A path has come back when it is this far from its furthest point: a share of the way there, and at least a hand's tremor, px. */
const backShare = 0.1;
const backMin = 6;
/** Cell sizes of the turn from one way to the next, and of the binary logarithm of the ratio of their lengths. */
const turnCells = 24;
const ratioCell = 0.35;
/** Both are hashed in two grids half a cell apart: a value on a border of one is inside a cell of the other. */
const gridShifts = [0, 0.5] as const;
/** Ways of one hash, between five corners. */
const cornersHeld = 4;
/** If every way is as long as the one before, to and fro or round and round, everybody draws the same. */
const ratioMin = 0.7;
/** Hashes returned for one batch at most. */
export const cornerHashesPerBatchMax = 32;
const seed = 0x3c6ef372;

const heldFields = [F.corner0, F.corner1, F.corner2, F.corner3] as const;
const columnOf = (packed: number) => packed >> 16;
const lineOf = (packed: number) => (packed << 16) >> 16;
const coordinate = (value: number) => Math.max(-32768, Math.min(32767, Math.round(value)));

/** Follows a path from corner to corner. */
class CornerFinder {
  readonly hashes: number[] = [];
  private readonly n: number[];
  /** The last corner, and the furthest point from it so far. */
  private fromX: number;
  private fromY: number;
  private farX: number;
  private farY: number;
  private farSquare: number;

  constructor(n: number[]) {
    this.n = n;
    this.fromX = columnOf(n[F.corner3]!);
    this.fromY = lineOf(n[F.corner3]!);
    this.farX = columnOf(n[F.cornerFar]!);
    this.farY = lineOf(n[F.cornerFar]!);
    this.farSquare = squareOf(this.farX - this.fromX, this.farY - this.fromY);
  }

  carry(): void {
    this.n[F.cornerFar] = packStep(this.farX, this.farY);
  }

  visit(x: number, y: number): void {
    if (this.n[F.cornersHeld] === 0) this.hold(x, y);
    const square = squareOf(x - this.fromX, y - this.fromY);
    if (square < this.farSquare) {
      const back = squareOf(x - this.farX, y - this.farY);
      if (back <= backMin * backMin || back <= backShare * backShare * this.farSquare) return;
      if (this.farSquare < backMin * backMin) return;
      this.turn();
      this.farSquare = squareOf(x - this.fromX, y - this.fromY);
    } else this.farSquare = square;
    this.farX = x;
    this.farY = y;
  }

  /** The furthest point becomes a corner. */
  private turn(): void {
    if (this.n[F.cornersHeld]! >= cornersHeld) this.hash();
    this.hold(this.farX, this.farY);
  }

  private hold(x: number, y: number): void {
    const { n } = this;
    n[F.corner0] = n[F.corner1]!;
    n[F.corner1] = n[F.corner2]!;
    n[F.corner2] = n[F.corner3]!;
    n[F.corner3] = packStep(x, y);
    n[F.cornersHeld] = Math.min(cornersHeld, n[F.cornersHeld]! + 1);
    this.fromX = x;
    this.fromY = y;
  }

  private hash(): void {
    if (this.hashes.length + gridShifts.length > cornerHashesPerBatchMax) return;
    const turns: number[] = [];
    const ratios: number[] = [];
    let [x, y, beforeX, beforeY, isPlain] = [columnOf(this.n[F.corner0]!), lineOf(this.n[F.corner0]!), 0, 0, true];
    for (let index = 1; index <= cornersHeld; index++) {
      const packed = index < cornersHeld ? this.n[heldFields[index]!]! : packStep(this.farX, this.farY);
      const wayX = columnOf(packed) - x;
      const wayY = lineOf(packed) - y;
      x += wayX;
      y += wayY;
      if (index > 1) {
        const across = beforeX * wayY - beforeY * wayX;
        const along = beforeX * wayX + beforeY * wayY;
        turns.push((Math.atan2(across, along) / (2 * Math.PI) + 0.5) * turnCells);
        const ratio = 0.5 * Math.log2(squareOf(wayX, wayY) / squareOf(beforeX, beforeY));
        if (Math.abs(ratio) >= ratioMin) isPlain = false;
        ratios.push(ratio / ratioCell);
      }
      beforeX = wayX;
      beforeY = wayY;
    }
    if (isPlain) return;
    for (const shift of gridShifts) {
      let hash = (seed + shift * 4) | 0;
      for (let index = 0; index < turns.length; index++) {
        hash = mix(hash, Math.floor(turns[index]! + shift) % turnCells);
        hash = mix(hash, Math.floor(ratios[index]! + shift));
      }
      this.hashes.push(hash >>> 0);
    }
  }
}

function squareOf(x: number, y: number): number {
  return x * x + y * y;
}

/**
 * Returns hashes of corners (32 bit, at most 32) of the mouse moves in a batch that will be folded into `features`, and stores their number and the
 * state of the path there. Call it once per batch, without events that were seen before. Cost: about 10 ns a point.
 */
export function cornerHashes(features: SessionFeatures, events: readonly IngestEvent[]): number[] {
  const finder = new CornerFinder(features.numbers);
  for (const { type, payload } of events) {
    if (type !== "mouse" || payload.pointer_type === "touch") continue;
    if (payload.points !== undefined) {
      for (const row of payload.points) finder.visit(coordinate(row[1]), coordinate(row[2]));
    } else if (payload.x !== undefined && payload.y !== undefined) {
      finder.visit(coordinate(payload.x), coordinate(payload.y));
    }
  }
  finder.carry();
  features.numbers[F.cornerHashes]! += finder.hashes.length;
  return finder.hashes;
}

/**
 * Counts the sessions that showed such hashes before, given a name of 32 bits for each known hash. Chance matches spread over many sessions, while a
 * copy has one original, so the leading session's margin counts (Boyer and Moore's majority vote).
 */
export function foldCornerOwners({ numbers: n }: SessionFeatures, owners: readonly number[]): void {
  for (const owner of owners) {
    if (owner === n[F.cornerOwner]) n[F.cornerLead]! += 1;
    else if (n[F.cornerLead]! > 0) n[F.cornerLead]! -= 1;
    else {
      n[F.cornerOwner] = owner;
      n[F.cornerLead] = 1;
    }
    n[F.cornerLeadMax] = Math.max(n[F.cornerLeadMax]!, n[F.cornerLead]!);
  }
}
