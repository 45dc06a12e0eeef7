/**
 * For each table, how to find the rows of a session: for the sweep, for erasure and for `session show`. A table that is added to `tableNames` does not
 * compile until it is here.
 */
import { isIssuedToken } from "../contract/issued-token.js";
import { encodeSessionToken } from "../contract/session-token.js";
import { erasedTokenHash, erasedTokenValue } from "./erased-token.js";
import {
  idempotencyDay,
  idempotencyKey,
  type SessionKeys,
  type SessionTable,
  seenIdsKey,
  type TableName,
} from "./keys.js";
import { blockKeysOf, earlierContacts, unname } from "./naming-rows.js";
import type { SessionCount } from "./session-count.js";
import { contactKeyOf } from "./session-record.js";
import type { Store } from "./store.js";

/** A key of any table that can name a session. */
export type SessionRowKey = Buffer | [number, number] | [number, string];

interface OwnRows {
  /** Possible keys of a session's own rows. They are removed with it, also by the sweep. */
  readonly keysOf: (session: Uint8Array) => Buffer[];
}

interface NamingRows {
  /** Keys of rows that name a session; as many reads as there are. They expire separately. */
  readonly find: (store: Store, session: SessionKeys) => SessionRowKey[];
}

const nothingOfASession = null;

/** For each table, how to find its rows of a session; null for tables without any. */
const sessionRows = {
  meta: nothingOfASession,
  revision: nothingOfASession,
  accounts: nothingOfASession,
  slugs: nothingOfASession,
  users: nothingOfASession,
  emails: nothingOfASession,
  memberships: nothingOfASession,
  tokens: nothingOfASession,
  tokenHashes: nothingOfASession,
  tokenUses: nothingOfASession,
  projects: nothingOfASession,
  keys: nothingOfASession,
  accountRows: nothingOfASession,
  rules: nothingOfASession,
  // Configuration: erased with a session by whoever erases it, as a change that reaches all nodes.
  exceptions: nothingOfASession,
  blocks: { find: (store, { key }) => blockKeysOf(store, key) },
  // Go with the rows that they name, and with the session.
  namingRows: nothingOfASession,
  // A hash of whom it counts, for two minutes.
  blockTallies: nothingOfASession,
  usage: nothingOfASession,
  traffic: nothingOfASession,
  // Counts by value and samples of requests without a session: they name none.
  judged: nothingOfASession,
  verifiedBots: nothingOfASession,
  declaredBots: nothingOfASession,
  agentMarks: nothingOfASession,
  ipLists: nothingOfASession,
  signedAgents: nothingOfASession,
  sessions: { keysOf: (session) => [Buffer.from(session)] },
  repeats: { keysOf: (session) => [seenIdsKey(session, 0), seenIdsKey(session, 1)] },
  idempotency: { find: idempotencyOf },
  crossSessionCounts: nothingOfASession,
  // Four bytes of a token beside the hash of a piece of a path: names nobody to whom the token is not known.
  pathReuse: nothingOfASession,
  trails: { keysOf: (session) => [Buffer.from(session)] },
  solvedChallenges: nothingOfASession,
  // Kept when the session expires, since they say how well it was judged.
  marks: { find: (_, { projectId, token }) => [[projectId, encodeSessionToken(token)]] },
  audit: nothingOfASession,
  alerting: nothingOfASession,
  baselines: nothingOfASession,
  mirror: nothingOfASession,
} as const satisfies { [T in TableName]: T extends SessionTable ? OwnRows | NamingRows : null };

type OwnTable = { [T in SessionTable]: (typeof sessionRows)[T] extends OwnRows ? T : never }[SessionTable];

const tables = (Object.keys(sessionRows) as TableName[]).filter(
  (table): table is SessionTable => sessionRows[table] !== null,
);
const ownTables = tables.filter((table): table is OwnTable => "keysOf" in sessionRows[table]);

/** Removes a session's own rows. Call inside a write transaction, with `sessionKey`, and lower the session count. */
export function removeSession(store: Store, key: Uint8Array): void {
  for (const table of ownTables) for (const row of sessionRows[table].keysOf(key)) store[table].removeSync(row);
}

/** Returns the keys of a session's rows in a table; own rows may be missing. */
export function rowKeys(store: Store, table: SessionTable, session: SessionKeys): SessionRowKey[] {
  const rows: OwnRows | NamingRows = sessionRows[table];
  return "find" in rows ? rows.find(store, session) : rows.keysOf(session.key);
}

/**
 * Removes every row that names a session, and counts it off with `count`, which the caller saves. Returns the removed rows by table. Call inside a write
 * transaction. Reads and removes what the session has, however many others there are.
 */
export function eraseRows(store: Store, session: SessionKeys, count: SessionCount): Record<SessionTable, number> {
  // All are found before the first goes: the record says where others are.
  const found = tables.map((table) => [table, rowKeys(store, table, session)] as const);
  unname(store, session.key);
  const erased = found.map(([table, keys]) => {
    const target = store[table] as unknown as { removeSync(key: SessionRowKey): boolean };
    return [table, keys.filter((key) => target.removeSync(key)).length] as const;
  });
  const byTable = Object.fromEntries(erased) as Record<SessionTable, number>;
  count.add(-byTable.sessions);
  rememberErased(store, session);
  return byTable;
}

/** A token that was issued before its session began would begin it again: remembered until it has expired. */
function rememberErased({ idempotency, projects }: Store, { projectId, token }: SessionKeys): void {
  const nowMs = Date.now();
  const project = projects.get(projectId);
  if (project === undefined || !isIssuedToken(project, token, nowMs)) return;
  idempotency.putSync(
    idempotencyKey(idempotencyDay(nowMs), projectId, erasedTokenHash(token)),
    erasedTokenValue(nowMs),
  );
}

/** First contacts whose `Idempotency-Key` resolves to the session. */
function idempotencyOf(store: Store, { key, token }: SessionKeys): SessionRowKey[] {
  const record = store.sessions.getBinary(key);
  const own = record === undefined ? null : contactKeyOf(record);
  const keys = own === null ? earlierContacts(store, token) : [own];
  // The key may have been sent again, a day later, by another session.
  return keys.filter((each) => store.idempotency.getBinary(each)?.equals(token));
}
