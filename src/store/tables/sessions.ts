/** Sessions, and all that says something about one session. */
import type { Database } from "lmdb";
import type { Block } from "../../contract/configuration/entities.js";
import type { SessionMark } from "../../contract/sessions/marks.js";
import { encodeSessionToken, tokenBytes } from "../../contract/sessions/session-token.js";
import type { Timeline } from "../../contract/sessions/timeline.js";
import type { IntegrityWalk } from "../integrity-checks.js";
import {
  blockTalliesFrom,
  blockTallyBytes,
  blockTallyKeyBytes,
  idempotencyFrom,
  idempotencyKeyBytes,
  type SessionKeys,
  seenIdsKey,
  sessionKeyBytes,
  solvedChallengeKey,
  solvedChallengeKeyBytes,
} from "../keys.js";
import { blockKeysOf, contactsUntil, earlierContacts, keyOfBlock, namedRow } from "../naming-rows.js";
import { expireBlocks, expireMarks, expireSessions } from "../session-expiry.js";
import { contactKeyOf, decodeSession } from "../session-record.js";
import { formFault, leadsTo, packedRows, record, records, recordsByBytes, type StoredTable } from "../table.js";

/** Sessions and rows about them. */
export const sessionTables = {
  sessions: {
    name: "sessions",
    key: "project u32, token 21 bytes",
    value: "packed, `session-record.ts`",
    form: packedRows,
    holds: "what was computed of a session's events, its scores, its latest address, host, path and user agent",
    until: "`--session-days` after its last batch; the oldest beyond `--sessions-max` of a project",
    merge: "replaced",
    expiry: { sweep: expireSessions },
    ofSession: { own: (session: Uint8Array) => [Buffer.from(session)], letter: "s", shown: null },
    onCluster: "rows",
    check: (walk, value: Buffer, key: Buffer) => {
      if (key.length !== sessionKeyBytes) return "key has another length";
      const session = decodeSession(value);
      if (session === null) return "record can't be decoded";
      const projectId = key.readUInt32BE(0);
      walk.countSession(projectId, session.state.firstSeenMs, session.state.eventCount);
      return walk.missing("projects", projectId) ?? walk.checks.features(session.features);
    },
  },
  repeats: {
    name: "repeats",
    key: "project u32, token 21 bytes, generation u8",
    value: "sorted 8-byte request-id hashes",
    form: packedRows,
    holds: "hashes of the request ids that a session has sent",
    until: "with the session",
    merge: "replaced",
    expiry: "with its session",
    ofSession: {
      own: (session: Uint8Array) => [seenIdsKey(session, 0), seenIdsKey(session, 1)],
      letter: "r",
      shown: (rows: readonly Buffer[]) => rows.reduce((bytes, { length }) => bytes + length, 0) / 8,
    },
    onCluster: "rows",
    check: (walk, value: Buffer, key: Buffer) => {
      if (key.length !== sessionKeyBytes + 1 || value.length % 8 !== 0) return "is no list of hashes";
      const session = Buffer.from(key.subarray(0, sessionKeyBytes));
      return walk.get("sessions", session) === undefined ? "has no session" : null;
    },
  },
  trails: {
    name: "trails",
    key: "project u32, token 21 bytes",
    value: "Timeline, of the latest sessions only",
    form: recordsByBytes<Timeline>(),
    holds: "a coarse timeline of what happened in a session",
    until: "with the session; the oldest beyond `--timeline-sessions` of a project",
    merge: "replaced",
    expiry: "with its session",
    ofSession: {
      own: (session: Uint8Array) => [Buffer.from(session)],
      letter: "t",
      // Earlier versions stored times that are no numbers.
      shown: ([row]: readonly Timeline[]) => (row === undefined || formFault("timeline", row) !== null ? null : row),
    },
    onCluster: "rows",
    check: record("timeline", (walk, _: unknown, key: Buffer) =>
      walk.get("sessions", Buffer.from(key)) === undefined ? "has no session" : null,
    ),
  },
  idempotency: {
    name: "idempotency",
    key: "day u16, hash 11 bytes of project and key",
    value: "token 21 bytes",
    form: packedRows,
    holds: "which session a first report's `Idempotency-Key` led to; which tokens were erased",
    until: "the end of the day after",
    merge: "once",
    expiry: { below: idempotencyFrom },
    ofSession: { naming: contactsOf },
    onCluster: "rows",
    check: (_, value: Buffer, key: Buffer) =>
      key.length === idempotencyKeyBytes && value.length === tokenBytes ? null : "has another length",
  },
  marks: {
    name: "marks",
    key: "[project id, session token]",
    value: "SessionMark",
    form: records<SessionMark, [number, string]>(),
    holds: "whether you marked a session as a person's or a bot's",
    until: "`--block-days`; also when the session has expired, since it says how well it was judged",
    merge: "replaced",
    expiry: { sweep: expireMarks },
    ofSession: {
      naming: (_: unknown, { projectId, token }: SessionKeys) => [
        [projectId, encodeSessionToken(token)] as [number, string],
      ],
    },
    onCluster: "rows",
    check: record("mark", (walk, row: { projectId: number; sessionToken: string }, key: [number, string]) => {
      if (row.projectId !== key[0] || row.sessionToken !== key[1]) return `holds the mark of ${row.sessionToken}`;
      return walk.missing("projects", row.projectId);
    }),
  },
  blocks: {
    name: "blocks",
    key: "[project id, block id]",
    value: "Block",
    form: records<Block, [number, number]>(),
    holds: "a request that a rule blocked, challenged or would have: its session, address, host, path, user agent",
    until: "`--block-days`; the oldest beyond a number for each project",
    merge: "appended",
    expiry: { sweep: expireBlocks },
    ofSession: { naming: (store: NamedBlocks, { key }: SessionKeys) => blockKeysOf(store, key) },
    onCluster: "rows",
    check: record("block", blockFault),
  },
  namingRows: {
    name: "naming_rows",
    key: "project u32, token 21 bytes, 1 u8, block id u48; 0 u32, token 21 bytes, 2 u8, key of `idempotency`",
    value: "1; 1, of before schema 7",
    form: packedRows,
    holds: "which recorded blocks a session has",
    until: "with the block",
    merge: "once",
    // Of a block with it; of the rest by age.
    expiry: { below: contactsUntil },
    // Go with the rows that they name, and with the session.
    ofSession: null,
    onCluster: { own: "a cluster finds the rows of a session by itself" },
    check: (walk, _: Buffer, key: Buffer) => {
      const named = namedRow(key);
      if (named === null) return "has another length";
      if ("contact" in named) return null;
      const isLed = walk.field("blocks", named.block, "sessionToken") === encodeSessionToken(named.token);
      return isLed ? null : leadsTo("blocks", named.block);
    },
  },
  blockTallies: {
    name: "block_tallies",
    key: "minute u32, project u32, rule u32, hash 12 bytes",
    value: "records u32, id of the last u48 (`lmdb-recorded-blocks.ts`)",
    form: packedRows,
    holds: "how many blocks of one visitor and rule were recorded in a minute, under a hash",
    until: "two minutes",
    merge: "added",
    // Late blocks are tallied in the previous minute.
    expiry: { below: (nowMs: number) => blockTalliesFrom(Math.floor(nowMs / 60_000) - 1) },
    ofSession: null,
    onCluster: "rows",
    check: (_, value: Buffer, key: Buffer) =>
      key.length === blockTallyKeyBytes && value.length === blockTallyBytes ? null : "has another length",
  },
  solvedChallenges: {
    name: "solved_challenges",
    key: "second of expiry u32, nonce 16 bytes",
    value: "1",
    form: packedRows,
    holds: "that a challenge was solved, so that it counts once",
    until: "the challenge expires",
    merge: "once",
    expiry: { below: (nowMs: number) => solvedChallengeKey(nowMs, "") },
    ofSession: null,
    onCluster: "rows",
    check: (_, value: Buffer, key: Buffer) =>
      key.length === solvedChallengeKeyBytes && value.length === 1 ? null : "has another length",
  },
} as const satisfies Record<string, StoredTable<never>>;

interface NamedBlocks {
  readonly blocks: Database<Block, [number, number]>;
  readonly namingRows: Database<Buffer, Buffer>;
}

interface ContactTables extends NamedBlocks {
  readonly sessions: Database<Buffer, Buffer>;
  readonly idempotency: Database<Buffer, Buffer>;
}

/** First contacts whose `Idempotency-Key` resolves to the session. */
function contactsOf(store: ContactTables, { key, token }: SessionKeys): Buffer[] {
  const record = store.sessions.getBinary(key);
  const own = record === undefined ? null : contactKeyOf(record);
  const keys = own === null ? earlierContacts(store, token) : [own];
  // The key may have been sent again, a day later, by another session.
  return keys.filter((each) => store.idempotency.getBinary(each)?.equals(token));
}

interface BlockRow {
  id: number;
  projectId: number;
  sessionToken: string | null;
}

function blockFault(walk: IntegrityWalk, row: BlockRow, key: [number, number]): string | null {
  if (row.projectId !== key[0] || row.id !== key[1]) return `holds block ${row.id} of project ${row.projectId}`;
  const name = keyOfBlock(row.projectId, row);
  if (name !== null && walk.get("namingRows", name) === undefined) return "is not among those of its session";
  return walk.missing("projects", row.projectId);
}
