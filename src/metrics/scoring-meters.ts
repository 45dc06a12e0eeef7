/** What scoring threads count: detections that fire, tasks, busy time. One buffer a pool, a slot of it for each of its threads. */
import { performance } from "node:perf_hooks";
import { detections } from "../detections/catalogue.js";
import { newCells } from "./cells.js";

const names = [
  "up",
  "tasks",
  "batches",
  "busyMs",
  "clusterConflicts",
  "clusterFailures",
  "clusterRoundTrips",
  "clusterRetries",
  "clusterDeadlineMisses",
  "clusterAcknowledgementsMissing",
] as const;
/** A count of a scoring thread by its name, in `busyMs` of milliseconds; `up` is how many came up. */
export type ScoringCell = (typeof names)[number];

const indexOf = Object.fromEntries(names.map((name, index) => [name, index])) as Record<ScoringCell, number>;
const detectionCell = new Map(detections.map(({ id }, index) => [id, names.length + index]));

/** Cells of one thread. */
const scoringCells = names.length + detections.length;
/** A thread that died is replaced by one with a slot of its own, so that counts never go back: so many are provided for. */
const spareSlots = 64;

/** The buffer of a pool with so many threads. Its first cell counts the slots taken. */
export function newScoringBuffer(threads: number): SharedArrayBuffer {
  return newCells(1 + (threads + spareSlots) * scoringCells);
}

/** Counts of a client of the cluster. */
export interface ClientCounts {
  readonly roundTrips: number;
  readonly retries: number;
  readonly deadlineMisses: number;
  readonly acknowledgementsMissing: number;
}

/** The counts of one scoring thread, made in that thread. */
export class ScoringMeters {
  readonly #cells: Float64Array;

  /** Takes a slot of the pool's buffer and marks the thread as up. When none is left, the last is shared and counts too little. */
  constructor(buffer: SharedArrayBuffer) {
    const slots = (buffer.byteLength / Float64Array.BYTES_PER_ELEMENT - 1) / scoringCells;
    const slot = Math.min(Atomics.add(new Int32Array(buffer, 0, 1), 0, 1), slots - 1);
    this.#cells = new Float64Array(buffer, (1 + slot * scoringCells) * Float64Array.BYTES_PER_ELEMENT, scoringCells);
    this.#cells[indexOf.up] = 1;
  }

  /** Now, ms, on the clock of `countTask`. */
  now(): number {
    return performance.now();
  }

  countTask(batches: number, busyMs: number): void {
    this.#cells[indexOf.tasks]!++;
    this.#cells[indexOf.batches]! += batches;
    this.#cells[indexOf.busyMs]! += busyMs;
  }

  /** Batches that were done again because others wrote their session. */
  countConflicts(batches: number): void {
    this.#cells[indexOf.clusterConflicts]! += batches;
  }

  /** The cluster did not answer, or did not take a write. */
  countClusterFailure(): void {
    this.#cells[indexOf.clusterFailures]!++;
  }

  /** What the thread's client has counted so far. */
  showClient(client: ClientCounts): void {
    this.#cells[indexOf.clusterRoundTrips] = client.roundTrips;
    this.#cells[indexOf.clusterRetries] = client.retries;
    this.#cells[indexOf.clusterDeadlineMisses] = client.deadlineMisses;
    this.#cells[indexOf.clusterAcknowledgementsMissing] = client.acknowledgementsMissing;
  }

  /** A detection fired on a session that it had not fired on before. */
  countDetection(id: number): void {
    const cell = detectionCell.get(id);
    if (cell !== undefined) this.#cells[cell]!++;
  }
}

/** The sum over all threads of some pools. */
export class ScoringReading {
  readonly #cells = new Float64Array(scoringCells);

  constructor(buffers: readonly SharedArrayBuffer[]) {
    for (const buffer of buffers) {
      const cells = new Float64Array(buffer);
      for (let index = 1; index < cells.length; index++) this.#cells[(index - 1) % scoringCells]! += cells[index]!;
    }
  }

  get(name: ScoringCell): number {
    return this.#cells[indexOf[name]]!;
  }

  detection(id: number): number {
    return this.#cells[detectionCell.get(id)!]!;
  }
}
