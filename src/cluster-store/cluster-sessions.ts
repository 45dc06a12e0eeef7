/** All rows of a session of a cluster, read and erased together, and the number of sessions. */
import { type ClusterClient, scriptCommand } from "../cluster/cluster-client.js";
import { keySlot } from "../cluster/slots.js";
import { limits } from "../limits.js";
import type { Retention } from "../store/expiry.js";
import { tokenAt } from "../store/keys.js";
import type { RemoteRows, RemoteSessions } from "../store/remote-sessions.js";
import type { SessionKeys, SessionTable } from "../store/session-erasure.js";
import { BulkClient } from "./bulk-client.js";
import { isSweeper, makeRoom, sweepSessions } from "./cluster-sweep.js";
import { versionBytes } from "./cluster-unit.js";
import { ConfigTruth } from "./config-truth.js";
import { indexRow, sessionRow, shardCount, shardOfSession, shardSlots, shardTags } from "./keys.js";
import { mastersOf, scanKeys } from "./scan.js";
import { countIndexed } from "./scripts.js";
import { eraseCommand, readCommand } from "./session-commands.js";

/** How long somebody waits for an answer, or for replicas, before that is a failure. */
const patienceMs = 10_000;
/** How many rows of a session are numbers of eight bytes: its seen request ids, as `furtherRows` begins. */
const seenIdsRows = 2;

export class ClusterSessions implements RemoteSessions {
  readonly #bulk: BulkClient;
  readonly #truth: ConfigTruth;

  /** `acks`: replicas that must know that a session is erased. */
  constructor(client: ClusterClient, acks: number) {
    this.#bulk = new BulkClient(client, acks, patienceMs);
    this.#truth = new ConfigTruth(client, acks);
  }

  async find(keys: readonly Buffer[]): Promise<Buffer | null> {
    const commands = keys.map((key) => ({
      command: ["EXISTS", sessionRow(key)],
      slot: shardSlots[shardOfSession(key)]!,
    }));
    const replies = await this.#bulk.read(commands);
    return keys.find((_, index) => replies[index] === 1) ?? null;
  }

  async read(session: SessionKeys): Promise<RemoteRows | null> {
    const [reply] = await this.#bulk.read([readCommand(session.key)]);
    const [stored, , , ...further] = Array.isArray(reply) ? reply : [];
    if (!(stored instanceof Buffer)) return null;
    const record = Buffer.from(stored.subarray(versionBytes));
    const seenIds = further.slice(0, seenIdsRows).map((row) => (row instanceof Buffer ? row.length : 0));
    const spilledIds = seenIds.reduce((sum, bytes) => sum + bytes, 0) / 8;
    return { record, spilledIds, idempotencyKeys: (await this.#namingRows([session])).length };
  }

  async erase(sessions: readonly SessionKeys[]): Promise<Record<SessionTable, number>> {
    const stored = await this.#bulk.read(sessions.map(({ key }) => readCommand(key)));
    // The record goes last: ended on the way, this can be asked again.
    const naming = await this.#namingRows(sessions);
    await this.#bulk.write(naming.map((row) => ({ command: ["DEL", row], slot: keySlot(row) })));
    const erased = await this.#bulk.write(sessions.map(({ key }) => eraseCommand(key)));
    const rows = stored.flatMap((reply) => (Array.isArray(reply) ? reply.slice(3, 3 + seenIdsRows) : []));
    return {
      sessions: erased.reduce((sum: number, count) => sum + Number(count), 0),
      repeats: rows.filter((row) => row instanceof Buffer).length,
      idempotency: naming.length,
      blocks: 0,
      marks: 0,
      trails: 0,
    };
  }

  async sweep(
    projectIds: readonly number[],
    retention: Pick<Retention, "sessionMs" | "sessionsMax">,
    nowMs: number,
    isStopping: () => boolean,
  ): Promise<number | null> {
    if (!(await isSweeper(this.#bulk))) return null;
    let swept = 0;
    for (const projectId of projectIds) {
      swept += await sweepSessions(this.#bulk, projectId, retention, nowMs, isStopping);
      swept += await makeRoom(this.#bulk, projectId, await this.count([projectId]), retention, isStopping);
    }
    return swept;
  }

  async count(projectIds: readonly number[]): Promise<number> {
    if (projectIds.length === 0) return 0;
    const commands = Array.from({ length: shardCount }, (_, shard) => {
      const rows = projectIds.map((projectId) => indexRow(shard, projectId));
      return scriptCommand(countIndexed, rows, [], shardSlots[shard]!);
    });
    const counts = await this.#bulk.read(commands);
    return counts.reduce((sum: number, count) => sum + Number(count), 0);
  }

  /**
   * Rows that hold one of their tokens: those of an `Idempotency-Key` or of a solved challenge, which expire within a day. Found by a scan of the keys
   * of the shards' masters: some seconds for ten million.
   */
  async #namingRows(sessions: readonly SessionKeys[]): Promise<Buffer[]> {
    const tokens = new Set(sessions.map(({ key }) => key.toString("latin1", tokenAt)));
    const shards = [...new Set(sessions.map(({ key }) => shardOfSession(key)))];
    const owners = shards.map((shard) => this.#bulk.client.shardOf(shardSlots[shard]!)?.master);
    // What was copied from one host lies in the shard of its hash, not in that of the session.
    const isCopied = Date.now() - (await this.#truth.migration()).doneMs < 2 * limits.idempotencyKeptMs;
    const isAnywhere = isCopied || owners.includes(undefined);
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
