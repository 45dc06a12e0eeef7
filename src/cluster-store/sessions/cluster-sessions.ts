/** All rows of a session of a cluster, read and erased together, and the number of sessions. */

import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { encodeSessionToken, mintedAtMs } from "../../contract/session-token.js";
import { limits } from "../../limits.js";
import { erasedTokenHash, erasedTokenValue } from "../../store/erased-token.js";
import { idempotencyKey, type SessionKeys, type SessionTable, tokenAt } from "../../store/keys.js";
import type { RemoteRows, RemoteSessions } from "../../store/remote-sessions.js";
import type { Retention } from "../../store/retention.js";
import { BulkClient } from "../bulk-client.js";
import { onKey } from "../cluster-asking.js";
import { ConfigTruth } from "../config/config-truth.js";
import { unavailable } from "../fault-line.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";
import {
  idempotencyRow,
  indexRow,
  marksRow,
  sessionRow,
  shardCount,
  shardOfSession,
  shardSlots,
  shardTags,
  timelineIndexRow,
} from "../keys.js";
import { ClusterRecordedBlocks, eraseBlocks } from "../recorded/cluster-recorded-blocks.js";
import { mastersOf, scanKeys } from "../scan.js";
import { countIndexed } from "../scripts.js";
import { isSweeper, makeRoom, sweepSessions } from "./cluster-sweep.js";
import { eraseCommand, readCommand } from "./session-commands.js";

/** How long a sweep waits for an answer, or for replicas, before it fails: nobody waits for a sweep. */
const sweepPatienceMs = 10_000;
/** How many further rows of a session consist of eight-byte numbers: its seen request ids, the first ones in `furtherRows`. */
const seenIdsRows = 2;

function sum(counts: readonly RespReply[]): number {
  return counts.reduce((all: number, count) => all + Number(count), 0);
}

/** Returns the cluster's answer; throws an `UnavailableError` if there is none. */
async function orUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof ClusterError ? unavailable(error) : error;
  }
}

/** Remember for a day that these sessions were erased: a token that was issued before its session began would begin it again. */
function erasedTokenCommands(sessions: readonly SessionKeys[], nowMs: number): KeyedCommand[] {
  const young = sessions.filter(({ token }) => nowMs - mintedAtMs(token) < limits.issuedTokenMs);
  return young.map(({ projectId, token }) => {
    const row = idempotencyRow(idempotencyKey(0, projectId, erasedTokenHash(token)));
    return { command: ["SET", row, erasedTokenValue(nowMs), "PX", limits.issuedTokenMs], slot: keySlot(row) };
  });
}

/** Whole sessions of a cluster, for threads and commands; an erasure counts once `acks` replicas have it. Rejects with `unavailable`. */
export class ClusterSessions implements RemoteSessions {
  readonly #bulk: BulkClient;
  readonly #sweeping: BulkClient;
  readonly #truth: ConfigTruth;
  readonly #blocks: ClusterRecordedBlocks;

  /** `acks`: replicas that must know that a session is erased. `patienceMs`: how long a caller waits for an answer, or for replicas. */
  constructor(client: ClusterClient, acks: number, patienceMs: number) {
    this.#bulk = new BulkClient(client, acks, patienceMs);
    this.#sweeping = new BulkClient(client, acks, sweepPatienceMs);
    this.#truth = new ConfigTruth(client, acks);
    this.#blocks = new ClusterRecordedBlocks({ client, blockMs: Number.POSITIVE_INFINITY, now: Date.now });
  }

  find(keys: readonly Buffer[]): Promise<Buffer | null> {
    return orUnavailable(this.#find(keys));
  }

  read(session: SessionKeys): Promise<RemoteRows | null> {
    return orUnavailable(this.#read(session));
  }

  erase(sessions: readonly SessionKeys[], onLast: () => Promise<void>): Promise<Record<SessionTable, number>> {
    return orUnavailable(this.#erase(sessions, onLast));
  }

  async #find(keys: readonly Buffer[]): Promise<Buffer | null> {
    const commands = keys.map((key) => ({
      command: ["EXISTS", sessionRow(key)],
      slot: shardSlots[shardOfSession(key)]!,
    }));
    const replies = await this.#bulk.read(commands);
    return keys.find((_, index) => replies[index] === 1) ?? null;
  }

  async #read(session: SessionKeys): Promise<RemoteRows | null> {
    const [reply] = await this.#bulk.read([readCommand(session.key)]);
    const [stored, , , ...further] = Array.isArray(reply) ? reply : [];
    if (!(stored instanceof Buffer)) return null;
    const record = Buffer.from(stored.subarray(versionBytes));
    const seenIds = further.slice(0, seenIdsRows).map((row) => (row instanceof Buffer ? row.length : 0));
    const spilledIds = seenIds.reduce((sum, bytes) => sum + bytes, 0) / 8;
    return { record, spilledIds, idempotencyKeys: (await this.#namingRows([session])).length };
  }

  async #erase(sessions: readonly SessionKeys[], onLast: () => Promise<void>): Promise<Record<SessionTable, number>> {
    const stored = await this.#bulk.read(sessions.map(({ key }) => readCommand(key)));
    await this.#bulk.write(erasedTokenCommands(sessions, Date.now()));
    // The record goes last, so that an interrupted erasure can be repeated.
    const naming = await this.#namingRows(sessions);
    await this.#bulk.write(naming.map((row) => ({ command: ["DEL", row], slot: keySlot(row) })));
    const before = await this.#eraseLogs(sessions);
    await onLast();
    await this.#bulk.write(sessions.map(({ key }) => eraseCommand(key)));
    // Once more: a writer of a block or a mark checks after its write whether the session exists.
    const after = await this.#eraseLogs(sessions);
    // Counted by what was there: the answer to a command that erased may be lost.
    const records = stored.map((reply) => (Array.isArray(reply) ? reply[0] : null));
    const further = stored.map((reply) => (Array.isArray(reply) ? reply.slice(3) : []));
    const rows = further.flatMap((each) => each.slice(0, seenIdsRows));
    return {
      sessions: records.filter((record) => record instanceof Buffer).length,
      repeats: rows.filter((row) => row instanceof Buffer).length,
      idempotency: naming.length,
      blocks: before.blocks + after.blocks,
      marks: before.marks + after.marks,
      trails: further.filter((each) => each[seenIdsRows] instanceof Buffer).length,
    };
  }

  /** Returns the rows of the project that name one of these sessions: blocks, marks, and their places in the timeline index. */
  async #eraseLogs(sessions: readonly SessionKeys[]): Promise<{ readonly blocks: number; readonly marks: number }> {
    const byProject = new Map<number, SessionKeys[]>();
    for (const each of sessions) byProject.set(each.projectId, [...(byProject.get(each.projectId) ?? []), each]);
    let [blocks, marks] = [0, 0];
    for (const [projectId, own] of byProject) {
      const texts = own.map(({ token }) => encodeSessionToken(token));
      const index = timelineIndexRow(projectId);
      marks += sum(await this.#bulk.write(texts.map((text) => onKey("HDEL", marksRow(projectId), text))));
      await this.#bulk.write(own.map(({ token }) => onKey("ZREM", index, token)));
      const named = new Set<string | null>(texts);
      for await (const page of this.#blocks.stored(projectId)) {
        const ids = page.filter(({ sessionToken }) => named.has(sessionToken)).map(({ id }) => id);
        await this.#bulk.write(eraseBlocks(projectId, ids));
        blocks += ids.length;
      }
    }
    return { blocks, marks };
  }

  async sweep(
    projectIds: readonly number[],
    retention: Pick<Retention, "sessionMs" | "sessionsMax">,
    nowMs: number,
    isStopping: () => boolean,
  ): Promise<number | null> {
    if (!(await isSweeper(this.#sweeping))) return null;
    let swept = 0;
    for (const projectId of projectIds) {
      swept += await sweepSessions(this.#sweeping, projectId, retention, nowMs, isStopping);
      swept += await makeRoom(this.#sweeping, projectId, await this.count([projectId]), retention, isStopping);
    }
    return swept;
  }

  async count(projectIds: readonly number[]): Promise<number> {
    if (projectIds.length === 0) return 0;
    const commands = Array.from({ length: shardCount }, (_, shard) => {
      const rows = projectIds.map((projectId) => indexRow(shard, projectId));
      return scriptCommand(countIndexed, rows, [], shardSlots[shard]!);
    });
    return sum(await orUnavailable(this.#bulk.read(commands)));
  }

  /**
   * Removes the rows that hold one of the tokens: rows of an `Idempotency-Key` or of a solved challenge, which expire within a day. It finds them by
   * a scan of the keys of the shards' masters, which takes some seconds for ten million.
   */
  async #namingRows(sessions: readonly SessionKeys[]): Promise<Buffer[]> {
    const tokens = new Set(sessions.map(({ key }) => key.toString("latin1", tokenAt)));
    const shards = [...new Set(sessions.map(({ key }) => shardOfSession(key)))];
    const owners = shards.map((shard) => this.#bulk.client.shardOf(shardSlots[shard]!)?.master);
    // A row that was copied from one host is in the shard of its hash, not in the session's shard.
    const isCopied =
      Date.now() - (await this.#truth.migration(this.#bulk.patienceMs)).doneMs < 2 * limits.idempotencyKeptMs;
    // So is that of a session whose token was issued before its key was known.
    const nowMs = Date.now();
    const isYoung = sessions.some(({ token }) => nowMs - mintedAtMs(token) < 2 * limits.idempotencyKeptMs);
    const isAnywhere = isCopied || isYoung || owners.includes(undefined);
    const masters = isAnywhere ? mastersOf(this.#bulk) : [...new Set(owners)].filter((each) => each !== undefined);
    const tag = isAnywhere || shards.length > 1 ? "*" : shardTags[shards[0]!]!;
    const found = new Map<string, Buffer>();
    for await (const { keys } of scanKeys(this.#bulk, `vd{${tag}}[im]*`, masters)) {
      const values = await this.#bulk.read(keys.map((row) => ({ command: ["GET", row], slot: keySlot(row) })));
      for (const [index, value] of values.entries()) {
        const row = keys[index]!;
        if (value instanceof Buffer && tokens.has(value.toString("latin1"))) {
          found.set(row.toString("latin1"), Buffer.from(row));
        }
      }
    }
    return [...found.values()];
  }
}
