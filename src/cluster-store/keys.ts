/**
 * All key layouts of the cluster's rows. Each starts with a hash tag, which says the slot: all rows of a shard lie together, so that a
 * session is written at once; counters are spread by a tag of their own. Nothing else in the project builds a key of the cluster.
 */
import { keySlot, slotsOfCluster } from "../cluster/slots.js";
import { type JudgedKind, judgedKinds } from "../contract/traffic/traffic.js";
import { seenIdsKey } from "../store/keys.js";
import { type BesideTable, besideNames, tables } from "../store/tables.js";

/** What is in which row is told in `rows/row-kinds.ts`. Numbers in binary keys are big-endian, as in the store of one host. */
export const shardCount = 256;
/** Number of parts of a key that every batch writes to. */
export const partCount = 16;

/** The hash tag of each shard: the lowest number with a slot in each of 256 equal ranges of slots. */
export const shardTags: readonly string[] = tagsOfShards();

function tagsOfShards(): string[] {
  const tags = new Array<string>(shardCount);
  for (let number = 0, found = 0; found < shardCount; number++) {
    const shard = Math.floor(keySlot(String(number)) / (slotsOfCluster / shardCount));
    if (tags[shard] !== undefined) continue;
    tags[shard] = String(number);
    found++;
  }
  return tags;
}

/** The slot of each shard. */
export const shardSlots: readonly number[] = shardTags.map((tag) => keySlot(tag));

/** Position of the shard in the key of a session (`sessionKey`): after the project (u32), the fifth byte of the token. */
const shardAt = 8;

/** The shard of a session, by its `sessionKey`. */
export function shardOfSession(sessionKey: Uint8Array): number {
  return sessionKey[shardAt]!;
}

const prefixes = (letter: string): readonly Buffer[] => shardTags.map((tag) => Buffer.from(`vd{${tag}}${letter}`));
const idempotencyPrefixes = prefixes("i");
const ownPrefixes = Object.fromEntries(
  (["sessions", ...besideNames] as const).map((table) => [table, prefixes(tables[table].ofSession.letter)]),
) as Record<"sessions" | BesideTable, readonly Buffer[]>;

/** A row of a session's own; `key` is the one on a single host. */
function ownRow(table: "sessions" | BesideTable, key: Buffer): Buffer {
  return Buffer.concat([ownPrefixes[table][shardOfSession(key)]!, key]);
}

/** The row of a session, from its `sessionKey`. */
export function sessionRow(sessionKey: Buffer): Buffer {
  return ownRow("sessions", sessionKey);
}

/** The row of one generation of the request ids that a session has seen. */
export function seenIdsRow(sessionKey: Buffer, generation: 0 | 1): Buffer {
  return ownRow("repeats", seenIdsKey(sessionKey, generation));
}

/** The row of a session's timeline. */
export function timelineRow(sessionKey: Buffer): Buffer {
  return ownRow("trails", sessionKey);
}

/** Returns all rows of a session beside its record, by table. They are written and erased together with it. Its request ids expire with it. */
export function furtherRows(sessionKey: Buffer): Buffer[] {
  return besideNames.flatMap((table) => tables[table].ofSession.own(sessionKey).map((key) => ownRow(table, key)));
}

/** Position of the shard of an `Idempotency-Key`: in a hash, and in `idempotencyKey` after two bytes of the day. */
const hashShardAt = 10;

/** The shard of a session that is minted for the `Idempotency-Key` of this hash. */
export function shardOfHash(hash: Uint8Array): number {
  return hash[hashShardAt]!;
}

/** The row of an `Idempotency-Key`, in the shard of its session. `key` is `idempotencyKey`; its day is ignored, because rows expire. */
export function idempotencyRow(key: Buffer): Buffer {
  return Buffer.concat([idempotencyPrefixes[key[2 + hashShardAt]!]!, key.subarray(2)]);
}

/** The mark of something that may count only once for a session of this shard. */
export function markRow(shard: number, nonce: string): string {
  return `vd{${shardTags[shard]}}m:${nonce}`;
}

/** The index of a project's sessions in a shard. */
export function indexRow(shard: number, projectId: number): string {
  return `vd{${shardTags[shard]}}x:${projectId}`;
}

/** The count of an hour across sessions; both hours that are read lie in one slot. `hash` is two words. */
export function crossSessionRow(kind: number, projectId: number, hash: readonly number[], hour: number): string {
  const name = `${(hash[0]! >>> 0).toString(36)}.${(hash[1]! >>> 0).toString(36)}`;
  return `vd{c${projectId}.${name}}${kind}:${hour}`;
}

/** A part, 0 to 15, of an account's events in a month. */
export function usageRow(accountId: number, part: number, month: string): string {
  return `vd{u${accountId}.${part}}${month}`;
}

/** A part, 0 to 15, of a project's counts in an hour since the epoch. */
export function trafficRow(projectId: number, part: number, hour: number): string {
  return `vd{p${projectId}.${part}}h:${hour}`;
}

/** The rows of all writers of what was judged in an hour. */
export function judgedHourRow(projectId: number, kind: JudgedKind, hour: number): string {
  return `vd{j${projectId}.${judgedKinds.indexOf(kind)}}h:${hour}`;
}

/** The rows of a part of a project's paths: the number of the current log, and both logs. */
export function pathRows(projectId: number, part: number): readonly [head: string, even: string, odd: string] {
  const head = `vd{p${projectId}.${part}}paths`;
  return [head, `${head}:0`, `${head}:1`];
}

/** The index of a project's sessions that have a timeline. */
export function timelineIndexRow(projectId: number): string {
  return `vd{t${projectId}}`;
}

/** The marks of a project. */
export function marksRow(projectId: number): string {
  return `vd{k${projectId}}`;
}

/** Number of recorded block ids in a segment: as many as one write stores, so that a write needs at most two segments. */
export const blockSegmentIds = 256;

/** Fields of a segment besides those of its blocks: how many blocks are named to their sessions, and the ids of those of a session. */
export const blockFields = {
  named: "n",
  ofSession: (token: string): string => `s:${token}`,
} as const;

/** The segment of a block. */
export function blockSegmentOf(id: number): number {
  return Math.floor(Math.max(0, id) / blockSegmentIds);
}

/** How many ids of a segment have been given to blocks, where `last` is the last one. */
export function blocksInSegment(segment: number, last: number): number {
  const [first, end] = [Math.max(1, segment * blockSegmentIds), Math.min(last, (segment + 1) * blockSegmentIds - 1)];
  return Math.max(0, end - first + 1);
}

/** The rows of a project's recorded blocks. */
export function blockRows(projectId: number) {
  const prefix = `vd{b${projectId}}`;
  return {
    last: `${prefix}last`,
    segment: (number: number): string => `${prefix}s:${number}`,
    tally: (key: Buffer): string => `${prefix}t:${key.toString("base64url")}`,
    write: (writer: string): string => `${prefix}w:${writer}`,
  };
}

const writtenTags = new Map<number, string>();
let writtenTagsTried = 0;

/** A row of this slot that is only written so that replicas acknowledge it, and with it what the master has written before. */
export function writtenRow(slot: number): string {
  for (let tag = writtenTags.get(slot); ; tag = writtenTags.get(slot)) {
    if (tag !== undefined) return `vd{${tag}}`;
    const next = `w${writtenTagsTried++}`;
    if (!writtenTags.has(keySlot(next))) writtenTags.set(keySlot(next), next);
  }
}

/** Changes of an account's configuration, in the slot of the configuration. */
export function auditRow(log: number): string {
  return `vd{config}audit:${log}`;
}

/** The field with the last id. */
export const lastAuditField = "last";

/** The row with the node that does the work of this name for all nodes. */
export function leaseRow(name: string): string {
  return `vd{config}lease:${name}`;
}

/** The row with what nodes tell each other of a minute since the epoch; rows are spread over the slots. */
export function nodeReportsRow(minute: number): string {
  return `vd{n-${minute % 16}}reports:${minute}`;
}

/** The configuration, in one slot: its head, its rows, its latest changes, the nodes that follow it. */
export const configKeys = {
  head: "vd{config}head",
  rows: "vd{config}rows",
  log: "vd{config}log",
  nodes: "vd{config}nodes",
  serving: "vd{config}serving",
  sweeper: "vd{config}sweeper",
} as const;
/** The slot of all configuration: its keys share one hash tag, so that one script changes them together. */
export const configSlot = keySlot(configKeys.head);
