/** All rows of a session of a cluster, read and erased together, and the number of sessions. */

import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { encodeSessionToken, mintedAtMs } from "../../contract/sessions/session-token.js";
import { limits } from "../../limits.js";
import { erasedTokenHash, erasedTokenValue } from "../../store/erased-token.js";
import { idempotencyKey, noIdempotencyKey, type SessionKeys } from "../../store/keys.js";
import type { RemoteRows, RemoteSessions } from "../../store/remote-sessions.js";
import type { Retention } from "../../store/retention.js";
import { contactKeyOf, firstSeenMs } from "../../store/session-record.js";
import type { SessionTable } from "../../store/tables.js";
import { BulkClient } from "../bulk-client.js";
import { onKey } from "../cluster-asking.js";
import { unavailable } from "../fault-line.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";
import { idempotencyRow, indexRow, marksRow, sessionRow, shardCount, shardOfSession, shardSlots } from "../keys.js";
import { ClusterRecordedBlocks, eraseBlocks } from "../recorded/cluster-recorded-blocks.js";
import { scanKeys } from "../scan.js";
import { countIndexed, rememberErasure } from "../scripts.js";
import { isSweeper, makeRoom, sweepSessions } from "./cluster-sweep.js";
import { countBeside, shownIn } from "./rows-beside.js";
import { eraseCommand, readCommand, unindexTimelines } from "./session-commands.js";

/** How long a sweep waits for an answer, or for replicas, before it fails: nobody waits for a sweep. */
const sweepPatienceMs = 10_000;

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
    return scriptCommand(rememberErasure, [row], [erasedTokenValue(nowMs), limits.issuedTokenMs], keySlot(row));
  });
}

/** Whole sessions of a cluster, for threads and commands; an erasure counts once `acks` replicas have it. Rejects with `unavailable`. */
export class ClusterSessions implements RemoteSessions {
  readonly #bulk: BulkClient;
  readonly #sweeping: BulkClient;
  readonly #blocks: ClusterRecordedBlocks;

  /** `acks`: replicas that must know that a session is erased. `patienceMs`: how long a caller waits for an answer, or for replicas. */
  constructor(client: ClusterClient, acks: number, patienceMs: number) {
    this.#bulk = new BulkClient(client, acks, patienceMs);
    this.#sweeping = new BulkClient(client, acks, sweepPatienceMs);
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
    const [reply = null] = await this.#bulk.read([readCommand(session.key)]);
    const record = recordOf(reply);
    if (record === null) return null;
    return { record, beside: shownIn(reply), idempotencyKeys: (await this.#namingRows([session], [reply])).length };
  }

  async #erase(sessions: readonly SessionKeys[], onLast: () => Promise<void>): Promise<Record<SessionTable, number>> {
    const stored = await this.#bulk.read(sessions.map(({ key }) => readCommand(key)));
    await this.#bulk.write(erasedTokenCommands(sessions, Date.now()));
    // The record goes last, so that an interrupted erasure can be repeated.
    const naming = await this.#namingRows(sessions, stored);
    await this.#bulk.write(naming.map((row) => ({ command: ["DEL", row], slot: keySlot(row) })));
    const before = await this.#eraseLogs(sessions);
    await onLast();
    await this.#bulk.write(sessions.map(({ key }) => eraseCommand(key)));
    // Once more: a writer of a block or a mark checks after its write whether the session exists.
    const after = await this.#eraseLogs(sessions);
    // Counted by what was there: the answer to a command that erased may be lost.
    return {
      sessions: stored.filter((reply) => Array.isArray(reply) && reply[0] instanceof Buffer).length,
      ...countBeside(stored),
      idempotency: naming.length,
      blocks: before.blocks + after.blocks,
      marks: before.marks + after.marks,
    };
  }

  /** Returns the rows of the project that name one of these sessions: blocks, marks, and their places in the timeline index. */
  async #eraseLogs(sessions: readonly SessionKeys[]): Promise<{ readonly blocks: number; readonly marks: number }> {
    const byProject = new Map<number, SessionKeys[]>();
    for (const each of sessions) byProject.set(each.projectId, [...(byProject.get(each.projectId) ?? []), each]);
    let [blocks, marks] = [0, 0];
    for (const [projectId, own] of byProject) {
      const texts = own.map(({ token }) => encodeSessionToken(token));
      marks += sum(await this.#bulk.write(texts.map((text) => onKey("HDEL", marksRow(projectId), text))));
      const tokens = own.map(({ token }) => token);
      await this.#bulk.write([unindexTimelines(projectId, tokens)]);
      const ids = await this.#blocks.idsOf(projectId, texts);
      await this.#bulk.write(eraseBlocks(projectId, ids, texts));
      blocks += ids.length;
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
   * Returns the rows of an `Idempotency-Key` that lead to these sessions, whose `readCommand`s have these answers. The record says which it is; where it
   * does not, as in those that builds before schema 7 wrote, the keys of all masters are scanned as long as there can be one: some seconds for ten million.
   */
  async #namingRows(sessions: readonly SessionKeys[], stored: readonly RespReply[]): Promise<Buffer[]> {
    const found: Buffer[] = [];
    const unknown = new Set<string>();
    const contacts: { readonly row: Buffer; readonly token: Uint8Array }[] = [];
    for (const [index, { token }] of sessions.entries()) {
      const record = recordOf(stored[index]!);
      if (record === null) continue;
      const contactKey = contactKeyOf(record);
      const isYoung = Date.now() - (firstSeenMs(record) ?? 0) < 2 * limits.idempotencyKeptMs;
      if (contactKey === null && isYoung) unknown.add(Buffer.from(token).toString("latin1"));
      if (contactKey === null || contactKey.equals(noIdempotencyKey)) continue;
      contacts.push({ row: idempotencyRow(contactKey), token });
    }
    const values = await this.#bulk.read(contacts.map(({ row }) => ({ command: ["GET", row], slot: keySlot(row) })));
    for (const [index, { row, token }] of contacts.entries()) {
      const value = values[index];
      // The key may have been sent again, a day later, by another session.
      if (value instanceof Buffer && value.equals(token)) found.push(row);
    }
    if (unknown.size > 0) found.push(...(await this.#scannedRows(unknown)));
    return found;
  }

  /** Returns the rows of an `Idempotency-Key` that hold one of the tokens (latin1). */
  async #scannedRows(tokens: ReadonlySet<string>): Promise<Buffer[]> {
    const found = new Map<string, Buffer>();
    for await (const { keys } of scanKeys(this.#bulk, "vd{*}i*")) {
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

/** Returns the record in the answer to `readCommand`, a copy; null if there is none. */
function recordOf(reply: RespReply | undefined): Buffer | null {
  const stored = Array.isArray(reply) ? reply[0] : null;
  return stored instanceof Buffer ? Buffer.from(stored.subarray(versionBytes)) : null;
}
