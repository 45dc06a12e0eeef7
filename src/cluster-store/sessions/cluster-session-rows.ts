/**
 * Sessions of a cluster as an HTTP thread reads them. A read session is held for a moment, so that a page's verdicts cost one question. Each question
 * has a deadline: the master is asked, then a replica, then the session counts as unknown, unless the caller needs certainty.
 */
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import { keySlot } from "../../cluster/slots.js";
import { UnavailableError } from "../../errors.js";
import { limits } from "../../limits.js";
import { sessionKey, tokenAt } from "../../store/keys.js";
import type { Changed, Freshness, KeyRange, SessionRows, UniqueMark } from "../../store/session-rows.js";
import { unavailable } from "../fault-line.js";
import { newVersion, versionBytes } from "../ingest/cluster-unit-of-work.js";
import { furtherRows, indexRow, markRow, sessionRow, shardCount, shardOfSession, shardSlots } from "../keys.js";
import { saveSession } from "../scripts.js";
import { TokenHeap } from "./token-heap.js";

/** The cluster and its times; `acks` replicas must have a changed session. */
interface ClusterSessionRowsOptions {
  readonly client: ClusterClient;
  readonly acks: number;
  /** How long a session is kept after its last change, ms. */
  readonly sessionMs: number;
  /** How long a verdict waits for the cluster, ms. */
  readonly deadlineMs: number;
  /** How long a read session counts as recent, ms. */
  readonly heldMs: number;
  readonly now: () => number;
}

interface HeldRow {
  /** Version and record; `null` means that there is none. */
  readonly value: Buffer | null;
  /** By the monotonic clock; `unansweredMs` when no node answered whether there is one. */
  readonly atMs: number;
  /** Its position among this thread's reads, by when each began, and changes, by when each ended: an earlier one does not replace it. */
  readonly turn: number;
}

/**
 * ms that a mark lives until replicas have acknowledged the change that was written with it: longer than a change takes. If they never do, the same
 * solution may come again.
 */
const unacknowledgedMarkMs = 2 * limits.clusterWriteMs;
/** What a mark holds. It names no session, so that nobody has to look for it when one is erased. */
const marked = "1";
/** Older than any time: the next read asks again. */
const unansweredMs = Number.NEGATIVE_INFINITY;

/** One per HTTP thread. Without an answer in time, sessions count as unknown and verdicts fail open. */
export class ClusterSessionRows implements SessionRows {
  readonly #options: ClusterSessionRowsOptions;
  /** By key, the least recently loaded first. */
  readonly #held = new Map<string, HeldRow>();
  #heldBytes = 0;
  #turns = 0;

  constructor(options: ClusterSessionRowsOptions) {
    this.#options = options;
  }

  load(keys: readonly Buffer[], freshness: Freshness = "recent"): Promise<void> | null {
    // A wall clock that is set back would keep old rows recent.
    const freshMs = performance.now() - (freshness === "recent" ? this.#options.heldMs : 0);
    const isMissing = (key: Buffer): boolean =>
      !((this.#held.get(key.toString("latin1"))?.atMs ?? unansweredMs) > freshMs);
    // Copies, because callers reuse their keys.
    const missing = keys.filter(isMissing).map((key) => Buffer.from(key));
    return missing.length === 0 ? null : this.#load(missing, freshness === "certain");
  }

  record(key: Buffer): Buffer | undefined {
    return this.#held.get(key.toString("latin1"))?.value?.subarray(versionBytes);
  }

  /** `load` has asked the cluster. */
  later(): null {
    return null;
  }

  isUnanswered(key: Buffer): boolean {
    return this.#held.get(key.toString("latin1"))?.atMs === unansweredMs;
  }

  async keys({ start, end, reverse = false, limit }: KeyRange): Promise<Buffer[]> {
    const projectId = (reverse ? end : start).readUInt32BE(0);
    const cursors = Array.from(
      { length: shardCount },
      (_, shard) => new IndexCursor(indexRow(shard, projectId), rangeOf(projectId, start, end, reverse), reverse),
    );
    const chunk = Math.max(4, Math.ceil((2 * limit) / shardCount));
    await refill(this.#options.client, cursors, chunk);
    const heap = new TokenHeap(cursors, reverse);
    const keys: Buffer[] = [];
    for (let next = heap.first; next !== undefined && keys.length < limit; next = heap.first) {
      const token = next.head!;
      keys.push(sessionKey(projectId, token));
      next.advance();
      // Only the first index can run short of tokens: the others wait with theirs.
      if (next.needsMore && keys.length < limit) await refill(this.#options.client, [next], chunk);
      heap.settle();
    }
    return keys;
  }

  async change(key: Buffer, change: (record: Buffer) => Buffer | null, mark?: UniqueMark): Promise<Changed> {
    const { client, acks, sessionMs } = this.#options;
    const slot = shardSlots[shardOfSession(key)]!;
    const row = sessionRow(key);
    const unique = mark === undefined ? row : markRow(shardOfSession(key), mark.nonce);
    for (let round = 0; round <= limits.clusterConflictRounds; round++) {
      const [stored, used] = await this.#ask([
        { command: ["GET", row], slot },
        { command: ["EXISTS", unique], slot },
      ]);
      if (!(stored instanceof Buffer)) return "gone";
      if (mark !== undefined && used === 1) return "used";
      const record = change(stored.subarray(versionBytes));
      if (record === null) return "gone";
      const version = newVersion();
      const markMs = mark === undefined ? 0 : unacknowledgedMarkMs;
      const args = [stored.subarray(0, versionBytes), version, record, sessionMs, marked, markMs, ""];
      const { outcomes, missing } = await client.writeGroup(
        [scriptCommand(saveSession, [row, unique, row, ...furtherRows(key)], args, slot)],
        {
          acks,
          ackMs: limits.clusterAckMs,
          deadlineMs: limits.clusterWriteMs,
          isIdempotent: true,
        },
      );
      if (outcomes[0] instanceof ClusterError) throw unavailable(outcomes[0]);
      if (outcomes[0] !== 1) continue;
      const fault = missing(0);
      if (mark !== undefined) {
        const markedMs = Math.max(1, mark.expiresAtMs - this.#options.now());
        const command = fault === null ? ["SET", unique, marked, "PX", markedMs] : ["DEL", unique];
        // Its outcome does not matter: the mark that was written ends by itself.
        await client.pipeline([{ command, slot }], { deadlineMs: limits.clusterAckMs, isIdempotent: true });
      }
      if (fault !== null) throw unavailable(fault);
      this.#hold(key.toString("latin1"), Buffer.concat([version, record]), ++this.#turns);
      return "changed";
    }
    throw new UnavailableError("the session is being written by others");
  }

  /** `isCertain` rejects if a session can't be had, or if only a replica, which may lag behind, says that it does not exist. */
  async #load(keys: readonly Buffer[], isCertain: boolean): Promise<void> {
    const { client } = this.#options;
    const turn = ++this.#turns;
    const deadlineMs = isCertain ? limits.clusterWriteMs : this.#options.deadlineMs;
    const commands = keys.map((key) => ({ command: ["GET", sessionRow(key)], slot: shardSlots[shardOfSession(key)]! }));
    const each = { deadlineMs: deadlineMs / 2, isIdempotent: true, failsFast: true };
    const outcomes = await client.pipeline(commands, each);
    const failed = [...outcomes.keys()].filter((index) => outcomes[index] instanceof ClusterError);
    let fault: ClusterError | null = null;
    if (failed.length > 0) {
      const again = await client.pipeline(
        failed.map((index) => commands[index]!),
        { ...each, readFrom: "replica" },
      );
      for (const [position, index] of failed.entries()) {
        const outcome = again[position]!;
        if (!(outcome instanceof Buffer))
          fault = (outcome instanceof ClusterError ? outcome : outcomes[index]) as ClusterError;
        outcomes[index] = outcome;
      }
    }
    for (const [index, key] of keys.entries()) {
      const outcome = outcomes[index]!;
      const name = key.toString("latin1");
      const held = this.#held.get(name);
      if (held !== undefined && held.turn > turn && held.atMs !== unansweredMs) continue;
      if (outcome instanceof ClusterError) this.#hold(name, null, turn, unansweredMs);
      else this.#hold(name, outcome instanceof Buffer ? Buffer.from(outcome) : null, turn);
    }
    if (isCertain && fault !== null) throw unavailable(fault);
  }

  async #ask(commands: readonly { command: (string | Buffer)[]; slot: number }[]) {
    const deadline = { deadlineMs: limits.clusterWriteMs, isIdempotent: true };
    const outcomes = await this.#options.client.pipeline(commands, deadline);
    for (const outcome of outcomes) {
      if (outcome instanceof ClusterError) throw unavailable(outcome);
    }
    return outcomes;
  }

  #hold(name: string, value: Buffer | null, turn: number, atMs = performance.now()): void {
    this.#drop(name);
    this.#held.set(name, { value, atMs, turn });
    this.#heldBytes += value?.length ?? 0;
    for (const oldest of this.#held.keys()) {
      if (this.#heldBytes <= limits.clusterHeldBytesMax && this.#held.size <= limits.clusterHeldRowsMax) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#heldBytes -= this.#held.get(name)?.value?.length ?? 0;
    this.#held.delete(name);
  }
}

/** Reads a project's index in one shard, a piece at a time. */
class IndexCursor {
  readonly #row: string;
  readonly #slot: number;
  readonly #end: Buffer;
  readonly #isReverse: boolean;
  #from: Buffer;
  #tokens: Buffer[] = [];
  /** Position of the next token. */
  #at = 0;
  #isDone = false;

  constructor(row: string, { from, end }: { readonly from: Buffer; readonly end: Buffer }, isReverse: boolean) {
    this.#row = row;
    this.#slot = keySlot(row);
    this.#from = from;
    this.#end = end;
    this.#isReverse = isReverse;
  }

  get needsMore(): boolean {
    return this.#at >= this.#tokens.length && !this.#isDone;
  }

  /** Returns the next token's bytes; `undefined` means that there is none. */
  get head(): Buffer | undefined {
    return this.#tokens[this.#at];
  }

  advance(): void {
    this.#at++;
  }

  command(count: number) {
    const reverse = this.#isReverse ? ["REV"] : [];
    const command = ["ZRANGE", this.#row, this.#from, this.#end, "BYLEX", ...reverse, "LIMIT", 0, count];
    return { command, slot: this.#slot };
  }

  apply(reply: unknown, count: number): void {
    const tokens = Array.isArray(reply) ? reply.filter((each) => each instanceof Buffer) : [];
    this.#tokens = tokens;
    this.#at = 0;
    this.#isDone = tokens.length < count;
    const last = tokens.at(-1);
    if (last !== undefined) this.#from = Buffer.concat([Buffer.from("("), last]);
  }
}

async function refill(client: ClusterClient, cursors: readonly IndexCursor[], count: number): Promise<void> {
  const empty = cursors.filter(({ needsMore }) => needsMore);
  if (empty.length === 0) return;
  const outcomes = await client.pipeline(
    empty.map((cursor) => cursor.command(count)),
    { deadlineMs: limits.clusterWriteMs, isIdempotent: true },
  );
  for (const [index, cursor] of empty.entries()) {
    const outcome = outcomes[index]!;
    if (outcome instanceof ClusterError) throw unavailable(outcome);
    cursor.apply(outcome, count);
  }
}

/** Returns the bounds of an index for keys from `start` to `end` (exclusive), as tokens in the form that `ZRANGE … BYLEX` takes. */
function rangeOf(projectId: number, start: Buffer, end: Buffer, isReverse: boolean): { from: Buffer; end: Buffer } {
  const bound = (key: Buffer, open: string, beyond: string): Buffer =>
    key.readUInt32BE(0) === projectId ? Buffer.concat([Buffer.from(open), key.subarray(tokenAt)]) : Buffer.from(beyond);
  return isReverse
    ? { from: bound(start, "[", "+"), end: bound(end, "(", "-") }
    : { from: bound(start, "[", "-"), end: bound(end, "(", "+") };
}
