/**
 * Checks a row of each kind that a cluster may have, by its key (`keys.ts`), for the command that reads all rows. A row with a key of no known kind
 * is a fault.
 */

import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { tokenBytes } from "../../contract/session-token.js";
import { accountOfLog, sessionKeyBytes } from "../../store/keys.js";
import { decodeSession } from "../../store/session-record.js";
import type { ClusterTable, tables } from "../../store/tables.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";
import { configKeys, partCount, sessionRow, shardOfSession, shardTags } from "../keys.js";
import { readCommand } from "../sessions/session-commands.js";

/** What rows are checked against. */
export interface KnownFacts {
  readonly projects: ReadonlySet<number>;
  readonly accounts: ReadonlySet<number>;
  /** What is wrong with a session's packed features, or null. */
  readonly features: (packed: Buffer) => string | null;
}

/** One kind of rows, and how a row of it is checked. */
export interface RowKind {
  /** The name in reports: the table of one host, if there is one. */
  readonly name: string;
  /** The commands that read the row. */
  readonly ask: (row: SplitKey) => readonly KeyedCommand[];
  /** Returns what the answers show to be wrong, or null; also null if the row has gone meanwhile. */
  readonly fault: (replies: readonly RespReply[], row: SplitKey, facts: KnownFacts) => string | null;
}

/** A key in its parts: `vd{tag}rest`. */
export interface SplitKey {
  readonly key: Buffer;
  readonly tag: string;
  /** What follows the tag; its first byte is the letter of the kind, if there is one. */
  readonly rest: Buffer;
}

/** Splits a key that begins as all of verdictd's keys do; `rest` shares its memory. */
export function splitKey(key: Buffer): SplitKey {
  const end = key.indexOf("}");
  return { key, tag: key.toString("latin1", 3, end), rest: key.subarray(end + 1) };
}

const noSessionsKey = "key is no session's";

const shardOfTag = new Map(shardTags.map((tag, shard) => [tag, shard]));

/** Kinds of rows that share a shard with its sessions, by letter. */
const kindsOfShard = {
  s: {
    name: "sessions",
    ask: ({ rest }) => (rest.length === 1 + sessionKeyBytes ? [readCommand(rest.subarray(1))] : []),
    fault: sessionFault,
  },
  r: {
    name: "repeats",
    ask: ({ key, rest }) => {
      const session = rest.subarray(1, -1);
      const slot = keySlot(key);
      if (session.length !== sessionKeyBytes) return [];
      return [{ command: ["STRLEN", key], slot }, expiryOf(key), { command: ["EXISTS", sessionRow(session)], slot }];
    },
    fault: ([length, leftMs, sessions], { tag, rest }) => {
      if (sessions === undefined || shardOfSession(rest.subarray(1)) !== shardOfTag.get(tag)) return noSessionsKey;
      if (isGone(leftMs)) return null;
      if (Number(length) % 8 !== 0) return "is no list of hashes";
      return sessions === 0 ? "has no session" : lifeFault(leftMs);
    },
  },
  t: {
    name: "trails",
    ask: ({ key, rest }) => {
      const session = rest.subarray(1);
      const slot = keySlot(key);
      if (session.length !== sessionKeyBytes) return [];
      return [{ command: ["GET", key], slot }, expiryOf(key), { command: ["EXISTS", sessionRow(session)], slot }];
    },
    fault: ([value, leftMs, sessions], { tag, rest }) => {
      if (sessions === undefined || shardOfSession(rest.subarray(1)) !== shardOfTag.get(tag)) return noSessionsKey;
      if (isGone(leftMs)) return null;
      if (!(value instanceof Buffer) || !isJson(value.subarray(versionBytes))) return "can't be decoded";
      return sessions === 0 ? "has no session" : lifeFault(leftMs);
    },
  },
  i: {
    name: "idempotency",
    ask: ({ key }) => [{ command: ["STRLEN", key], slot: keySlot(key) }, expiryOf(key)],
    fault: ([length, leftMs], { rest }) => {
      if (isGone(leftMs)) return null;
      return length === tokenBytes && rest.length === 12 ? lifeFault(leftMs) : "has another length";
    },
  },
  m: {
    name: "solved_challenges",
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
  },
  x: {
    name: "index",
    ask: ({ key }) => [{ command: ["ZCARD", key], slot: keySlot(key) }],
    // The members are checked one after another, see `cluster-check.ts`.
    fault: (_, { rest }, { projects }) => projectFault(rest.toString("latin1", 2), projects),
  },
} as const satisfies Record<string, RowKind>;

/** Other kinds, by the form of their tag and rest; `owner` receives the groups of the pattern. */
const otherKinds = [
  {
    name: "sightings",
    pattern: /^c\d+\.[0-9a-z]+\.[0-9a-z]+\}[1-9]:\d+$/,
    ask: countCommands,
    fault: countFault(() => null),
  },
  {
    name: "usage",
    pattern: new RegExp(`^u\\d+\\.${partPattern()}\\}\\d{4}-\\d{2}$`),
    ask: countCommands,
    fault: countFault(({ tag }, { accounts }) => {
      const account = tag.slice(1, tag.indexOf("."));
      return accounts.has(Number(account)) ? null : `names accounts ${account}, which is missing`;
    }),
  },
  {
    name: "traffic",
    pattern: new RegExp(`^p\\d+\\.${partPattern()}\\}h:\\d+$`),
    ask: ({ key }) => [{ command: ["HGETALL", key], slot: keySlot(key) }, expiryOf(key)],
    fault: ([fields, leftMs], { tag }, { projects }) => {
      if (isGone(leftMs)) return null;
      const counts = (Array.isArray(fields) ? fields : []).filter((_, index) => index % 2 === 1).map(Number);
      if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return "has a field that is not a count";
      return projectFault(projectOfTag(tag), projects) ?? lifeFault(leftMs);
    },
  },
  {
    name: "judged",
    pattern: /^j\d+\.\d+\}h:\d+$/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs], { tag }, { projects }) => {
      if (isGone(leftMs)) return null;
      return projectFault(tag.slice(1, tag.indexOf(".")), projects) ?? lifeFault(leftMs);
    },
  },
  {
    name: "replays",
    pattern: new RegExp(`^p\\d+\\.${partPattern()}\\}paths(:[01])?$`),
    ask: ({ key }) => [{ command: ["STRLEN", key], slot: keySlot(key) }, expiryOf(key)],
    fault: ([length, leftMs], { tag, rest }, { projects }) => {
      if (isGone(leftMs)) return null;
      if (rest.includes(":") && Number(length) % 8 !== 0) return "has another length";
      return projectFault(projectOfTag(tag), projects) ?? lifeFault(leftMs);
    },
  },
  {
    name: "trail_index",
    pattern: /^t\d+\}$/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs], { tag }, { projects }) => projectFault(tag.slice(1), projects) ?? lifeFault(leftMs),
  },
  {
    name: "marks",
    pattern: /^k\d+\}$/,
    ask: ({ key }) => [{ command: ["HGETALL", key], slot: keySlot(key) }, expiryOf(key)],
    fault: ([fields, leftMs], { tag }, { projects }) => {
      if (isGone(leftMs)) return null;
      if (!valuesOf(fields).every((value) => isJson(value.subarray(value.indexOf(" ") + 1))))
        return "has a mark that can't be decoded";
      return projectFault(tag.slice(1), projects) ?? lifeFault(leftMs);
    },
  },
  {
    name: "blocks",
    pattern: /^b\d+\}(last|s:\d+)$/,
    ask: ({ key, rest }) => [
      { command: [rest[0] === "l".charCodeAt(0) ? "GET" : "HGETALL", key], slot: keySlot(key) },
      expiryOf(key),
    ],
    fault: ([value, leftMs], { tag }, { projects }) => {
      if (isGone(leftMs)) return null;
      if (value instanceof Buffer)
        return /^\d+$/.test(String(value)) ? projectFault(tag.slice(1), projects) : "is not an id";
      const blocks = fieldsOfHash(value).filter(([field]) => /^\d+$/.test(field));
      if (!blocks.every(([, block]) => isJson(block))) return "has a block that can't be decoded";
      return projectFault(tag.slice(1), projects) ?? lifeFault(leftMs);
    },
  },
  {
    name: "block_tallies",
    pattern: /^b\d+\}[tw]:/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
  },
  {
    name: "written",
    pattern: /^w\d+\}$/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
  },
  {
    name: "node reports",
    pattern: /^n-\d+\}reports:\d+$/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
  },
  {
    name: "leases",
    pattern: /^config\}lease:[\w-]+$/,
    ask: ({ key }) => [expiryOf(key)],
    fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
  },
  {
    name: "audit",
    pattern: /^config\}audit:\d+$/,
    ask: ({ key }) => [{ command: ["HGETALL", key], slot: keySlot(key) }],
    fault: ([fields], { rest }, { accounts }) => {
      const account = accountOfLog(Number(rest.toString("latin1", "audit:".length)));
      if (!valuesOf(fields).every(isJson)) return "has an entry that can't be decoded";
      // Changes that concern no particular account belong to account 0.
      return account === 0 || accounts.has(account) ? null : `names accounts ${account}, which is missing`;
    },
  },
  {
    name: "configuration",
    pattern: new RegExp(
      `^(${Object.values(configKeys)
        .map((key) => key.slice(3).replace(/\W/g, "\\$&"))
        .join("|")})$`,
    ),
    // Compared with the mirror as a whole.
    ask: () => [],
    fault: () => null,
  },
] as const satisfies readonly (RowKind & { readonly pattern: RegExp })[];

type KindName = (typeof kindsOfShard)[keyof typeof kindsOfShard]["name"] | (typeof otherKinds)[number]["name"];

/** Tables that have rows in a cluster and no kind here: the check would report their rows as unknown. */
type TableWithoutKind = Exclude<(typeof tables)[ClusterTable]["name"], KindName>;

/** Returns the kind of a row; `null` means that it is none of ours. */
export function kindOf({ tag, rest }: SplitKey): RowKind | null {
  const ofShard: Readonly<Record<string, RowKind>> = kindsOfShard;
  if (shardOfTag.has(tag)) return ofShard[rest.toString("latin1", 0, 1)] ?? null;
  const name = `${tag}}${rest.toString("latin1")}`;
  return otherKinds.find(({ pattern }) => pattern.test(name)) ?? null;
}

/** Names of all kinds, in the order of reports. Does not compile if there is a `TableWithoutKind`. */
export const kindNames: [TableWithoutKind] extends [never] ? readonly KindName[] : TableWithoutKind = [
  ...Object.values(kindsOfShard),
  ...otherKinds,
].map(({ name }) => name);

function sessionFault([reply]: readonly RespReply[], { tag, rest }: SplitKey, facts: KnownFacts): string | null {
  const key = rest.subarray(1);
  if (reply === undefined || shardOfSession(key) !== shardOfTag.get(tag)) return noSessionsKey;
  const [stored, leftMs, isIndexed] = Array.isArray(reply) ? reply : [];
  if (!(stored instanceof Buffer)) return null;
  const session = decodeSession(Buffer.from(stored.subarray(versionBytes)));
  if (session === null) return "record can't be decoded";
  const projectId = key.readUInt32BE(0);
  return (
    projectFault(String(projectId), facts.projects) ??
    facts.features(session.features) ??
    (isIndexed === 1 ? null : "is not in the index of its project") ??
    lifeFault(leftMs)
  );
}

function fieldsOfHash(reply: RespReply | undefined): [field: string, value: Buffer][] {
  const flat = Array.isArray(reply) ? reply : [];
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    String(flat[2 * index]),
    Buffer.from(flat[2 * index + 1] as Buffer),
  ]);
}

function valuesOf(reply: RespReply | undefined): Buffer[] {
  return fieldsOfHash(reply).map(([, value]) => value);
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

function countCommands({ key }: SplitKey): KeyedCommand[] {
  return [{ command: ["GET", key], slot: keySlot(key) }, expiryOf(key)];
}

function countFault(owner: (row: SplitKey, facts: KnownFacts) => string | null): RowKind["fault"] {
  return ([count, leftMs], row, facts) => {
    if (isGone(leftMs)) return null;
    return /^\d{1,16}$/.test(String(count)) ? (owner(row, facts) ?? lifeFault(leftMs)) : "is not a count";
  };
}

function expiryOf(key: Buffer): KeyedCommand {
  return { command: ["PTTL", key], slot: keySlot(key) };
}

function isGone(leftMs: RespReply | undefined): boolean {
  return leftMs === -2;
}

function lifeFault(leftMs: RespReply | undefined): string | null {
  return leftMs === -1 ? "never expires" : null;
}

function projectOfTag(tag: string): string {
  return tag.slice(1, tag.indexOf("."));
}

function projectFault(id: string, projects: ReadonlySet<number>): string | null {
  return projects.has(Number(id)) ? null : `names projects ${id}, which is missing`;
}

function partPattern(): string {
  return `(?:${Array.from({ length: partCount }, (_, part) => part).join("|")})`;
}
