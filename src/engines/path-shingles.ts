/**
 * Shingles of a pointer path: hashes over eight consecutive steps (dx, dy). They identify a recorded path at any position and speed of replay. The
 * store keeps them per project; matches come back in `CrossSessionCounts.replayedShingles`.
 */
import type { IngestEvent } from "../contract/events/events.js";
import { F, ringSize, type SessionFeatures } from "./session-features.js";

/** Steps of one shingle: seven that the features carry from batch to batch, and a new one. */
const shingleSteps = ringSize + 1;
/** Every second hash is kept, always the same ones: recording and replay sample alike. */
const sampledMask = 1;
/** Hashes returned for one batch at most. */
const shinglesPerBatchMax = 64;

const base = 0x9e3779b1;
/** base to the power of 8, modulo 2^32: the weight of the step that leaves the window. */
const leavingWeight = Array.from({ length: shingleSteps }).reduce<number>((power) => Math.imul(power, base), 1);

/** A step packed into 32 bits: dx and dy in whole pixels, clamped to 16 bits. */
export function packStep(dx: number, dy: number): number {
  const x = Math.max(-32768, Math.min(32767, dx));
  const y = Math.max(-32768, Math.min(32767, dy));
  return (((x & 0xffff) << 16) | (y & 0xffff)) >>> 0;
}

/** The steps of a window, which one batch at a time uses: a list of its own for each took longer to make than to fill. */
const sharedRing = new Int32Array(shingleSteps);

/** Polynomial rolling hash over the last eight steps. */
class ShingleWindow {
  readonly hashes: number[] = [];
  private readonly ring = sharedRing.fill(0);
  private held = 0;
  private hash = 0;
  private x = 0;
  private y = 0;
  private isPlaced: boolean;

  constructor(n: readonly number[]) {
    this.isPlaced = n[F.points]! > 0;
    this.x = n[F.ringX]!;
    this.y = n[F.ringY]!;
    const held = Math.min(ringSize, n[F.ring]!);
    for (let index = ringSize - held; index < ringSize; index++) this.push(n[F.ring0 + index]!);
  }

  /** Stores the last seven steps and the last point in the features, for the next batch. */
  carry(n: number[]): void {
    const held = Math.min(ringSize, this.held);
    n[F.ring] = held;
    for (let back = 1; back <= held; back++) n[F.ring0 + ringSize - back] = this.ring[(this.held - back) & 7]! >>> 0;
    n[F.ringX] = this.x;
    n[F.ringY] = this.y;
  }

  visit(x: number, y: number): void {
    const column = Math.round(x);
    const line = Math.round(y);
    if (this.isPlaced && (column !== this.x || line !== this.y)) this.push(packStep(column - this.x, line - this.y));
    this.x = column;
    this.y = line;
    this.isPlaced = true;
  }

  private push(step: number): void {
    const slot = this.held & 7;
    // The leaving step is 0 until the window is full, and has no weight then.
    this.hash = (Math.imul(this.hash, base) + step - Math.imul(this.ring[slot]!, leavingWeight)) | 0;
    this.ring[slot] = step;
    this.held += 1;
    if (this.held < shingleSteps || this.hashes.length >= shinglesPerBatchMax) return;
    let mixed = this.hash ^ (this.hash >>> 16);
    mixed = Math.imul(mixed, 0x85ebca6b);
    mixed ^= mixed >>> 13;
    if ((mixed & sampledMask) === 0 && !this.isDull()) this.hashes.push(mixed >>> 0);
  }

  /**
   * Slow or straight drawing on a pixel grid has the same few steps for everybody. So have number pads and sticks, which move only along axes and
   * diagonals and accelerate by a fixed rule.
   */
  private isDull(): boolean {
    let reach = 0;
    let isLocked = true;
    for (let index = 0; index < shingleSteps; index++) {
      const step = this.ring[index]!;
      const across = Math.abs(step >> 16);
      const down = Math.abs((step << 16) >> 16);
      reach += across + down;
      if (across !== 0 && down !== 0 && across !== down) isLocked = false;
    }
    if (isLocked || reach < reachMin) return true;
    let distinct = 0;
    for (let index = 0; index < shingleSteps && distinct < distinctStepsMin; index++) {
      if (!this.isAhead(this.ring[index]!, index)) distinct += 1;
    }
    return distinct < distinctStepsMin;
  }

  /** Whether the step also occurs before `end`. A loop: for a handful of steps a call of `indexOf` takes twice as long. */
  private isAhead(step: number, end: number): boolean {
    for (let index = 0; index < end; index++) if (this.ring[index] === step) return true;
    return false;
  }
}

const distinctStepsMin = 5;
const reachMin = 16;

/**
 * Returns sampled shingle hashes (32 bit, at most 64) of the batch that will be folded into `features`, and stores their number and the state of the
 * path there. Call it once per batch, without events that were seen before, and before `foldBatch`: a path from the batch before continues. Cost:
 * about 20 ns a point.
 */
export function shingleHashes(features: SessionFeatures, events: readonly IngestEvent[]): number[] {
  const window = new ShingleWindow(features.numbers);
  for (const { type, payload } of events) {
    if (type !== "mouse" && type !== "touch") continue;
    if (payload.points !== undefined) for (const row of payload.points) window.visit(row[1], row[2]);
    else if (payload.x !== undefined && payload.y !== undefined) window.visit(payload.x, payload.y);
  }
  window.carry(features.numbers);
  features.numbers[F.shingles]! += window.hashes.length;
  return window.hashes;
}
