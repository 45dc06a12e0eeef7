/**
 * A scoring thread's view of the counts that all nodes raise: events of an account in a month, sessions of a project. It is slightly old: a count is
 * read again when it is needed and has become old, and meanwhile rises by what this thread adds. Quotas and bounds that use these counts are
 * approximate to that extent.
 */
import { LRUCache } from "lru-cache";
import type { ClusterClient } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import { keySlot } from "../../cluster/slots.js";
import { limits } from "../../limits.js";
import { indexRow, partCount, shardCount, usageRow } from "../keys.js";
import type { RecentCounts } from "./cluster-unit-of-work.js";

interface Counted {
  value: number;
  atMs: number;
  reading: Promise<void> | null;
}

const usageMs = 1000;
/** Counting a project's sessions reads 256 rows. */
const sessionsMs = 10_000;
const countsMax = 10_000;

/** One per scoring thread. It asks the cluster in the background, and no read waits: an unknown count is 0 until the answer is there. */
export class ClusterCounts implements RecentCounts {
  readonly #client: ClusterClient;
  readonly #counts = new LRUCache<string, Counted>({ max: countsMax });

  constructor(client: ClusterClient) {
    this.#client = client;
  }

  eventsInMonth(accountId: number, month: string): number {
    return this.#value(`u${accountId}/${month}`, usageMs, () => countEvents(this.#client, accountId, month));
  }

  sessionCount(projectId: number): number {
    return this.#value(`s${projectId}`, sessionsMs, () => countClusterSessions(this.#client, projectId));
  }

  addEvents(accountId: number, month: string, events: number): void {
    this.#add(`u${accountId}/${month}`, events);
  }

  addSession(projectId: number): void {
    this.#add(`s${projectId}`, 1);
  }

  #value(name: string, freshMs: number, read: () => Promise<number>): number {
    let counted = this.#counts.get(name);
    if (counted === undefined) {
      counted = { value: 0, atMs: Number.NEGATIVE_INFINITY, reading: null };
      this.#counts.set(name, counted);
    }
    const known = counted;
    if (known.reading === null && performance.now() - known.atMs >= freshMs) {
      known.reading = read()
        .then((value) => {
          known.value = value;
        })
        // The cluster does not answer: continue from the last known count.
        .catch(() => {})
        .finally(() => {
          known.atMs = performance.now();
          known.reading = null;
        });
    }
    return known.value;
  }

  #add(name: string, more: number): void {
    const counted = this.#counts.get(name);
    if (counted !== undefined) counted.value += more;
  }
}

/** Counts all sessions of a project. Rejects when the cluster does not answer. */
export function countClusterSessions(client: ClusterClient, projectId: number): Promise<number> {
  const rows = Array.from({ length: shardCount }, (_, shard) => indexRow(shard, projectId));
  return sum(client, "ZCARD", rows);
}

/** Counts the events of an account in a month. Rejects when the cluster does not answer. */
export function countEvents(client: ClusterClient, accountId: number, month: string): Promise<number> {
  const rows = Array.from({ length: partCount }, (_, part) => usageRow(accountId, part, month));
  return sum(client, "GET", rows);
}

async function sum(client: ClusterClient, command: string, rows: readonly string[]): Promise<number> {
  const commands = rows.map((row) => ({ command: [command, row], slot: keySlot(row) }));
  let total = 0;
  for (const reply of await client.pipeline(commands, { deadlineMs: limits.clusterWriteMs, isIdempotent: true })) {
    if (reply instanceof ClusterError) throw reply;
    total += Number(reply ?? 0);
  }
  return total;
}
