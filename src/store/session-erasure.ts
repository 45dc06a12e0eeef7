/**
 * For each table, how to find the rows of a session: for the sweep, for erasure and for `session show`. A table that is added to `tableNames` does not
 * compile until it is here.
 */
import { isIssuedToken } from "../contract/issued-token.js";
import { encodeSessionToken, tokenBytes } from "../contract/session-token.js";
import { limits } from "../limits.js";
import { erasedTokenHash, erasedTokenValue } from "./erased-token.js";
import {
  idempotencyDay,
  idempotencyKey,
  type SessionKeys,
  type SessionTable,
  seenIdsKey,
  type TableName,
} from "./keys.js";
import { SessionCount } from "./session-count.js";
import type { Store } from "./store.js";

/** A key of any table that can name a session. */
export type SessionRowKey = Buffer | [number, number] | [number, string];

interface OwnRows {
  /** Possible keys of a session's own rows. They are removed with it, also by the sweep. */
  readonly keysOf: (session: Uint8Array) => Buffer[];
}

interface NamingRows {
  /** Keys of rows that name a session, found by a walk if there is a `stretch`. They expire separately. */
  readonly find: (store: Store, session: SessionKeys) => SessionRowKey[];
  /** Some of the rows that `find` walks over, with the tokens that they name, after the row of this key (null: from the start). */
  readonly stretch?: (store: Store, projectId: number, after: SessionRowKey | null) => NamingRow[];
}

/** A row of a table that is walked, and the session it names. */
export interface NamingRow {
  readonly key: SessionRowKey;
  /** The session's token as text; `null` means that the row names none. */
  readonly token: string | null;
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
  blocks: { find: blocksOf, stretch: blocksAfter },
  // A hash of whom it counts, for two minutes.
  blockTallies: nothingOfASession,
  usage: nothingOfASession,
  traffic: nothingOfASession,
  verifiedBots: nothingOfASession,
  declaredBots: nothingOfASession,
  agentMarks: nothingOfASession,
  ipLists: nothingOfASession,
  signedAgents: nothingOfASession,
  sessions: { keysOf: (session) => [Buffer.from(session)] },
  repeats: { keysOf: (session) => [seenIdsKey(session, 0), seenIdsKey(session, 1)] },
  idempotency: { find: idempotencyOf, stretch: idempotencyAfter },
  crossSessionCounts: nothingOfASession,
  // Four bytes of a token beside the hash of a piece of a path: names nobody to whom the token is not known.
  pathReuse: nothingOfASession,
  shingles: nothingOfASession,
  trails: { keysOf: (session) => [Buffer.from(session)] },
  solvedChallenges: nothingOfASession,
  // Kept when the session expires, since they say how well it was judged.
  marks: { find: (_, { projectId, token }) => [[projectId, encodeSessionToken(token)]] },
  audit: nothingOfASession,
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

/** Removes every row that names a session, and lowers the session count. Returns the removed rows by table. Call inside a write transaction. */
export function eraseRows(store: Store, session: SessionKeys): Record<SessionTable, number> {
  const count = new SessionCount(store, session.projectId);
  const erased = tables.map((table) => {
    const target = store[table] as unknown as { removeSync(key: SessionRowKey): boolean };
    return [table, rowKeys(store, table, session).filter((key) => target.removeSync(key)).length] as const;
  });
  const byTable = Object.fromEntries(erased) as Record<SessionTable, number>;
  count.add(-byTable.sessions);
  count.save();
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

/** Tables that need a walk to find the rows that name a session. */
export const walkedTables = tables.filter((table) => "stretch" in sessionRows[table]);

/** Rows of a walked table after this key, in its order; none at its end. */
export function stretchOf(
  store: Store,
  table: SessionTable,
  projectId: number,
  after: SessionRowKey | null,
): NamingRow[] {
  const rows: OwnRows | NamingRows = sessionRows[table];
  return "stretch" in rows && rows.stretch !== undefined ? rows.stretch(store, projectId, after) : [];
}

/**
 * Removes every row of a session, of walked tables those that `found` has, and counts it off with `count`. False when it was gone. Call inside
 * a write transaction.
 */
export function eraseFound(
  store: Store,
  session: SessionKeys,
  found: ReadonlyMap<SessionTable, readonly SessionRowKey[]>,
  count: SessionCount,
): boolean {
  if (!store.sessions.doesExist(session.key)) return false;
  for (const table of tables) {
    const target = store[table] as unknown as { removeSync(key: SessionRowKey): boolean };
    const isWalked = walkedTables.includes(table);
    for (const key of isWalked ? (found.get(table) ?? []) : rowKeys(store, table, session)) target.removeSync(key);
  }
  count.add(-1);
  rememberErased(store, session);
  return true;
}

/** Walks the project's blocks. */
function blocksOf({ blocks }: Store, { projectId, token }: SessionKeys): SessionRowKey[] {
  const text = encodeSessionToken(token);
  const rows = blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0] });
  return [...rows.filter(({ value }) => value.sessionToken === text)].map(({ key }) => key);
}

/** First contacts whose `Idempotency-Key` resolves to the session. Walks the table: the rows of two days. */
function idempotencyOf({ idempotency }: Store, { token }: SessionKeys): SessionRowKey[] {
  const keys: SessionRowKey[] = [];
  for (const { key, value } of idempotency.getRange({})) {
    if (token.equals(value.subarray(0, tokenBytes))) keys.push(Buffer.from(key));
  }
  return keys;
}

function blocksAfter({ blocks }: Store, projectId: number, after: SessionRowKey | null): NamingRow[] {
  const start = after === null ? [projectId, 0] : (after as [number, number]);
  const range = { start: start as [number, number], end: [projectId + 1, 0] as [number, number] };
  const rows = blocks.getRange({ ...range, exclusiveStart: after !== null, limit: limits.erasureStretchRows });
  return [...rows].map(({ key, value }) => ({ key, token: value.sessionToken }));
}

function idempotencyAfter({ idempotency }: Store, _: number, after: SessionRowKey | null): NamingRow[] {
  const start = after === null ? {} : { start: after as Buffer, exclusiveStart: true };
  const rows = idempotency.getRange({ ...start, limit: limits.erasureStretchRows });
  return [...rows].map(({ key, value }) => ({
    key: Buffer.from(key),
    token: encodeSessionToken(Buffer.from(value.subarray(0, tokenBytes))),
  }));
}
