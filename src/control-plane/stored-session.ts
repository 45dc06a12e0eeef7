/** Everything the store holds about one session, decoded, for an operator who is asked for it. Reads only. */
import type { Block } from "../contract/entities.js";
import type { SessionMark } from "../contract/marks.js";
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import type { Trail } from "../contract/trail.js";
import { F, newFeatures, T, unpackFeatures } from "../engines/session-features.js";
import { sessionKey } from "../store/keys.js";
import { type RowKey, rowKeys, type SessionKeys, type SessionTable } from "../store/session-erasure.js";
import { decodeSession } from "../store/session-record.js";
import type { Store } from "../store/store.js";

/** What `session show` prints: the record, and what other tables hold that names the session. */
export interface StoredSession {
  readonly projectId: number;
  /** Bytes of the session's record. */
  readonly recordBytes: number;
  readonly verdict: VerdictPart;
  /** Request ids remembered against repeats, in the record and in rows of their own. */
  readonly requestIds: number;
  /** What was observed, by name; null when the features can't be unpacked. */
  readonly features: Readonly<Record<string, number | string>> | null;
  readonly blocks: readonly Block[];
  /** What the operator says that it was. */
  readonly mark: SessionMark | null;
  /** First contacts whose `Idempotency-Key` still resolves to this session. */
  readonly idempotencyKeys: number;
  /** Null when none is kept. */
  readonly trail: Trail | null;
}

/** The project that has a session of this token; null when none has. One look-up a project. */
export function findSession(store: Store, token: string): SessionKeys | null {
  const bytes = decodeSessionToken(token);
  if (bytes === null) return null;
  for (const projectId of store.projects.getKeys({})) {
    const key = sessionKey(projectId, bytes);
    if (store.sessions.doesExist(key)) return { projectId, token: bytes, key };
  }
  return null;
}

/** What is shown of a session, by the table that it is read from. */
const shown = {
  sessions: (store: Store, { key }: SessionKeys) => {
    const bytes = store.sessions.getBinary(key);
    if (bytes === undefined) return null;
    const record = decodeSession(bytes);
    if (record === null) throw new Error("the session's record can't be decoded: run `verdictd check`");
    return {
      recordBytes: bytes.length,
      verdict: record.verdict,
      idsInRecord: record.repeats.length / 8,
      features: namedFeatures(record.features),
    };
  },
  repeats: (store: Store, _: SessionKeys, keys: readonly RowKey[]) => {
    const lengths = keys.map((key) => store.repeats.getBinary(key as Buffer)?.length ?? 0);
    return { spilledIds: lengths.reduce((sum, length) => sum + length, 0) / 8 };
  },
  blocks: (store: Store, _: SessionKeys, keys: readonly RowKey[]) => ({
    blocks: keys.flatMap((key) => store.blocks.get(key as [number, number]) ?? []),
  }),
  marks: (store: Store, _: SessionKeys, [key]: readonly RowKey[]) => ({
    mark: store.marks.get(key as [number, string]) ?? null,
  }),
  idempotency: (_: Store, __: SessionKeys, keys: readonly RowKey[]) => ({ idempotencyKeys: keys.length }),
  trails: (store: Store, { key }: SessionKeys) => ({ trail: store.trails.get(key) ?? null }),
} as const satisfies Record<SessionTable, unknown>;

/** Null for an unknown token. Throws for a record that can't be decoded. */
export function readStoredSession(store: Store, token: string): StoredSession | null {
  const session = findSession(store, token);
  const record = session === null ? null : shown.sessions(store, session);
  if (session === null || record === null) return null;
  const { idsInRecord, ...ofRecord } = record;
  const keysIn = (table: SessionTable): RowKey[] => rowKeys(store, table, session);
  const { spilledIds } = shown.repeats(store, session, keysIn("repeats"));
  return {
    projectId: session.projectId,
    ...ofRecord,
    requestIds: idsInRecord + spilledIds,
    ...shown.blocks(store, session, keysIn("blocks")),
    ...shown.marks(store, session, keysIn("marks")),
    ...shown.idempotency(store, session, keysIn("idempotency")),
    ...shown.trails(store, session),
  };
}

/** What differs from a session that nothing is known of, by the names of `feature-fields.ts`. */
function namedFeatures(packed: Buffer): Record<string, number | string> | null {
  const features = unpackFeatures(packed, 0, packed.length);
  if (features === null) return null;
  const fresh = newFeatures();
  const named: Record<string, number | string> = {};
  for (const [name, index] of Object.entries(F)) {
    const value = features.numbers[index]!;
    if (!Object.is(value, fresh.numbers[index])) named[name] = value;
  }
  for (const [name, index] of Object.entries(T)) {
    if (features.texts[index] !== "") named[name] = features.texts[index]!;
  }
  return named;
}
