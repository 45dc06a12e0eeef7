/**
 * What a scoring thread holds of the pointer paths that sessions of its projects have shown on any node: slots as on one host, fed from
 * the logs that all nodes append to. Reading is synchronous; what others appended comes in with `refresh`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { limits } from "../../limits.js";
import { partCount, pathRows } from "../keys.js";
import { appendPaths, readPaths } from "../scripts.js";

const pairBytes = 8;
const slotCount = limits.shingleSlotsMax;
/** Bytes of one of the two logs of a part: together they hold as many paths as there are slots. */
const logBytesMax = (slotCount / partCount) * pairBytes;
/** A project without visitors for so long starts anew. */
export const pathsKeptMs = 30 * 86_400_000;

/** How long the parts are waited for: longer than a group of batches waits, since the first reading may bring some megabytes. */
const deadlineMs = limits.clusterWriteMs / 2;

const options = { deadlineMs, isIdempotent: true, isImpatient: true };

/** Refreshes that a part without news is left out of, at most. */
const restMax = 4;

interface LogPosition {
  /** The log that was read last; -1: none. */
  number: number;
  bytes: number;
  /** Refreshes until it is asked again, and how many there are after an answer without news. */
  left: number;
  rest: number;
}

/** The paths of one project. */
export class ProjectPaths {
  readonly #projectId: number;
  /** Hash and session of each slot, both 0 where nothing stands. */
  readonly #slots = new Uint32Array(2 * slotCount);
  readonly #read: LogPosition[] = Array.from({ length: partCount }, () => ({ number: -1, bytes: 0, left: 1, rest: 1 }));
  #loading: Promise<void> | null = null;
  isLoaded = false;
  /** Whether a group has waited in vain for the refresh under way: the next ones don't. */
  #isLate = false;
  /** Whether a batch has asked since the last refresh. */
  isUsed = false;
  #refreshedMs = Number.NEGATIVE_INFINITY;

  constructor(projectId: number) {
    this.#projectId = projectId;
  }

  /** The session that has shown the hash; undefined: none that is remembered. */
  ownerOf(hash: number): number | undefined {
    const slot = 2 * (hash & (slotCount - 1));
    const held = this.#slots[slot]!;
    const owner = this.#slots[slot + 1]!;
    return held === hash >>> 0 && (held !== 0 || owner !== 0) ? owner : undefined;
  }

  /** The first session that showed a path keeps it, as long as its slot is not needed for another path. */
  add(hash: number, session: number): void {
    if (this.ownerOf(hash) === undefined) this.#set(hash, hash, session);
  }

  /** Takes back what was added. */
  forget(hash: number, session: number): void {
    if (this.ownerOf(hash) === session >>> 0) this.#set(hash, 0, 0);
  }

  #set(hash: number, held: number, session: number): void {
    const slot = 2 * (hash & (slotCount - 1));
    this.#slots[slot] = held;
    this.#slots[slot + 1] = session;
  }

  /** Whether a refresh was left out, since no batch asked. */
  get isStale(): boolean {
    return performance.now() - this.#refreshedMs > 2 * limits.clusterPathsRefreshMs;
  }

  /**
   * Applies what all nodes appended since, as far as it is looked for: few parts are written at a time, and those that had no news are asked less
   * often. A part that does not answer is asked again the next time, and holds up no other one. One at a time; never rejects.
   */
  refresh(client: ClusterClient): Promise<void> {
    this.#loading ??= this.#refresh(client).finally(() => {
      this.#loading = null;
      this.#isLate = false;
    });
    return this.#loading;
  }

  /** As `refresh`, but resolves after `limits.clusterImpatientMs` at the latest; at once when that was waited for before. */
  async refreshInTime(client: ClusterClient): Promise<void> {
    const refreshed = this.refresh(client);
    if (this.#isLate) return;
    const late = delay(limits.clusterImpatientMs, "late" as const, { ref: false });
    this.#isLate = (await Promise.race([refreshed, late])) === "late" && this.#loading !== null;
  }

  async #refresh(client: ClusterClient): Promise<void> {
    const isWhole = !this.isLoaded || this.isStale;
    this.isUsed = false;
    this.#refreshedMs = performance.now();
    await Promise.all(
      this.#read.map(async (position, part) => {
        if (!isWhole && --position.left > 0) return;
        const rows = pathRows(this.#projectId, part);
        const { number, bytes } = position;
        const reading = client.run(readPaths, rows, [number, bytes], keySlot(rows[0]), options);
        this.#apply(position, { number, bytes }, await reading.catch(() => null));
      }),
    );
    this.isLoaded = true;
  }

  /**
   * Skips what this thread has just appended to the part, since it is remembered already: unless another thread appended in between, the next
   * refresh need not read it back. `bytes`: how many were appended.
   */
  skipAppended(part: number, bytes: number, reply: RespReply): void {
    if (!Array.isArray(reply)) return;
    const [number, end] = reply;
    const position = this.#read[part]!;
    if (number === position.number && end === position.bytes + bytes) position.bytes = end;
  }

  /** Applies what a part was found to have since a position. A null reply: no answer. */
  #apply(position: LogPosition, since: { readonly number: number; readonly bytes: number }, reply: RespReply): void {
    if (!Array.isArray(reply)) {
      position.left = 1;
      return;
    }
    const [number, before, current] = reply;
    if (typeof number !== "number" || !Buffer.isBuffer(before) || !Buffer.isBuffer(current)) return;
    this.#addPairs(before);
    this.#addPairs(current);
    const hasNews = since.number === -1 || before.length + current.length > 0;
    position.rest = hasNews ? 1 : Math.min(2 * position.rest, restMax);
    position.left = position.rest;
    const end = number === since.number ? since.bytes + current.length : current.length;
    // What was appended while the answer was on its way may have been skipped already.
    position.bytes = number === position.number ? Math.max(position.bytes, end) : end;
    position.number = number;
  }

  #addPairs(pairs: Buffer): void {
    // A copy that is aligned for its words, and a fraction of the time that `readUInt32LE` takes.
    const words = new Uint32Array(pairs.buffer.slice(pairs.byteOffset, pairs.byteOffset + pairs.length));
    for (let at = 0; at < words.length; at += 2) this.add(words[at]!, words[at + 1]!);
  }
}

/** The paths of a thread's projects, within bounds. */
export class ClusterPathReuseIndex {
  readonly #client: ClusterClient;
  readonly #part: number;
  /** The one used longest ago first. */
  readonly #projects = new Map<number, ProjectPaths>();

  /** `part`: which part of each project's log this thread appends to. */
  constructor(client: ClusterClient, part: number = Math.floor(Math.random() * partCount)) {
    this.#client = client;
    this.#part = part;
  }

  of(projectId: number): ProjectPaths {
    const known = this.#projects.get(projectId);
    const paths = known ?? new ProjectPaths(projectId);
    if (known !== undefined) this.#projects.delete(projectId);
    this.#projects.set(projectId, paths);
    for (const oldest of this.#projects.keys()) {
      if (this.#projects.size * 2 * slotCount * 4 <= limits.replayHeldBytesMax) break;
      this.#projects.delete(oldest);
    }
    return paths;
  }

  /**
   * Before a group: what a project has is there once, and again after a time without batches. In between `refresh` keeps it up to date. Null:
   * nothing to wait for. Resolves after `limits.clusterImpatientMs` at most: what is remembered, or has come until then, is enough.
   */
  load(projectId: number): Promise<void> | null {
    const paths = this.of(projectId);
    const isStale = !paths.isUsed && paths.isStale;
    paths.isUsed = true;
    return !paths.isLoaded || isStale ? paths.refreshInTime(this.#client) : null;
  }

  /** Applies what other nodes appended, for all projects that were asked for since. Call every `limits.clusterPathsRefreshMs`; never rejects. */
  async refresh(): Promise<void> {
    const used = [...this.#projects.values()].filter(({ isUsed }) => isUsed);
    await Promise.all(used.map((paths) => paths.refresh(this.#client)));
  }

  /** The command that lets other threads and nodes know of pairs of hash and session, given as their bytes. */
  appending(projectId: number, pairs: Uint8Array): KeyedCommand {
    const rows = pathRows(projectId, this.#part);
    return scriptCommand(appendPaths, rows, [logBytesMax, pairs, pathsKeptMs], keySlot(rows[0]));
  }

  /** What the command of `appending` was answered. */
  appended(projectId: number, pairs: Uint8Array, reply: RespReply): void {
    this.#projects.get(projectId)?.skipAppended(this.#part, pairs.length, reply);
  }
}
