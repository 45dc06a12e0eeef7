/** The keys of the store. Which table has which is in `tables.ts`. Nothing else in the project builds a key. */

import { createHash } from "node:crypto";
import { type AuditEntry, auditLogOfKind, auditLogs } from "../contract/configuration/audit.js";
import { decodeSessionTokenInto, tokenBytes } from "../contract/sessions/session-token.js";
import { type JudgedKind, judgedKinds } from "../contract/traffic/traffic.js";
import { hourMs } from "../contract/values/durations.js";
import { spreadBits } from "../contract/values/hashes.js";
import { limits } from "../limits.js";

/** What the rows of a session are found by. */
export interface SessionKeys {
  readonly projectId: number;
  readonly token: Buffer;
  /** `sessionKey`. */
  readonly key: Buffer;
}

/** Keys of the table `meta` that are not of one module alone. */
export const metaKeys = {
  /** How often address lists were changed, by which readers know that they have to be read again. */
  ipListChanges: "ipListChanges",
  nextId: (kind: string): string => `next:${kind}`,
} as const;

/** Whether a row of `meta` belongs to the configuration. Ids of blocks are given by the cluster itself. */
export function isMirroredMetaKey(key: unknown): boolean {
  if (typeof key !== "string") return false;
  return key === metaKeys.ipListChanges || (key.startsWith("next:") && !key.startsWith("next:block:"));
}

/**
 * Keys of a table with one catalogue: the imported one; how many changes there were, by which readers know it changed; entries that were taken out, where
 * stored rows may still mean them.
 */
export const catalogueKeys = { catalogue: "catalogue", imports: "imports", retired: "retired" } as const;

/** Keys of the table `signed_agents`. Readers know by `changes` that the agents or their keys are others. */
export const signedAgentKeys = {
  list: "list",
  changes: "changes",
  agent: (url: string): SignedAgentKey => ["agent", url],
  keys: (url: string): SignedAgentKey => ["keys", url],
  fetch: (url: string): SignedAgentKey => ["fetch", url],
} as const;
/** A key of the table `signed_agents`: one of the two texts of `signedAgentKeys`, or a row of one agent. */
export type SignedAgentKey = string | [kind: "agent" | "keys" | "fetch", url: string];

/** The kinds of rows of the table `alerting`. A pending delivery is also found without its project and channel. */
export const alertingKinds = { alert: 1, channel: 2, incident: 3, delivery: 4, pending: 5 } as const;
/** Project, kind, channel of a delivery or 0, id. Of `pending`: 0, kind, 0, id of the delivery. */
export type AlertingKey = [project: number, kind: number, channel: number, id: number];

/** What keeps the accounts of one log apart from those of the next. */
const accountsMax = 2 ** 32;

/** The number in keys of a log of an account (`auditLogOfKind`); log 0 has that of the account. */
export function auditLogNumber(accountId: number, log: number): number {
  return accountId + log * accountsMax;
}

/** All logs of an account, or of the server, by their number in keys. */
export function auditLogNumbers(accountId: number): number[] {
  return Array.from({ length: auditLogs }, (_, log) => auditLogNumber(accountId, log));
}

/** The account of a log. */
export function accountOfLog(number: number): number {
  return number % accountsMax;
}

/** The number in keys of the log that keeps a change. */
export function logNumberOf({ accountId, action }: Pick<AuditEntry, "accountId" | "action">): number {
  return auditLogNumber(accountId, auditLogOfKind(action.split(".")[0]!));
}

/** Where the token begins in the key of a session. */
export const tokenAt = 4;
/** Project u32 and token: 25 bytes. */
export const sessionKeyBytes = tokenAt + tokenBytes;

/** Key of a session's record. `token` holds `tokenBytes` bytes. */
export function sessionKey(projectId: number, token: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(sessionKeyBytes);
  key.writeUInt32BE(projectId, 0);
  key.set(token, tokenAt);
  return key;
}

/** The same into `key`, of `sessionKeyBytes`, from a token's text; false when it is no token of ours. */
export function writeSessionKey(key: Buffer, projectId: number, token: string): boolean {
  key.writeUInt32BE(projectId, 0);
  return decodeSessionTokenInto(token, key, tokenAt);
}

/** Key of one generation (0 newer, 1 older) of the request ids a session has shown. */
export function seenIdsKey(session: Uint8Array, generation: 0 | 1): Buffer {
  const key = Buffer.allocUnsafe(sessionKeyBytes + 1);
  key.set(session, 0);
  key[sessionKeyBytes] = generation;
  return key;
}

/** Kinds of `naming_rows`, by their number in keys: a recorded block, an `Idempotency-Key`. */
export const namingKinds = { block: 1, contact: 2 } as const;

/** Key of a row that names another row to a session (`sessionKey`); without `row` the first possible one of this kind. */
export function namingRowKey(session: Uint8Array, kind: number, row: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([session, Buffer.of(kind), row]);
}

const dayMs = limits.idempotencyKeptMs;

/** Day bucket of an idempotency row: a row lives in its day and is looked for in that and the one after. */
export function idempotencyDay(atMs: number): number {
  return Math.floor(atMs / dayMs) & 0xffff;
}

/** Lower bound of the keys that a look-up at `nowMs` can ask for; older ones can go. */
export function idempotencyFrom(nowMs: number): Buffer {
  const key = Buffer.alloc(2);
  key.writeUInt16BE(idempotencyDay(nowMs - dayMs), 0);
  return key;
}

/** Bytes of a key's hash that count: of ten million keys a day two are alike with a chance of 2e-13. LMDB's rows are of even length: 12 cost two more. */
const idempotencyHashBytes = 11;
/** Day u16 and hash: 13 bytes. */
export const idempotencyKeyBytes = 2 + idempotencyHashBytes;
/** In place of such a key, in the record of a session whose first contact had none. */
export const noIdempotencyKey = Buffer.alloc(idempotencyKeyBytes);

/** Key of an `Idempotency-Key` of a project. `hash` holds 11 bytes or more, of which as many count. */
export function idempotencyKey(day: number, projectId: number, hash: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(idempotencyKeyBytes);
  key.writeUInt16BE(day, 0);
  key.set(hash.subarray(0, idempotencyHashBytes), 2);
  key.writeInt32BE(key.readInt32BE(2) ^ spreadBits(projectId), 2);
  return key;
}

/** Second of expiry u32 and nonce: 20 bytes. */
export const solvedChallengeKeyBytes = 4 + 16;

/** Key of a challenge that was solved: by its expiry, so that the old ones are a prefix. `nonce` is 32 hex characters. */
export function solvedChallengeKey(expiresAtMs: number, nonce: string): Buffer {
  const key = Buffer.alloc(solvedChallengeKeyBytes);
  key.writeUInt32BE(Math.floor(expiresAtMs / 1000), 0);
  key.write(nonce, 4, "hex");
  return key;
}

/** Bytes of the hash of whose blocks are tallied. */
const blockSubjectBytes = 12;
/** Minute, project and rule, each u32, then the hash of the subject. */
export const blockTallyKeyBytes = 12 + blockSubjectBytes;
/** Bytes of a tally. */
export const blockTallyBytes = 4 + 6;

/** Key of what was recorded of a subject by a rule in a minute since the epoch. The subject's name is in it as a hash only. */
export function blockTallyKey(minute: number, projectId: number, ruleId: number, subject: string): Buffer {
  const key = blockTalliesFrom(minute);
  key.writeUInt32BE(projectId, 4);
  key.writeUInt32BE(ruleId, 8);
  key.set(createHash("sha256").update(subject).digest().subarray(0, blockSubjectBytes), 12);
  return key;
}

/** First possible key of this minute. */
export function blockTalliesFrom(minute: number): Buffer {
  const key = Buffer.alloc(blockTallyKeyBytes);
  key.writeUInt32BE(minute, 0);
  return key;
}

/** The minute of such a key. */
export function blockTallyMinute(key: Buffer): number {
  return key.readUInt32BE(0);
}

/** First and last (exclusive) key of one project's sessions. */
export function sessionRange(projectId: number): { start: Buffer; end: Buffer } {
  const start = Buffer.alloc(sessionKeyBytes);
  start.writeUInt32BE(projectId, 0);
  const end = Buffer.alloc(sessionKeyBytes);
  end.writeUInt32BE(projectId + 1, 0);
  return { start, end };
}

/** Hour bucket of traffic and cross-session counts. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / hourMs);
}

/** Calendar month of the quota, UTC. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Hour u24 and hash: 11 bytes. */
export const crossSessionKeyBytes = 3 + 8;

/** Key of a cross-session count of this kind, 1 to 4, whose hash is two words. */
export function crossSessionKey(hour: number, kind: number, projectId: number, hash: readonly number[]): Buffer {
  const key = Buffer.allocUnsafe(crossSessionKeyBytes);
  writeCrossSessionHour(key, hour);
  key.writeInt32BE(hash[0]! ^ spreadBits(projectId), 3);
  key.writeInt32BE(hash[1]! ^ spreadBits(kind), 7);
  return key;
}

/** First possible key of this hour. */
export function crossSessionCountsFrom(hour: number): Buffer {
  const key = Buffer.alloc(3);
  writeCrossSessionHour(key, hour);
  return key;
}

/** Makes a cross-session count's key that of another hour, or gives it the first; in the first three bytes of `key`. */
export function writeCrossSessionHour(key: Buffer, hour: number): void {
  key.writeUIntBE(hour, 0, 3);
}

/** Bytes of a writer in a key of what was judged: of its thread 6, a number u24, and one u8. */
export const judgedWriterBytes = 10;
/** Project u32, kind u8, hour u32, writer: 19 bytes. */
export const judgedKeyBytes = 9 + judgedWriterBytes;

/** Key of a writer's row of what was judged in an hour. */
export function judgedKey(name: { projectId: number; kind: JudgedKind; hour: number; writer: Uint8Array }): Buffer {
  const key = Buffer.alloc(judgedKeyBytes);
  key.writeUInt32BE(name.projectId, 0);
  key[4] = judgedKinds.indexOf(name.kind);
  key.writeUInt32BE(name.hour, 5);
  key.set(name.writer, 9);
  return key;
}

/** Hour and writer of such a key. */
export function judgedRow(key: Buffer): { hour: number; writer: Buffer } {
  return { hour: key.readUInt32BE(5), writer: Buffer.from(key.subarray(9)) };
}

/** First and last (exclusive) key of the hours from `fromHour` until `toHour`. */
export function judgedRange(
  projectId: number,
  kind: JudgedKind,
  fromHour: number,
  toHour: number,
): { start: Buffer; end: Buffer } {
  const at = (hour: number): Buffer => judgedKey({ projectId, kind, hour, writer: Buffer.alloc(0) });
  return { start: at(Math.max(0, fromHour)), end: at(Math.max(0, toHour)) };
}

/** Slots of a bucket: with the header of its page (24 bytes) exactly one page of 4 KiB. */
export const pathReuseBucketSlots = 509;

/** Keys of a project's path-reuse index. */
export const pathReuseKeys = {
  bucket: (projectId: number, bucket: number): Buffer => {
    const key = Buffer.allocUnsafe(7);
    key.writeUInt32BE(projectId, 0);
    key[4] = 0;
    key.writeUInt16BE(bucket, 5);
    return key;
  },
  log: (projectId: number, row: number): Buffer => {
    const key = Buffer.allocUnsafe(9);
    key.writeUInt32BE(projectId, 0);
    key[4] = 1;
    key.writeUInt32BE(row, 5);
    return key;
  },
  head: (projectId: number): Buffer => {
    const key = Buffer.allocUnsafe(5);
    key.writeUInt32BE(projectId, 0);
    key[4] = 2;
    return key;
  },
} as const;
