/**
 * Sends what written batches count: events and sessions by account and project, counts across sessions, paths. Behind the sessions' own
 * writes, a few groups at once and without waiting: a node that dies in between loses these counts, never a session.
 */
import type { ClusterClient } from "../cluster/cluster-client.js";
import { ClusterError } from "../cluster/cluster-error.js";
import type { KeyedCommand } from "../cluster/operation.js";
import { keySlot } from "../cluster/slots.js";
import { limits } from "../limits.js";
import type { BatchCounts } from "./cluster-unit.js";
import { partCount, trafficRow, usageRow } from "./keys.js";
import type { PathMemory } from "./path-memory.js";
import type { ClusterCounts } from "./recent-counts.js";

/** Which part of rows that all threads write this one writes to. */
const ownPart = Math.floor(Math.random() * partCount);

export class CountSender {
  readonly #client: ClusterClient;
  readonly #paths: PathMemory;
  readonly #counts: ClusterCounts;
  readonly #onFailure: (error: unknown) => void;
  #sums = new Map<string, Sum>();
  #newPaths = new Map<number, number[]>();
  #timer: NodeJS.Timeout | null = null;

  /** `onFailure` hears of counts that were lost. */
  constructor(client: ClusterClient, paths: PathMemory, counts: ClusterCounts, onFailure: (error: unknown) => void) {
    this.#client = client;
    this.#paths = paths;
    this.#counts = counts;
    this.#onFailure = onFailure;
  }

  /** Takes the counts of a batch that is written. */
  add({ accountId, month, projectId, hour, events, sessions, across, paths }: BatchCounts): void {
    this.#counts.addEvents(accountId, month, events);
    for (let count = 0; count < sessions; count++) this.#counts.addSession(projectId);
    this.#raise(usageRow(accountId, ownPart, month), "", events, usageKeptMs);
    const traffic = trafficRow(projectId, ownPart, hour);
    this.#raise(traffic, "events", events, trafficKeptMs);
    this.#raise(traffic, "sessions", sessions, trafficKeptMs);
    for (const row of across) this.#raise(row, "", 1, crossSessionKeptMs);
    if (paths.length > 0) {
      this.#paths.add(projectId, paths);
      const known = this.#newPaths.get(projectId);
      if (known === undefined) this.#newPaths.set(projectId, [...paths]);
      else for (const word of paths) known.push(word);
    }
    this.#timer ??= setTimeout(() => void this.flush(), limits.clusterCountsMs);
  }

  /** Sends what was taken. Never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const [sums, newPaths] = [this.#sums, this.#newPaths];
    this.#sums = new Map();
    this.#newPaths = new Map();
    const commands: KeyedCommand[] = [];
    for (const { row, field, sum, keptMs } of sums.values()) {
      const slot = keySlot(row);
      commands.push(
        { command: field === "" ? ["INCRBY", row, sum] : ["HINCRBY", row, field, sum], slot },
        { command: ["PEXPIRE", row, keptMs], slot },
      );
    }
    for (const [projectId, pairs] of newPaths) commands.push(this.#paths.appending(projectId, pairs));
    if (commands.length === 0) return;
    const outcomes = await this.#client.pipeline(commands, { deadlineMs: limits.clusterWriteMs });
    const failure = outcomes.find((outcome) => outcome instanceof ClusterError);
    if (failure !== undefined) this.#onFailure(failure);
  }

  #raise(row: string, field: string, more: number, keptMs: number): void {
    if (more === 0) return;
    const name = `${row} ${field}`;
    const known = this.#sums.get(name);
    if (known === undefined) this.#sums.set(name, { row, field, sum: more, keptMs });
    else known.sum += more;
  }
}

/** What a row, or a field of a hash, is raised by. */
interface Sum {
  readonly row: string;
  readonly field: string;
  sum: number;
  readonly keptMs: number;
}

const hourMs = 3_600_000;
/** The hour, the one after in which it is looked at, and one for clocks. */
const crossSessionKeptMs = 3 * hourMs;
/** Longer than any month, and the one after. */
const usageKeptMs = 70 * 24 * hourMs;
/** As long as statistics are kept at most. */
export const trafficKeptMs = 400 * 24 * hourMs;
