/**
 * A scoring thread's memory of the pointer paths that sessions of its projects have shown on any node. It has as many slots as one host has (see
 * `path-slots.ts`), and fills them from the logs that all nodes append to. Reads are synchronous; `refresh` loads what other nodes appended.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { limits } from "../../limits.js";
import { partCount, pathRows } from "../keys.js";
import { appendPaths, readPaths } from "../scripts.js";
import { PathSlots } from "./path-slots.js";

const pairBytes = 8;
const slotCount = limits.shingleSlotsMax;
/** Bytes of one of the two logs of a part: together they hold as many paths as there are slots. */
const logBytesMax = (slotCount / partCount) * pairBytes;
/** A project without visitors for this long starts empty again. */
export const pathsKeptMs = 30 * 86_400_000;

/** How long to wait for the parts: longer than a group of batches waits, because the first reading may bring some megabytes. */
const deadlineMs = limits.clusterWriteMs / 2;

const options = { deadlineMs, isIdempotent: true, isImpatient: true };

/** How many refreshes may skip a part without news, at most. */
const restMax = 4;

interface LogPosition {
  /** The log read last; -1 for none. */
  number: number;
  bytes: number;
  /** Refreshes until the next question, and how many to skip after an answer without news. */
  left: number;
  rest: number;
}

/** What a project takes besides its slots: measured as 1.5 KB. */
const ownBytes = 2048;

/** The paths of one project. */
export class ProjectPaths extends PathSlots {
  readonly #projectId: number;
  readonly #read: LogPosition[] = Array.from({ length: partCount }, () => ({ number: -1, bytes: 0, left: 1, rest: 1 }));
  #loading: Promise<void> | null = null;
  isLoaded = false;
  /** Whether a group has waited in vain for the current refresh: later groups don't wait for it. */
  #isLate = false;
  /** Whether a batch has asked since the last refresh. */
  isUsed = false;
  #refreshedMs = Number.NEGATIVE_INFINITY;

  constructor(projectId: number, mayGrow: (bytes: number) => boolean) {
    super(mayGrow);
    this.#projectId = projectId;
  }

  /** Bytes in memory. */
  get heldBytes(): number {
    return ownBytes + this.slotBytes;
  }

  /** Whether a refresh was skipped, because no batch asked. */
  get isStale(): boolean {
    return performance.now() - this.#refreshedMs > 2 * limits.clusterPathsRefreshMs;
  }

  /** Whether a batch has asked for it in the last `limits.clusterPathsIdleMs`. */
  get isBusy(): boolean {
    return this.isUsed || performance.now() - this.#refreshedMs <= limits.clusterPathsIdleMs;
  }

  /**
   * Applies what all nodes appended since. It looks only at some of the parts: few are written at a time, so it asks the parts without news less
   * often. A part that does not answer is asked again the next time, and delays no other part. One refresh at a time; never rejects.
   */
  refresh(client: ClusterClient): Promise<void> {
    this.#loading ??= this.#refresh(client).finally(() => {
      this.#loading = null;
      this.#isLate = false;
    });
    return this.#loading;
  }

  /** As `refresh`, but resolves after `limits.clusterImpatientMs` at the latest, and at once if an earlier group waited that long. */
  async refreshInTime(client: ClusterClient): Promise<void> {
    const refreshed = this.refresh(client);
    if (this.#isLate) return;
    const late = delay(limits.clusterImpatientMs, "late" as const, { ref: false });
    this.#isLate = (await Promise.race([refreshed, late])) === "late" && this.#loading !== null;
  }

  async #refresh(client: ClusterClient): Promise<void> {
    const isWhole = !this.isLoaded || this.isStale;
    this.isUsed = false;
    this.isShort = false;
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
   * Skips what this thread has just appended to the part, because it is remembered already. Unless another thread appended in between, the next
   * refresh need not read it back. `bytes`: how many were appended.
   */
  skipAppended(part: number, bytes: number, reply: RespReply): void {
    if (!Array.isArray(reply)) return;
    const [number, end] = reply;
    const position = this.#read[part]!;
    if (number === position.number && end === position.bytes + bytes) position.bytes = end;
  }

  /** Applies what a part has since a position. A null reply means no answer. */
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
    // What was appended while the answer was under way may have been skipped already.
    position.bytes = number === position.number ? Math.max(position.bytes, end) : end;
    position.number = number;
  }

  #addPairs(pairs: Buffer): void {
    // A copy that is aligned to words: reading it takes a fraction of the time of `readUInt32LE`.
    const words = new Uint32Array(pairs.buffer.slice(pairs.byteOffset, pairs.byteOffset + pairs.length));
    for (let at = 0; at < words.length; at += 2) this.add(words[at]!, words[at + 1]!);
  }
}

/**
 * The paths of a thread's projects, in bounded memory. Projects without batches make room for others. While all are busy, none is dropped, because its
 * next batch would load it again: the largest give up half of their slots, until all that need more have about the same.
 */
export class ClusterPathReuseIndex {
  readonly #client: ClusterClient;
  readonly #part: number;
  /** Least recently loaded first. */
  readonly #projects = new Map<number, ProjectPaths>();
  #heldBytes = 0;

  /** `part`: the part of each project's log that this thread appends to. */
  constructor(client: ClusterClient, part: number = Math.floor(Math.random() * partCount)) {
    this.#client = client;
    this.#part = part;
  }

  /** Bytes in memory, at most `limits.pathReuseHeldBytesMax`. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  of(projectId: number): ProjectPaths {
    return this.#projects.get(projectId) ?? this.#admit(projectId);
  }

  #admit(projectId: number): ProjectPaths {
    const paths: ProjectPaths = new ProjectPaths(projectId, (bytes) => {
      // It may be dropped itself, if it has had no batch lately.
      const isGranted = this.#makeRoom(bytes, paths.slotBytes + bytes) && this.#projects.get(projectId) === paths;
      if (isGranted) this.#heldBytes += bytes;
      return isGranted;
    });
    // Without room, all have as few slots as this one, and there are more than 20,000: far more than a group has.
    if (!this.#makeRoom(paths.heldBytes, paths.slotBytes)) this.#dropOldest();
    this.#projects.set(projectId, paths);
    this.#heldBytes += paths.heldBytes;
    return paths;
  }

  /** Makes room for more bytes of a project that then has so many slots; `false` if no other has at least twice as many. */
  #makeRoom(bytes: number, slotBytes: number): boolean {
    while (this.#heldBytes + bytes > limits.pathReuseHeldBytesMax) {
      const [oldest] = this.#projects.values();
      if (oldest?.isBusy === false) this.#dropOldest();
      else if (!this.#halveLargest(2 * slotBytes)) return false;
    }
    return true;
  }

  #dropOldest(): void {
    const [oldest] = this.#projects;
    if (oldest === undefined) return;
    const [projectId, paths] = oldest;
    this.#projects.delete(projectId);
    this.#heldBytes -= paths.heldBytes;
    // A group may still have it: it does not count any more, and must not grow.
    paths.isShort = true;
  }

  #halveLargest(slotBytesMin: number): boolean {
    let [largest] = this.#projects.values();
    for (const paths of this.#projects.values()) if (paths.slotBytes > largest!.slotBytes) largest = paths;
    if (largest === undefined || largest.slotBytes < slotBytesMin) return false;
    largest.halve();
    this.#heldBytes -= largest.slotBytes;
    return true;
  }

  /** Removes paths that were added, given as pairs of hash and session. */
  forget(projectId: number, pairs: readonly number[]): void {
    if (pairs.length === 0) return;
    const paths = this.of(projectId);
    for (let at = 0; at < pairs.length; at += 2) paths.forget(pairs[at]!, pairs[at + 1]!);
  }

  /**
   * Call before a group. It loads a project's paths once, and again after a time without batches; in between, `refresh` keeps them up to date. `null`
   * means nothing to wait for. Resolves after `limits.clusterImpatientMs` at most: the paths that are loaded by then are enough.
   */
  load(projectId: number): Promise<void> | null {
    const paths = this.of(projectId);
    this.#projects.delete(projectId);
    this.#projects.set(projectId, paths);
    const isStale = !paths.isUsed && paths.isStale;
    paths.isUsed = true;
    return !paths.isLoaded || isStale ? paths.refreshInTime(this.#client) : null;
  }

  /** Applies what other nodes appended, for all projects that batches asked for since. Call every `limits.clusterPathsRefreshMs`; never rejects. */
  async refresh(): Promise<void> {
    const used = [...this.#projects.values()].filter(({ isUsed }) => isUsed);
    await Promise.all(used.map((paths) => paths.refresh(this.#client)));
  }

  /** Returns the command that appends pairs of hash and session, given as bytes, for other threads and nodes. */
  appending(projectId: number, pairs: Uint8Array): KeyedCommand {
    const rows = pathRows(projectId, this.#part);
    return scriptCommand(appendPaths, rows, [logBytesMax, pairs, pathsKeptMs], keySlot(rows[0]));
  }

  /** Handles the answer to the command that `appending` returned. */
  appended(projectId: number, pairs: Uint8Array, reply: RespReply): void {
    this.#projects.get(projectId)?.skipAppended(this.#part, pairs.length, reply);
  }
}
