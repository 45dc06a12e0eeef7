/**
 * Rows of what was judged: counters by value, crawlers, samples of requests, hits of rules by minute; one interface for any store. Each writer (an HTTP thread) replaces rows of its
 * own, so that a write can be repeated; readers merge the rows of all writers. What is in a row is known to `src/recording` alone.
 */
import type { Database } from "lmdb";
import { type JudgedKind, judgedKinds } from "../contract/traffic/traffic.js";
import { dayMs, hourMs } from "../contract/values/durations.js";
import type { Environment } from "./environment.js";
import { hourOf, judgedKey, judgedRange, judgedRow } from "./keys.js";

/** Where a row lies. */
interface JudgedRowName {
  readonly projectId: number;
  readonly kind: JudgedKind;
  /** Since the epoch. */
  readonly hour: number;
  /** Unique among writers and their rows: 10 bytes. */
  readonly writer: Buffer;
}

/** A row to store; null removes it. */
export interface JudgedRow extends JudgedRowName {
  readonly bytes: Buffer | null;
}

/** A row as it is read. */
export interface StoredJudgedRow {
  readonly hour: number;
  readonly writer: Buffer;
  readonly bytes: Buffer;
}

/** Rows of what was judged, of any store. */
export interface RecordedJudged {
  /** Puts and removes rows. Rejects if they can't be written; the same may be written again. */
  write(rows: readonly JudgedRow[]): Promise<void>;
  /** Returns the rows of all writers from `fromHour` to `toHour` (exclusive), by hour. */
  read(projectId: number, kind: JudgedKind, fromHour: number, toHour: number): Promise<readonly StoredJudgedRow[]>;
}

/** How long rows of a kind are kept, ms: addresses no longer than sessions, samples for a week, minutes for two hours. */
export function judgedKeptMs(kind: JudgedKind, times: { sessionMs: number; trafficMs: number }): number {
  if (kind === "samples") return 7 * dayMs;
  // The last hour lies in two.
  if (kind === "rule_minutes") return 2 * hourMs;
  return kind === "ip" ? Math.min(times.sessionMs, times.trafficMs) : times.trafficMs;
}

/** The rows of a single host. Each write is one transaction. */
export class LmdbRecordedJudged implements RecordedJudged {
  readonly #root: Environment;
  readonly #table: Database<Buffer, Buffer>;

  constructor({ root, judged }: { readonly root: Environment; readonly judged: Database<Buffer, Buffer> }) {
    this.#root = root;
    this.#table = judged;
  }

  async write(rows: readonly JudgedRow[]): Promise<void> {
    await this.#root.transaction(() => {
      for (const { bytes, ...name } of rows) {
        if (bytes === null) this.#table.removeSync(judgedKey(name));
        else this.#table.putSync(judgedKey(name), bytes);
      }
    });
  }

  async read(
    projectId: number,
    kind: JudgedKind,
    fromHour: number,
    toHour: number,
  ): Promise<readonly StoredJudgedRow[]> {
    const rows = this.#table.getRange(judgedRange(projectId, kind, fromHour, toHour));
    return [...rows].map(({ key, value }) => ({ ...judgedRow(key), bytes: Buffer.from(value) }));
  }
}

/** The kinds with the hour before which their rows have expired. */
export function expiredJudged(
  times: { sessionMs: number; trafficMs: number },
  nowMs: number,
): { readonly kind: JudgedKind; readonly hour: number }[] {
  return judgedKinds.map((kind) => ({ kind, hour: Math.max(0, hourOf(nowMs - judgedKeptMs(kind, times) - hourMs)) }));
}
