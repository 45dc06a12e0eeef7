/** Marks, changes of the configuration and timelines in a cluster. Blocks are in `cluster-recorded-blocks.ts`. */
import type { ClusterClient } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import type { AuditEntry } from "../../contract/configuration/audit.js";
import type { SessionMark } from "../../contract/sessions/marks.js";
import { decodeSessionToken } from "../../contract/sessions/session-token.js";
import type { Timeline } from "../../contract/sessions/timeline.js";
import { storedRecordMismatch } from "../../contract/validators.js";
import { limits } from "../../limits.js";
import { sessionKey, tokenAt } from "../../store/keys.js";
import type {
  RecordedChanges,
  RecordedMarks,
  RecordedRows,
  RecordedTimelines,
  TimelinePiece,
} from "../../store/recorded-rows.js";
import { areSessionsGone, askAll, onKey, scriptOn, writeAll } from "../cluster-asking.js";
import { trafficKeptMs } from "../ingest/batch-counts.js";
import { newVersion, versionBytes } from "../ingest/cluster-unit-of-work.js";
import {
  auditRow,
  lastAuditField,
  marksRow,
  sessionRow,
  shardOfSession,
  shardSlots,
  timelineIndexRow,
  timelineRow,
} from "../keys.js";
import { unindexTimelines } from "../sessions/session-commands.js";
import { ClusterRecordedBlocks } from "./cluster-recorded-blocks.js";
import { ClusterRecordedJudged } from "./cluster-recorded-judged.js";
import { changesBefore, indexTimelines, putMark, removeMarks, saveTimeline } from "./recorded-row-scripts.js";

/** What all recorded rows of a cluster need; `acks` replicas must have each write. */
interface ClusterRecordedRowsOptions {
  readonly client: ClusterClient;
  readonly acks: number;
  /** How long sessions and their timelines are kept after the last batch, ms. */
  readonly sessionMs: number;
  /** How long blocks and marks are kept, ms. */
  readonly blockMs: number;
  /** How long hourly counts are kept, ms; default: as long as the longest setting. */
  readonly trafficMs?: number | undefined;
  readonly now: () => number;
}

/** All kinds of recorded rows of a cluster, for the store of one thread. */
export function clusterRecordedRows(options: ClusterRecordedRowsOptions): RecordedRows {
  return {
    blocks: new ClusterRecordedBlocks(options),
    marks: new ClusterRecordedMarks(options),
    audit: new ClusterRecordedChanges(options),
    timelines: new ClusterRecordedTimelines(options),
    judged: new ClusterRecordedJudged({ ...options, trafficMs: options.trafficMs ?? trafficKeptMs }),
  };
}

/** Marks of a project are the fields of a hash: by token, the time of the mark and then the mark as JSON. */
class ClusterRecordedMarks implements RecordedMarks {
  readonly #options: ClusterRecordedRowsOptions;

  constructor(options: ClusterRecordedRowsOptions) {
    this.#options = options;
  }

  async find(projectId: number, token: string): Promise<SessionMark | null> {
    const [stored] = await askAll(this.#options.client, [onKey("HGET", marksRow(projectId), token)]);
    return stored instanceof Buffer && !this.#isOld(stored) ? markOf(stored) : null;
  }

  async tokens(projectId: number): Promise<string[]> {
    return (await this.#fields(projectId)).filter(([, stored]) => !this.#isOld(stored)).map(([token]) => token);
  }

  async all(projectId: number): Promise<Iterable<SessionMark>> {
    const fields = (await this.#fields(projectId)).filter(([, stored]) => !this.#isOld(stored));
    return each(fields);
  }

  async put(mark: SessionMark, max: number): Promise<"put" | "full" | "gone"> {
    const { client, acks, blockMs } = this.#options;
    const { projectId, sessionToken } = mark;
    const bytes = decodeSessionToken(sessionToken);
    if (bytes === null) return "gone";
    const row = marksRow(projectId);
    const stored = `${Date.parse(mark.markedAt)} ${JSON.stringify(mark)}`;
    const command = scriptOn(putMark, [row], [sessionToken, stored, max, blockMs]);
    let [isPut] = await writeAll(client, [command], acks);
    if (isPut !== 1 && (await this.#removeOld(projectId))) [isPut] = await writeAll(client, [command], acks);
    if (isPut !== 1) return "full";
    // Checked after the write: a later erasure of a session finds the mark.
    const key = sessionKey(projectId, bytes);
    const there = { command: ["EXISTS", sessionRow(key)], slot: shardSlots[shardOfSession(key)]! };
    const [isThere] = await askAll(client, [there]);
    if (isThere === 1) return "put";
    await askAll(client, [scriptOn(removeMarks, [row], [sessionToken, stored])]);
    return "gone";
  }

  async remove(projectId: number, token: string): Promise<boolean> {
    const { client, acks } = this.#options;
    // Reads what was there first: a removal that is sent again would be answered that there is none.
    const found = await this.find(projectId, token);
    await writeAll(client, [onKey("HDEL", marksRow(projectId), token)], acks);
    return found !== null;
  }

  /** Returns whether any had outlived their time. */
  async #removeOld(projectId: number): Promise<boolean> {
    const old = (await this.#fields(projectId)).filter(([, stored]) => this.#isOld(stored));
    if (old.length === 0) return false;
    await askAll(this.#options.client, [scriptOn(removeMarks, [marksRow(projectId)], old.flat())]);
    return true;
  }

  async #fields(projectId: number): Promise<[token: string, stored: Buffer][]> {
    const [reply] = await askAll(this.#options.client, [onKey("HGETALL", marksRow(projectId))]);
    return pairsOf(reply!);
  }

  #isOld(stored: Buffer): boolean {
    return Number.parseInt(stored.toString("latin1", 0, 16), 10) < this.#options.now() - this.#options.blockMs;
  }
}

function* each(fields: readonly (readonly [string, Buffer])[]): Iterable<SessionMark> {
  for (const [, stored] of fields) yield markOf(stored);
}

function markOf(stored: Buffer): SessionMark {
  return JSON.parse(stored.toString("utf8", stored.indexOf(" ") + 1)) as SessionMark;
}

function pairsOf(reply: RespReply): [field: string, value: Buffer][] {
  const flat = Array.isArray(reply) ? reply : [];
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    String(flat[2 * index]),
    flat[2 * index + 1] as Buffer,
  ]);
}

/** Ids that are asked for at once, most of which may have no change any more: some 100 us. */
const gapsReadMax = 2000;

/** The script that makes the change writes them (`config-scripts.ts`). */
class ClusterRecordedChanges implements RecordedChanges {
  readonly #client: ClusterClient;

  constructor({ client }: ClusterRecordedRowsOptions) {
    this.#client = client;
  }

  async before(log: number, id: number, count: number): Promise<readonly AuditEntry[]> {
    const row = auditRow(log);
    const [reply] = await askAll(this.#client, [onKey("HGET", row, lastAuditField)]);
    const last = Math.min(Number(reply ?? 0), id - 1);
    // Where a user's surplus was removed ids have gaps, of any length.
    for (const span of [count, Math.max(count, gapsReadMax)]) {
      const ids = Array.from({ length: Math.max(0, Math.min(span, last)) }, (_, index) => last - index);
      const found = await this.#entries(row, ids);
      if (found.length >= count || ids.length >= last) return found.slice(0, count);
    }
    const [ids] = await askAll(this.#client, [scriptOn(changesBefore, [row], [last, count])]);
    return this.#entries(row, ids as number[]);
  }

  async remove(log: number, ids: readonly number[]): Promise<void> {
    await askAll(this.#client, [onKey("HDEL", auditRow(log), ...ids)]);
  }

  /** Those of these changes that are kept, in this order. */
  async #entries(row: string, ids: readonly number[]): Promise<AuditEntry[]> {
    if (ids.length === 0) return [];
    const [entries] = await askAll(this.#client, [onKey("HMGET", row, ...ids)]);
    const texts = (Array.isArray(entries) ? entries : []).filter((entry) => entry instanceof Buffer);
    return texts.map((text) => JSON.parse(String(text)) as AuditEntry);
  }
}

/** A timeline is next to its session, after a version; an index of its own lists a project's sessions that have one. */
class ClusterRecordedTimelines implements RecordedTimelines {
  readonly #options: ClusterRecordedRowsOptions;

  constructor(options: ClusterRecordedRowsOptions) {
    this.#options = options;
  }

  async read(key: Buffer): Promise<Timeline | null> {
    const [stored] = await askAll(this.#options.client, [onSession("GET", key)]);
    return stored instanceof Buffer ? timelineOf(stored) : null;
  }

  async fold(pieces: readonly TimelinePiece[], sessionsMax: number): Promise<void> {
    let left = new Map<string, TimelinePiece[]>();
    for (const piece of pieces) {
      const name = piece.key.toString("latin1");
      const known = left.get(name);
      if (known === undefined) left.set(name, [piece]);
      else known.push(piece);
    }
    const written: Buffer[] = [];
    for (let round = 0; left.size > 0 && round <= limits.clusterConflictRounds; round++) {
      left = await this.#foldOnce(left, written);
    }
    const byProject = new Map<number, Buffer[]>();
    for (const key of written) {
      const projectId = key.readUInt32BE(0);
      byProject.set(projectId, [...(byProject.get(projectId) ?? []), key.subarray(tokenAt)]);
    }
    for (const [projectId, tokens] of byProject) await this.#keepLatest(projectId, sessionsMax, tokens);
  }

  async forget(projectIds: Iterable<number>): Promise<void> {
    for (const projectId of projectIds) await this.#keepLatest(projectId, 0, []);
  }

  /** Entries that other nodes wrote at the same time. */
  async #foldOnce(
    sessions: ReadonlyMap<string, TimelinePiece[]>,
    written: Buffer[],
  ): Promise<Map<string, TimelinePiece[]>> {
    const { client, sessionMs } = this.#options;
    const all = [...sessions.values()];
    const stored = await askAll(
      client,
      all.map(([piece]) => onSession("GET", piece!.key)),
    );
    const commands = all.map((pieces, index): KeyedCommand => {
      const { key } = pieces[0]!;
      const before = stored[index] instanceof Buffer ? (stored[index] as Buffer) : null;
      let timeline = before === null ? null : timelineOf(before);
      for (const { fold } of pieces) timeline = fold(timeline);
      const version = before?.subarray(0, versionBytes) ?? Buffer.alloc(0);
      const args = [version, newVersion(), JSON.stringify(timeline), sessionMs];
      return scriptOn(saveTimeline, [sessionRow(key), timelineRow(key)], args);
    });
    const outcomes = await askAll(client, commands);
    const again = new Map<string, TimelinePiece[]>();
    for (const [index, [name, pieces]] of [...sessions].entries()) {
      if (outcomes[index] === 1) written.push(pieces[0]!.key);
      else if (outcomes[index] === 0) again.set(name, pieces);
    }
    return again;
  }

  async #keepLatest(projectId: number, sessionsMax: number, tokens: readonly Buffer[]): Promise<void> {
    const { client, sessionMs } = this.#options;
    const index = timelineIndexRow(projectId);
    const [oldest] = await askAll(client, [scriptOn(indexTimelines, [index], [sessionsMax, sessionMs, ...tokens])]);
    const keys = (Array.isArray(oldest) ? oldest : []).map((token) => sessionKey(projectId, token as Buffer));
    await askAll(
      client,
      keys.map((key) => onSession("DEL", key)),
    );
    // Checked after the write: a later erasure of a session finds it in the index.
    const areGone = await areSessionsGone(
      client,
      tokens.map((token) => sessionKey(projectId, token)),
    );
    const gone = tokens.filter((_, position) => areGone[position]);
    if (gone.length > 0) await askAll(client, [unindexTimelines(projectId, gone)]);
  }
}

function onSession(name: string, key: Buffer): KeyedCommand {
  return { command: [name, timelineRow(key)], slot: shardSlots[shardOfSession(key)]! };
}

/** Null for a damaged one. */
function timelineOf(stored: Buffer): Timeline | null {
  try {
    const timeline = JSON.parse(stored.toString("utf8", versionBytes)) as Timeline;
    return storedRecordMismatch("timeline", timeline) === null ? timeline : null;
  } catch {
    return null;
  }
}
