/**
 * Writes what a thread has counted of judged requests, in groups behind the answers: counters by value, crawlers, samples. Each thread has rows of its own
 * in every hour, which it replaces as they grow; they stay in memory until they are stored.
 */
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { JudgedKind } from "../contract/traffic/traffic.js";
import type { JudgedRow } from "../store/judged-rows.js";
import { hourOf, judgedWriterBytes } from "../store/keys.js";
import type { Store } from "../store/store.js";

/** What is counted of one project in one hour, as rows of one or more kinds. */
export interface JudgedPart {
  /** The rows with something new. */
  changed(): readonly ChangedRow[];
}

/** A row to write. */
export interface ChangedRow {
  readonly kind: JudgedKind;
  /** 0 to 255: of a part's rows of one kind. */
  readonly number: number;
  /** Makes the row, when it is its turn to be written; `onStored` is called once it is stored. */
  readonly encode: () => { readonly bytes: Buffer; readonly onStored: () => void };
}

/** Names of rows of one thread: 6 random bytes, the number of a part, and the number of a row. */
export class WriterNames {
  readonly #thread = randomBytes(6);
  #last = 0;

  next(): Buffer {
    const name = Buffer.alloc(judgedWriterBytes);
    this.#thread.copy(name);
    name.writeUIntBE(++this.#last % 2 ** 24, 6, 3);
    return name;
  }
}

/** The hours that one thread counts. `T` counts one project's hour. */
class JudgedHours<T extends JudgedPart> {
  readonly #begin: () => T;
  readonly #names: WriterNames;
  #current = new Map<number, Hour<T>>();
  /** Hours that have ended, or were begun twice as a clock went back, and are not stored yet; the oldest first. */
  #ended: Hour<T>[] = [];

  constructor(names: WriterNames, begin: () => T) {
    this.#names = names;
    this.#begin = begin;
  }

  /** The present hour of a project. */
  of(projectId: number, nowMs: number): T {
    const hour = hourOf(nowMs);
    const known = this.#current.get(projectId);
    if (known?.hour === hour) return known.part;
    if (known !== undefined) this.#ended.push(known);
    const begun = { projectId, hour, writer: this.#names.next(), part: this.#begin() };
    this.#current.set(projectId, begun);
    return begun.part;
  }

  /** The parts that are held, ended ones first. */
  get parts(): T[] {
    return [...this.#ended, ...this.#current.values()].map(({ part }) => part);
  }

  /** How many rows have something new. */
  get unstored(): number {
    return this.parts.reduce((rows, part) => rows + part.changed().length, 0);
  }

  /** How many parts are held. */
  get count(): number {
    return this.#ended.length + this.#current.size;
  }

  /** Ends all hours: what is counted from now on goes to other rows. */
  endAll(): void {
    this.#ended.push(...this.#current.values());
    this.#current = new Map();
  }

  /** Forgets the oldest ended hours, stored or not, until so many are held. */
  forgetEnded(max: number): number {
    return this.#ended.splice(0, Math.max(0, this.#ended.length - max)).length;
  }

  /**
   * Writes what is new, a project's hour at a time, and forgets ended hours that are stored. Returns the ms of the thread that making the rows took.
   * Rejects if the store can't be written: all is kept.
   */
  async flush(store: Pick<Store, "recorded">, nowMs: number): Promise<number> {
    let tookMs = 0;
    const hour = hourOf(nowMs);
    for (const [projectId, each] of this.#current) {
      if (each.hour === hour) continue;
      this.#ended.push(each);
      this.#current.delete(projectId);
    }
    for (const each of [...this.#ended, ...this.#current.values()]) {
      const { projectId, writer, part } = each;
      const rows: JudgedRow[] = [];
      const stored: (() => void)[] = [];
      for (const { kind, number, encode } of part.changed()) {
        const startedAtMs = performance.now();
        const { bytes, onStored } = encode();
        tookMs += performance.now() - startedAtMs;
        const name = Buffer.from(writer);
        name[judgedWriterBytes - 1] = number;
        rows.push({ projectId, kind, hour: each.hour, writer: name, bytes });
        stored.push(onStored);
        // A row takes a millisecond or two.
        await setImmediate();
      }
      if (rows.length > 0) await store.recorded.judged.write(rows);
      for (const onStored of stored) onStored();
      if (this.#ended.includes(each) && part.changed().length === 0)
        this.#ended = this.#ended.filter((one) => one !== each);
    }
    return tookMs;
  }
}

/** What one HTTP thread counts, and writes behind the answers. */
export abstract class JudgedRecorder<T extends JudgedPart> {
  protected readonly hours: JudgedHours<T>;
  readonly #store: Pick<Store, "recorded">;
  readonly #now: () => number;

  /** `begin` makes the counts of a project's hour. */
  constructor(store: Pick<Store, "recorded">, names: WriterNames, now: () => number, begin: () => T) {
    this.#store = store;
    this.#now = now;
    this.hours = new JudgedHours(names, begin);
  }

  /**
   * Stores what is new; returns the ms of the thread that it took. Rejects when the store can't be written; what was counted is kept then, as far as memory
   * allows.
   */
  flush(): Promise<number> {
    return this.hours.flush(this.#store, this.#now());
  }

  /** Rows that are not stored yet. */
  get unstored(): number {
    return this.hours.unstored;
  }
}

interface Hour<T> {
  readonly projectId: number;
  readonly hour: number;
  readonly writer: Buffer;
  readonly part: T;
}
