/**
 * What a single host's store keeps besides sessions and configuration as rows of a cluster: `Idempotency-Key`s, counts by month and hour, paths. Writes only
 * those that differ there.
 */

import { scriptCommand } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import type { Traffic } from "../../contract/configuration/entities.js";
import { mintedAtMs, tokenBytes } from "../../contract/sessions/session-token.js";
import { judgedKinds } from "../../contract/traffic/traffic.js";
import { hourMs } from "../../contract/values/durations.js";
import { storedPaths } from "../../ingest/lmdb-path-reuse-index.js";
import { limits } from "../../limits.js";
import { judgedKeptMs } from "../../store/judged-rows.js";
import { hourOf, judgedRow } from "../../store/keys.js";
import type { Store } from "../../store/store.js";
import type { BulkClient } from "../bulk-client.js";
import { usageKeptMs } from "../ingest/batch-counts.js";
import { pathsKeptMs } from "../ingest/cluster-path-reuse-index.js";
import { idempotencyRow, judgedHourRow, partCount, pathRows, trafficRow, usageRow } from "../keys.js";
import { fieldsOf } from "../recorded/cluster-hourly-counts.js";
import { copyField, copyHash, copyPaths } from "./migration-scripts.js";

/** How many rows the store has, and how many of them had to be written. */
export interface RowsPass {
  readonly rows: number;
  readonly copied: number;
}

/** A row in its target state: the command that reads it, whether the answer matches, and the command that writes it. */
export interface WantedRow {
  readonly read: KeyedCommand;
  readonly isThere: (reply: RespReply) => boolean;
  readonly write: KeyedCommand;
}

interface Table<V, K> {
  getKeys(range: object): Iterable<K>;
  get(key: K): V | undefined;
}

/** All rows of a table, read in pieces from a snapshot: none is open while the migration waits for the cluster. */
function* rowsOfTable<V, K>({ root }: Store, table: Table<V, K>): Generator<{ key: K; value: V }> {
  for (let from: K | undefined; ; ) {
    root.resetReadTxn();
    const range = { limit: limits.sweepRowsMax, ...(from !== undefined && { start: from, exclusiveStart: true }) };
    const keys = [...table.getKeys(range)];
    const rows = keys.map((key) => ({ key: copied(key), value: table.get(key) }));
    for (const { key, value } of rows) if (value !== undefined) yield { key, value: copied(value) };
    from = rows.at(-1)?.key;
    if (from === undefined) return;
  }
}

/** Copies the bytes, because lmdb-js overwrites them on its next read. */
function copied<T>(value: T): T {
  return value instanceof Buffer ? (Buffer.from(value) as T & Buffer) : value;
}

/** A hash with these fields and no others; `keptMs` 0 means that it does not expire. */
export function wantedHash(
  row: string,
  fields: readonly (readonly [string, string | number])[],
  keptMs: number,
): WantedRow {
  const slot = keySlot(row);
  return {
    read: { command: ["HGETALL", row], slot },
    isThere: (reply) => isHash(reply, fields),
    write: scriptCommand(copyHash, [row], [keptMs, ...fields.flat()], slot),
  };
}

function isHash(reply: RespReply, fields: readonly (readonly [string, string | number])[]): boolean {
  if (!Array.isArray(reply) || reply.length !== 2 * fields.length) return false;
  const stored = new Map<string, string>();
  for (let at = 0; at < reply.length; at += 2) stored.set(String(reply[at]), String(reply[at + 1]));
  return fields.every(([field, value]) => stored.get(field) === String(value));
}

/** Writes the rows that differ from their target state, a piece at a time: so many rows or bytes. */
export async function copyRows(
  bulk: Pick<BulkClient, "read" | "write">,
  wanted: Iterable<WantedRow>,
  onPiece: () => void,
): Promise<RowsPass> {
  let [rows, copied] = [0, 0];
  let piece: WantedRow[] = [];
  let pieceBytes = 0;
  const copyPiece = async (): Promise<void> => {
    const replies = await bulk.read(piece.map(({ read }) => read));
    const missing = piece.filter(({ isThere }, index) => !isThere(replies[index]!));
    await bulk.write(missing.map(({ write }) => write));
    rows += piece.length;
    copied += missing.length;
    piece = [];
    pieceBytes = 0;
    onPiece();
  };
  for (const row of wanted) {
    const bytes = bytesOf(row.write);
    if (piece.length > 0 && pieceBytes + bytes > limits.clusterPieceBytes) await copyPiece();
    piece.push(row);
    pieceBytes += bytes;
    if (piece.length >= limits.clusterPieceRows) await copyPiece();
  }
  if (piece.length > 0) await copyPiece();
  return { rows, copied };
}

/** Bytes of the arguments that can be long. */
function bytesOf({ command }: KeyedCommand): number {
  return command.reduce<number>((sum, argument) => sum + (typeof argument === "number" ? 0 : argument.length), 0);
}

/** First contacts with an `Idempotency-Key` that is still valid. */
export function* wantedIdempotency(store: Store): Generator<WantedRow> {
  const nowMs = Date.now();
  for (const { key, value } of rowsOfTable(store, store.idempotency)) {
    const leftMs = value.length === tokenBytes ? Math.ceil(mintedAtMs(value) + limits.idempotencyKeptMs - nowMs) : 0;
    if (leftMs <= 0) continue;
    const row = idempotencyRow(key);
    const slot = keySlot(row);
    yield {
      read: { command: ["GET", row], slot },
      isThere: (reply) => reply instanceof Buffer && reply.equals(value),
      write: { command: ["SET", row, value, "PX", leftMs], slot },
    };
  }
}

/** Counts of accounts' events by month. */
export function* wantedUsage(store: Store): Generator<WantedRow> {
  for (const { key, value } of rowsOfTable(store, store.usage)) {
    const [accountId, month] = key;
    // Only the current month is ever read.
    const untilMs = Date.parse(`${month}-01T00:00:00Z`) + usageKeptMs;
    if (untilMs <= Date.now()) continue;
    const row = usageRow(accountId, 0, month);
    const slot = keySlot(row);
    yield {
      read: { command: ["GET", row], slot },
      isThere: (reply) => Number(reply ?? Number.NaN) === value,
      write: { command: ["SET", row, value, "PX", usageKeptMs], slot },
    };
  }
}

/** Counts of projects by hour, as far back as `trafficMs`. */
export function* wantedTraffic(store: Store, trafficMs: number): Generator<WantedRow> {
  const nowMs = Date.now();
  const fromHour = hourOf(nowMs - trafficMs);
  for (const { key, value } of rowsOfTable(store, store.traffic)) {
    const [projectId, hour] = key;
    const fields = fieldsOf(value satisfies Traffic);
    if (hour <= fromHour || fields.length === 0) continue;
    const leftMs = Math.ceil((hour + 1) * hourMs + trafficMs - nowMs);
    yield wantedHash(trafficRow(projectId, 0, hour), fields, leftMs);
  }
}

/** What was judged, as long as it is kept. */
export function* wantedJudged(
  store: Store,
  times: { readonly sessionMs: number; readonly trafficMs: number },
): Generator<WantedRow> {
  const nowMs = Date.now();
  for (const { key, value } of rowsOfTable(store, store.judged)) {
    const kind = judgedKinds[key[4]!];
    if (kind === undefined) continue;
    const { hour, writer } = judgedRow(key);
    const leftMs = Math.ceil((hour + 1) * hourMs + judgedKeptMs(kind, times) - nowMs);
    if (leftMs <= 0) continue;
    const row = judgedHourRow(key.readUInt32BE(0), kind, hour);
    const slot = keySlot(row);
    yield {
      read: { command: ["HGET", row, writer], slot },
      isThere: (reply) => reply instanceof Buffer && reply.equals(value),
      write: scriptCommand(copyField, [row], [leftMs, writer, value], slot),
    };
  }
}

/** Pointer paths that sessions have shown, a sixteenth in each part. */
export function* wantedPaths(store: Store): Generator<WantedRow> {
  for (const projectId of [...store.projects.getKeys({})])
    yield* wantedPathsOf(storedPaths(store, projectId), projectId);
}

function* wantedPathsOf(words: Uint32Array, projectId: number): Generator<WantedRow> {
  if (words.length === 0) return;
  const perPart = 2 * Math.ceil(words.length / 2 / partCount);
  for (let part = 0; part < partCount; part++) {
    const rows = pathRows(projectId, part);
    const slot = keySlot(rows[0]);
    const own = words.slice(part * perPart, (part + 1) * perPart);
    const pairs = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
    yield {
      read: { command: ["GET", rows[1]], slot },
      isThere: (reply) => (reply instanceof Buffer ? reply.equals(pairs) : pairs.length === 0 && reply === null),
      write: scriptCommand(copyPaths, rows, [pairs, pathsKeptMs], slot),
    };
  }
}
