/**
 * All kinds of rows that a cluster may have: how their keys look (`keys.ts` makes them), what they hold, what copies them from the store of one host, and how a
 * row is checked. A row with a key of no known kind is a fault.
 */

import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { tokenBytes } from "../../contract/sessions/session-token.js";
import { accountOfLog, sessionKeyBytes } from "../../store/keys.js";
import { decodeSession } from "../../store/session-record.js";
import { type BesideTable, type ClusterTable, tables } from "../../store/tables.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";
import { configKeys, sessionRow, shardOfSession, shardTags } from "../keys.js";
import { readCommand } from "../sessions/session-commands.js";
import {
  countCommands,
  countFault,
  expiringRow,
  expiryOf,
  fieldsOfHash,
  isGone,
  isJson,
  type KnownFacts,
  lifeFault,
  partPattern,
  projectFault,
  projectRow,
  type RowKind,
  type SplitKey,
  valuesOf,
} from "./row-kind.js";

const noSessionsKey = "key is no session's";

const shardOfTag = new Map(shardTags.map((tag, shard) => [tag, shard]));

/** A kind of rows of sessions beside their record, which live as long as it. `fault` is of their value, in the form that `read` answers. */
function besideSession<N extends BesideTable>(of: BesideKind<N>): RowKind & { readonly name: N } {
  const { name, rows, keyBytes, read, fault } = of;
  return {
    name,
    rows,
    copied: "sessions",
    ask: ({ key, rest }) => {
      const session = rest.subarray(1, 1 + sessionKeyBytes);
      const slot = keySlot(key);
      if (rest.length !== 1 + keyBytes) return [];
      return [{ command: [read, key], slot }, expiryOf(key), { command: ["EXISTS", sessionRow(session)], slot }];
    },
    fault: ([value, leftMs, sessions], { tag, rest }) => {
      if (sessions === undefined || shardOfSession(rest.subarray(1)) !== shardOfTag.get(tag)) return noSessionsKey;
      if (isGone(leftMs)) return null;
      return fault(value) ?? (sessions === 0 ? "has no session" : lifeFault(leftMs));
    },
  };
}

interface BesideKind<N> extends Pick<RowKind, "rows"> {
  readonly name: N;
  readonly keyBytes: number;
  readonly read: "GET" | "STRLEN";
  readonly fault: (value: RespReply | undefined) => string | null;
}

/** Kinds of rows that share a shard with its sessions, by letter. */
const kindsOfShard = {
  [tables.sessions.ofSession.letter]: {
    name: "sessions",
    rows: [
      ["vd{shard}s, project u32, token", "string", "version 8 bytes, then the record (`session-record.ts`); expires"],
    ],
    copied: "sessions",
    ask: ({ rest }) => (rest.length === 1 + sessionKeyBytes ? [readCommand(rest.subarray(1))] : []),
    fault: sessionFault,
  },
  [tables.repeats.ofSession.letter]: besideSession({
    name: "repeats",
    rows: [
      [
        "vd{shard}r, the same, generation u8",
        "string",
        "sorted 8-byte hashes of request ids; expires with the session",
      ],
    ],
    keyBytes: sessionKeyBytes + 1,
    read: "STRLEN",
    fault: (length) => (Number(length) % 8 === 0 ? null : "is no list of hashes"),
  }),
  [tables.trails.ofSession.letter]: besideSession({
    name: "trails",
    rows: [
      [
        "vd{shard}t, project u32, token",
        "string",
        "version 8 bytes, then the session's timeline as JSON; expires as long after its last entry as a session after its last batch",
      ],
    ],
    keyBytes: sessionKeyBytes,
    read: "GET",
    fault: (value) => (value instanceof Buffer && isJson(value.subarray(versionBytes)) ? null : "can't be decoded"),
  }),
  i: {
    name: "idempotency",
    rows: [["vd{shard}i, hash 11 bytes", "string", "token minted for an `Idempotency-Key`; expires after 24 hours"]],
    copied: "idempotency",
    ask: ({ key }) => [{ command: ["STRLEN", key], slot: keySlot(key) }, expiryOf(key)],
    fault: ([length, leftMs], { rest }) => {
      if (isGone(leftMs)) return null;
      return length === tokenBytes && rest.length === 12 ? lifeFault(leftMs) : "has another length";
    },
  },
  m: {
    name: "solved_challenges",
    rows: [
      [
        "vd{shard}m:nonce",
        "string",
        "`1` for something that may count once for a session and did, such as a challenge; expires with it, or after seconds if no replica acknowledges it",
      ],
    ],
    copied: { left: "remembered for ten minutes" },
    ...expiringRow,
  },
  x: {
    name: "index",
    rows: [["vd{shard}x:project", "zset", "the tokens of a project's sessions, all with score 0: by their time"]],
    copied: "sessions",
    ask: ({ key }) => [{ command: ["ZCARD", key], slot: keySlot(key) }],
    // The members are checked one after another, see `cluster-check.ts`.
    fault: (_, { rest }, { projects }) => projectFault(rest.toString("latin1", 2), projects),
  },
} as const satisfies Record<string, RowKind>;

/** Other kinds, by the form of their tag and rest; `owner` receives the groups of the pattern. */
const otherKinds = [
  {
    name: "sightings",
    rows: [["vd{c-hash}kind, hour", "string", "cross-session count of an hour; expires two hours later"]],
    copied: { left: "counts of two hours" },
    pattern: /^c\d+\.[0-9a-z]+\.[0-9a-z]+\}[1-9]:\d+$/,
    ask: countCommands,
    fault: countFault(() => null),
  },
  {
    name: "usage",
    rows: [["vd{u-account-k}month", "string", "a sixteenth of the events of an account in a month"]],
    copied: "usage",
    pattern: new RegExp(`^u\\d+\\.${partPattern()}\\}\\d{4}-\\d{2}$`),
    ask: countCommands,
    fault: countFault(({ tag }, { accounts }) => {
      const account = tag.slice(1, tag.indexOf("."));
      return accounts.has(Number(account)) ? null : `names accounts ${account}, which is missing`;
    }),
  },
  {
    name: "traffic",
    rows: [["vd{p-project-k}h:hour", "hash", "a sixteenth of a project's counts in an hour"]],
    copied: "traffic",
    pattern: new RegExp(`^p\\d+\\.${partPattern()}\\}h:\\d+$`),
    ...projectRow("HGETALL", (fields) => {
      const counts = valuesOf(fields).map(Number);
      return counts.every((count) => Number.isSafeInteger(count) && count >= 0)
        ? null
        : "has a field that is not a count";
    }),
  },
  {
    name: "judged",
    rows: [
      [
        "vd{j-project-kind}h:hour",
        "hash",
        "by writer, its row of what was judged in an hour (`judged-rows.ts`); expires",
      ],
    ],
    copied: "judged",
    pattern: /^j\d+\.\d+\}h:\d+$/,
    ...projectRow(),
  },
  {
    name: "replays",
    rows: [
      ["vd{p-project-k}paths", "string", "number of the log of paths that is written"],
      ["vd{p-project-k}paths:0, :1", "string", "a sixteenth of the paths: pairs of hash u32 and session u32"],
    ],
    copied: "paths",
    pattern: new RegExp(`^p\\d+\\.${partPattern()}\\}paths(:[01])?$`),
    ...projectRow("STRLEN", (length, { rest }) =>
      rest.includes(":") && Number(length) % 8 !== 0 ? "has another length" : null,
    ),
  },
  {
    name: "trail_index",
    rows: [["vd{t-project}", "zset", "the tokens of a project's sessions that have a timeline"]],
    copied: "recordedRows",
    pattern: /^t\d+\}$/,
    ...projectRow(),
  },
  {
    name: "marks",
    rows: [["vd{k-project}", "hash", "marks of a project: token, then time and mark as JSON"]],
    copied: "recordedRows",
    pattern: /^k\d+\}$/,
    ...projectRow("HGETALL", (fields) =>
      valuesOf(fields).every((value) => isJson(value.subarray(value.indexOf(" ") + 1)))
        ? null
        : "has a mark that can't be decoded",
    ),
  },
  {
    name: "blocks",
    rows: [
      ["vd{b-project}last", "string", "id of the last recorded block of a project"],
      [
        "vd{b-project}s:number",
        "hash",
        "a segment of recorded blocks: id, then the block as JSON; id and c: further ones; id and r: references; s: and a token: ids of its blocks; n: how many were recorded by builds that write these; expires",
      ],
    ],
    copied: "recordedRows",
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
    rows: [
      ["vd{b-project}t:`blockTallyKey`", "string", "records of a tally, id of the last; expires after some minutes"],
      [
        "vd{b-project}w:writer",
        "string",
        "number of a thread's last write of blocks and what it came to, for its repetition; expires",
      ],
    ],
    copied: { left: "remembered for minutes" },
    pattern: /^b\d+\}[tw]:/,
    ...expiringRow,
  },
  {
    name: "written",
    rows: [["vd{w-number}", "string", "empty: written so that `WAIT` tells of what came before; expires"]],
    copied: { left: "of a moment" },
    pattern: /^w\d+\}$/,
    ...expiringRow,
  },
  {
    name: "node reports",
    rows: [["vd{n-k}reports:minute", "hash", "by node, what it tells the others of a minute; expires after minutes"]],
    copied: { left: "of nodes" },
    pattern: /^n-\d+\}reports:\d+$/,
    ...expiringRow,
  },
  {
    name: "leases",
    rows: [["vd{config}lease:name", "string", "the node that does this work for all; expires"]],
    copied: { left: "of nodes" },
    pattern: /^config\}lease:[\w-]+$/,
    ...expiringRow,
  },
  {
    name: "audit",
    rows: [
      ["vd{config}audit:log", "hash", "changes of an account's configuration by id, as JSON; `last`: the last id"],
    ],
    copied: "recordedRows",
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
    rows: [
      [
        "vd{config}head",
        "hash",
        "of the configuration: `cluster` (its id), `revision`, `change` (id of the last), `bytes`; `migration` of a store into it",
      ],
      ["vd{config}rows", "hash", "its rows: table and key (`config-rows.ts`), value as in LMDB"],
      ["vd{config}log", "stream", "its latest changes, under their revisions"],
      ["vd{config}nodes", "hash", "nodes that follow it: how often each said so, revision that it has"],
      ["vd{config}serving", "hash", "nodes that run, also those that can't follow it: how often each said so"],
      ["vd{config}sweeper", "string", "a node removes what has outlived its time; expires before the next one does"],
    ],
    copied: { left: "copied as a whole, as one change" },
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

/** All kinds. */
export const rowKinds: readonly RowKind[] = [...Object.values(kindsOfShard), ...otherKinds];
