/**
 * Sends the counts of written batches: events and sessions by account and project, counts across sessions, paths. It sends them after the sessions
 * are written, a few groups at a time, and no batch waits for it. A node that dies in between loses these counts, but never a session.
 */

import type { ClusterClient } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand, Outcome } from "../../cluster/operation.js";
import { keySlot } from "../../cluster/slots.js";
import { hourMs } from "../../contract/values/durations.js";
import { limits } from "../../limits.js";
import { partCount, trafficRow, usageRow } from "../keys.js";
import type { ClusterPathReuseIndex } from "./cluster-path-reuse-index.js";
import type { BatchCounts } from "./cluster-unit-of-work.js";
import type { ClusterCounts } from "./recent-counts.js";

/** Which part this thread writes to, of rows that all threads write. */
const ownPart = Math.floor(Math.random() * partCount);

/** One per scoring thread; sends `limits.clusterCountsMs` after the first waiting count. */
export class CountSender {
  readonly #client: ClusterClient;
  readonly #paths: ClusterPathReuseIndex;
  readonly #counts: ClusterCounts;
  readonly #onFailure: (error: ClusterError) => void;
  readonly #trafficMs: number;
  #sums = new Map<string, Sum>();
  /** The rows of the last batch's account, project and hour, because the next batch nearly always has the same. */
  #traffic: TrafficSums | null = null;
  #newPaths = new Map<number, PairBytes>();
  /** Rows that got an expiry since the last full hour: it is long, so not every count sets it. */
  readonly #expiring = new Set<string>();
  #expiringSinceMs = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `onFailure` is called with lost counts; `trafficMs`: how long counts of an hour are kept. */
  constructor(
    client: ClusterClient,
    paths: ClusterPathReuseIndex,
    counts: ClusterCounts,
    onFailure: (error: ClusterError) => void,
    trafficMs: number = trafficKeptMs,
  ) {
    this.#trafficMs = trafficMs;
    this.#client = client;
    this.#paths = paths;
    this.#counts = counts;
    this.#onFailure = onFailure;
  }

  /** Adds the counts of a written batch. */
  add({ accountId, month, projectId, hour, events, sessions, across, paths }: BatchCounts): void {
    if (month !== "") {
      this.#counts.addEvents(accountId, month, events);
      for (let count = 0; count < sessions; count++) this.#counts.addSession(projectId);
      const traffic = this.#trafficOf(accountId, month, projectId, hour);
      traffic.usage.sum += events;
      traffic.events.sum += events;
      traffic.sessions.sum += sessions;
    }
    for (const { row, isNew } of across) this.#sumOf(row, "", crossSessionKeptMs, isNew).sum++;
    if (paths.length > 0) {
      let pairs = this.#newPaths.get(projectId);
      if (pairs === undefined) {
        pairs = new PairBytes();
        this.#newPaths.set(projectId, pairs);
      }
      pairs.add(paths);
    }
    this.#timer ??= setTimeout(() => void this.flush(), limits.clusterCountsMs);
  }

  /** Sends the counts added so far. Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const [sums, newPaths] = [this.#sums, this.#newPaths];
    this.#sums = new Map();
    this.#traffic = null;
    this.#newPaths = new Map();
    const commands: KeyedCommand[] = [];
    const raised: [command: number, sum: Sum][] = [];
    for (const each of sums.values()) {
      const { row, field, sum, keptMs, setsExpiry } = each;
      if (sum === 0 && !setsExpiry) continue;
      const slot = keySlot(row);
      if (field !== "") {
        commands.push({ command: ["HINCRBY", row, field, sum], slot });
        if (setsExpiry) commands.push({ command: ["PEXPIRE", row, keptMs], slot });
        continue;
      }
      // First, so that a broken connection can't leave behind a row without an expiry.
      if (setsExpiry) commands.push({ command: ["SET", row, 0, "NX", "PX", keptMs], slot });
      else raised.push([commands.length, each]);
      commands.push({ command: ["INCRBY", row, sum], slot });
    }
    const appended = [...newPaths].map(([projectId, pairs]) => ({ projectId, pairs: pairs.bytes }));
    const sumCommands = commands.length;
    for (const { projectId, pairs } of appended) commands.push(this.#paths.appending(projectId, pairs));
    if (commands.length === 0) return;
    const outcomes = await this.#client.pipeline(commands, { deadlineMs: limits.clusterWriteMs });
    for (const [index, { projectId, pairs }] of appended.entries()) {
      const outcome = outcomes[sumCommands + index]!;
      if (!(outcome instanceof ClusterError)) this.#paths.appended(projectId, pairs, outcome);
    }
    // A failover may have lost such a row since it was read: then this has made it anew, without an expiry.
    const anew = raised.filter(([command, { sum }]) => outcomes[command] === sum);
    if (anew.length > 0) outcomes.push(...(await this.#expire(anew.map(([, sum]) => sum))));
    const failure = outcomes.find((outcome) => outcome instanceof ClusterError);
    if (failure === undefined) return;
    this.#expiring.clear();
    this.#onFailure(failure);
  }

  #expire(sums: readonly Sum[]): Promise<Outcome[]> {
    const commands = sums.map(({ row, keptMs }) => ({ command: ["PEXPIRE", row, keptMs], slot: keySlot(row) }));
    return this.#client.pipeline(commands, { deadlineMs: limits.clusterWriteMs, isIdempotent: true });
  }

  #trafficOf(accountId: number, month: string, projectId: number, hour: number): TrafficSums {
    const last = this.#traffic;
    if (last?.accountId === accountId && last.month === month && last.projectId === projectId && last.hour === hour) {
      return last;
    }
    const usage = usageRow(accountId, ownPart, month);
    const traffic = trafficRow(projectId, ownPart, hour);
    this.#traffic = {
      accountId,
      month,
      projectId,
      hour,
      usage: this.#sumOf(usage, "", usageKeptMs, this.#isExpiryDue(usage)),
      events: this.#sumOf(traffic, "events", this.#trafficMs, this.#isExpiryDue(traffic)),
      sessions: this.#sumOf(traffic, "sessions", this.#trafficMs, false),
    };
    return this.#traffic;
  }

  #sumOf(row: string, field: string, keptMs: number, setsExpiry: boolean): Sum {
    const name = `${row} ${field}`;
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = { row, field, sum: 0, keptMs, setsExpiry };
      this.#sums.set(name, sum);
    } else sum.setsExpiry ||= setsExpiry;
    return sum;
  }

  /** Whether the row's expiry was not set recently. */
  #isExpiryDue(row: string): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#expiringSinceMs >= hourMs || this.#expiring.size >= expiringMax) {
      this.#expiring.clear();
      this.#expiringSinceMs = nowMs;
    }
    if (this.#expiring.has(row)) return false;
    this.#expiring.add(row);
    return true;
  }
}

interface TrafficSums {
  readonly accountId: number;
  readonly month: string;
  readonly projectId: number;
  readonly hour: number;
  readonly usage: Sum;
  readonly events: Sum;
  readonly sessions: Sum;
}

/** Pairs of hash and session in the form of the paths' log: two u32 each. */
class PairBytes {
  #words = new Uint32Array(256);
  #length = 0;

  add(words: readonly number[]): void {
    if (this.#length + words.length > this.#words.length) {
      const grown = new Uint32Array(2 * (this.#length + words.length));
      grown.set(this.#words.subarray(0, this.#length));
      this.#words = grown;
    }
    for (let index = 0; index < words.length; index++) this.#words[this.#length++] = words[index]!;
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer, 0, this.#length * 4);
  }
}

/** How much to raise a row, or a field of a hash. */
interface Sum {
  readonly row: string;
  readonly field: string;
  sum: number;
  /** How long the row lives. */
  readonly keptMs: number;
  /** Whether that is to be set, because the row may be new. */
  setsExpiry: boolean;
}

const expiringMax = 10_000;
/** The hour itself, the next one, in which it is still read, and one more in case clocks differ. */
const crossSessionKeptMs = 3 * hourMs;
/** Longer than any month plus the month after it. */
export const usageKeptMs = 70 * 24 * hourMs;
/** How long counts of an hour are kept by default, as `--stats-days`. */
export const trafficKeptMs = 400 * 24 * hourMs;
