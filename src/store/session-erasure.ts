/**
 * Where rows of a session lie, table by table: what goes with it in the sweep, what erasure removes, what `session show` shows. A table
 * that is added to `tableNames` does not compile until it is here.
 */
import { encodeSessionToken } from "../contract/session-token.js";
import { repeatsKey, type TableName, tokenBytes } from "./keys.js";
import { SessionCount } from "./session-count.js";
import type { Store } from "./store.js";

/** What the rows of a session are found by. */
export interface SessionKeys {
  readonly projectId: number;
  readonly token: Buffer;
  /** `sessionKey`. */
  readonly key: Buffer;
}

export type RowKey = Buffer | [number, number] | [number, string];

interface OwnRows {
  /** Keys that rows of a session may have. They go with it, also in the sweep. */
  readonly keysOf: (session: Uint8Array) => Buffer[];
}

interface NamingRows {
  /** Keys of rows that name a session, found by a walk. They expire by themselves. */
  readonly find: (store: Store, session: SessionKeys) => RowKey[];
}

const nothingOfASession = null;

export const sessionRows = {
  meta: nothingOfASession,
  revision: nothingOfASession,
  accounts: nothingOfASession,
  slugs: nothingOfASession,
  users: nothingOfASession,
  emails: nothingOfASession,
  memberships: nothingOfASession,
  tokens: nothingOfASession,
  tokenHashes: nothingOfASession,
  projects: nothingOfASession,
  keys: nothingOfASession,
  rules: nothingOfASession,
  blocks: { find: blocksOf },
  // A hash of whom it counts, for two minutes.
  blockTallies: nothingOfASession,
  usage: nothingOfASession,
  traffic: nothingOfASession,
  verifiedBots: nothingOfASession,
  declaredBots: nothingOfASession,
  ipLists: nothingOfASession,
  signedAgents: nothingOfASession,
  sessions: { keysOf: (session) => [Buffer.from(session)] },
  repeats: { keysOf: (session) => [repeatsKey(session, 0), repeatsKey(session, 1)] },
  idempotency: { find: idempotencyOf },
  sightings: nothingOfASession,
  // Four bytes of a token beside the hash of a piece of a path: names nobody to whom the token is not known.
  replays: nothingOfASession,
  shingles: nothingOfASession,
  trails: { keysOf: (session) => [Buffer.from(session)] },
  solvedChallenges: nothingOfASession,
  // Kept when the session expires, since they say how well it was judged.
  marks: { find: (_, { projectId, token }) => [[projectId, encodeSessionToken(token)]] },
  audit: nothingOfASession,
  mirror: nothingOfASession,
} as const satisfies Record<TableName, OwnRows | NamingRows | null>;

/** Tables with rows of sessions. */
export type SessionTable = {
  [T in TableName]: (typeof sessionRows)[T] extends null ? never : T;
}[TableName];

type OwnTable = { [T in SessionTable]: (typeof sessionRows)[T] extends OwnRows ? T : never }[SessionTable];

const tables = (Object.keys(sessionRows) as TableName[]).filter(
  (table): table is SessionTable => sessionRows[table] !== null,
);
const ownTables = tables.filter((table): table is OwnTable => "keysOf" in sessionRows[table]);

/** Removes the rows that are a session's own. Call inside a write transaction, with `sessionKey`, and count the session off. */
export function removeSession(store: Store, key: Uint8Array): void {
  for (const table of ownTables) for (const row of sessionRows[table].keysOf(key)) store[table].removeSync(row);
}

/** Keys of the rows of a session in a table; own rows may be missing. */
export function rowKeys(store: Store, table: SessionTable, session: SessionKeys): RowKey[] {
  const rows: OwnRows | NamingRows = sessionRows[table];
  return "find" in rows ? rows.find(store, session) : rows.keysOf(session.key);
}

/** Removes every row that names a session, and counts it off; how many went, by table. Call inside a write transaction. */
export function eraseRows(store: Store, session: SessionKeys): Record<SessionTable, number> {
  const count = new SessionCount(store, session.projectId);
  const erased = tables.map((table) => {
    const target = store[table] as unknown as { removeSync(key: RowKey): boolean };
    return [table, rowKeys(store, table, session).filter((key) => target.removeSync(key)).length] as const;
  });
  const byTable = Object.fromEntries(erased) as Record<SessionTable, number>;
  count.add(-byTable.sessions);
  count.save();
  return byTable;
}

/** Walks the project's blocks. */
function blocksOf({ blocks }: Store, { projectId, token }: SessionKeys): RowKey[] {
  const text = encodeSessionToken(token);
  const rows = blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0] });
  return [...rows.filter(({ value }) => value.sessionToken === text)].map(({ key }) => key);
}

/** First contacts whose `Idempotency-Key` resolves to the session. Walks the table: the rows of two days. */
function idempotencyOf({ idempotency }: Store, { token }: SessionKeys): RowKey[] {
  const keys: RowKey[] = [];
  for (const { key, value } of idempotency.getRange({})) {
    if (token.equals(value.subarray(0, tokenBytes))) keys.push(Buffer.from(key));
  }
  return keys;
}
