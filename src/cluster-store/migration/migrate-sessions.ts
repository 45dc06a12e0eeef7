/**
 * Copies sessions from a single host's store into a cluster: writes the sessions that are missing or differ there, and removes the sessions that the
 * store no longer has. A session's version in the cluster is a hash of its rows, so a later pass reads only eight bytes of each.
 */
import { createHash } from "node:crypto";
import { scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { limits } from "../../limits.js";
import { sessionKey, tokenAt } from "../../store/keys.js";
import { lastSeenMs } from "../../store/session-record.js";
import type { Store } from "../../store/store.js";
import { besideNames, tables } from "../../store/tables.js";
import type { BulkClient } from "../bulk-client.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";
import { furtherRows, indexRow, sessionRow, shardOfSession, shardSlots } from "../keys.js";
import { indexedSessions } from "../sessions/indexed-sessions.js";
import { toRowBeside } from "../sessions/rows-beside.js";
import { eraseCommand, readCommand } from "../sessions/session-commands.js";
import { copySession } from "./migration-scripts.js";

/** Counts of one pass over all sessions. */
interface SessionsPass {
  /** Sessions in the store. */
  readonly sessions: number;
  /** How many of them were missing in the cluster, or differed there, and have been written. */
  readonly copied: number;
  /** Sessions that were in the cluster and are no longer in the store. */
  readonly removed: number;
}

/** A session of the store. */
interface StoredRows {
  /** `sessionKey`. */
  readonly key: Buffer;
  readonly record: Buffer;
  /** In the order of `furtherRows`; empty for a row that does not exist. */
  readonly further: readonly Buffer[];
  /** When it expires, ms. */
  readonly expiresMs: number;
}

const none = Buffer.alloc(0);

/** One per migration; does not copy sessions that expire before it begins. */
export class SessionsMigration {
  readonly #store: Store;
  readonly #bulk: BulkClient;
  readonly #sessionMs: number;
  /** Sessions that expire before this time need no copy. */
  readonly #fromMs: number;

  /** `sessionMs`: how long a session is kept after its last batch. */
  constructor(store: Store, bulk: BulkClient, sessionMs: number) {
    this.#store = store;
    this.#bulk = bulk;
    this.#sessionMs = sessionMs;
    this.#fromMs = Date.now();
  }

  /**
   * Makes one pass. `isWhole` compares each row byte by byte, with its expiry and its place in the index; otherwise only versions are compared.
   * `onPiece` is called with the number of sessions looked at, and may throw to end the pass. Throws `ClusterError`.
   */
  async pass(isWhole: boolean, onPiece: (sessions: number) => void): Promise<SessionsPass> {
    let [sessions, copied] = [0, 0];
    for (let from: Buffer | undefined; ; ) {
      const piece = this.#piece(from);
      if (piece.last === undefined) break;
      from = Buffer.concat([piece.last, Buffer.alloc(1)]);
      sessions += piece.rows.length;
      copied += await this.#copy(piece.rows, isWhole);
      onPiece(sessions);
    }
    return { sessions, copied, removed: await this.#removeGone(() => onPiece(sessions)) };
  }

  /** The next sessions after a key, from one snapshot; `last` is the key of the last one looked at. */
  #piece(from: Buffer | undefined): { readonly rows: StoredRows[]; readonly last: Buffer | undefined } {
    const { root, sessions } = this.#store;
    root.resetReadTxn();
    const range = { limit: limits.clusterPieceRows, ...(from !== undefined && { start: from }) };
    const keys = [...sessions.getKeys(range)].map((key) => Buffer.from(key));
    return { rows: keys.flatMap((key) => this.#rowsOf(key) ?? []), last: keys.at(-1) };
  }

  /** `null` means that it is gone, or about to go. */
  #rowsOf(key: Buffer): StoredRows | null {
    const record = this.#store.sessions.getBinary(key);
    if (record === undefined) return null;
    const expiresMs = (lastSeenMs(record) ?? Number.NaN) + this.#sessionMs;
    // A session that can't be decoded is copied unchanged: `check` reports it on both sides.
    if (expiresMs <= this.#fromMs) return null;
    const further = besideNames.flatMap((table) =>
      tables[table].ofSession.own(key).map((row) => {
        const value: unknown = this.#store[table].get(row);
        return value === undefined ? none : toRowBeside(table, value);
      }),
    );
    return { key, record, further, expiresMs: Number.isNaN(expiresMs) ? this.#fromMs + this.#sessionMs : expiresMs };
  }

  /** Returns how many of them had to be written. */
  async #copy(rows: readonly StoredRows[], isWhole: boolean): Promise<number> {
    const replies = await this.#bulk.read(
      rows.map((each) => (isWhole ? readCommand(each.key) : versionCommand(each.key))),
    );
    const nowMs = Date.now();
    const missing = rows.filter((each, index) => {
      if (each.expiresMs <= nowMs) return false;
      return isWhole ? !isThere(each, replies[index]!, nowMs) : !versionOf(each).equals(bytesOf(replies[index]!));
    });
    await this.#bulk.write(missing.map((each) => copyCommand(each, nowMs)));
    return missing.length;
  }

  /** Removes what was erased, or has expired, since it was copied. */
  async #removeGone(onPiece: () => void): Promise<number> {
    let removed = 0;
    const { root, projects } = this.#store;
    for (const projectId of [...projects.getKeys({})]) {
      for await (const tokens of indexedSessions(this.#bulk, projectId)) {
        root.resetReadTxn();
        const keys = tokens.map((token) => sessionKey(projectId, token));
        const gone = keys.filter((key) => this.#rowsOf(key) === null);
        await this.#bulk.write(gone.map(eraseCommand));
        removed += gone.length;
        onPiece();
      }
    }
    return removed;
  }
}

function versionOf({ record, further }: StoredRows): Buffer {
  const hash = createHash("sha1");
  for (const row of [record, ...further]) hash.update(`${row.length} `).update(row);
  return hash.digest().subarray(0, versionBytes);
}

/** How much the time that a session has left may differ, ms: answers take time, and clocks differ. */
const leftOffMsMax = 60_000;

function isThere({ record, further, expiresMs }: StoredRows, reply: RespReply, nowMs: number): boolean {
  if (!Array.isArray(reply)) return false;
  const [stored, leftMs, isIndexed, ...rows] = reply;
  return (
    bytesOf(stored ?? null)
      .subarray(versionBytes)
      .equals(record) &&
    Number(leftMs) > 0 &&
    Math.abs(Number(leftMs) - (expiresMs - nowMs)) <= leftOffMsMax &&
    isIndexed === 1 &&
    further.every((row, index) => row.equals(bytesOf(rows[index] ?? null)))
  );
}

function bytesOf(reply: RespReply): Buffer {
  return reply instanceof Buffer ? reply : none;
}

function versionCommand(key: Buffer): KeyedCommand {
  const command = ["GETRANGE", sessionRow(key), 0, versionBytes - 1];
  return { command, slot: shardSlots[shardOfSession(key)]! };
}

function copyCommand(rows: StoredRows, nowMs: number): KeyedCommand {
  const { key, record, further, expiresMs } = rows;
  const shard = shardOfSession(key);
  const keys = [sessionRow(key), indexRow(shard, key.readUInt32BE(0)), ...furtherRows(key)];
  const args = [versionOf(rows), record, Math.ceil(expiresMs - nowMs), key.subarray(tokenAt), ...further];
  return scriptCommand(copySession, keys, args, shardSlots[shard]!);
}
