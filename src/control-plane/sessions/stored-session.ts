/** Everything the store holds about one session, decoded, for an operator who is asked for it. Reads only. */

import type { Block } from "../../contract/configuration/entities.js";
import type { SessionMark } from "../../contract/sessions/marks.js";
import type { ScoredState } from "../../contract/sessions/session.js";
import { beganAtMs, decodeSessionToken } from "../../contract/sessions/session-token.js";
import type { Timeline } from "../../contract/sessions/timeline.js";
import { F, newFeatures, T, unpackFeatures } from "../../engines/session-features.js";
import { type SessionKeys, sessionKey } from "../../store/keys.js";
import type { RemoteRows } from "../../store/remote-sessions.js";
import { rowKeys, rowsBeside } from "../../store/rows-of-session.js";
import { decodeSession } from "../../store/session-record.js";
import type { Store } from "../../store/store.js";
import { type NamingTable, type ShownRows, shownOf } from "../../store/tables.js";

/** What `session show` prints: the record, and what other tables hold that names the session. */
export interface StoredSession {
  readonly projectId: number;
  /** Bytes of the session's record. */
  readonly recordBytes: number;
  /** As `beganAtMs` of the token says. */
  readonly beganMs: number;
  readonly state: ScoredState;
  /** Request ids that were seen, in the record and in rows of their own. */
  readonly requestIds: number;
  /** What was observed, by name; null when the features can't be unpacked. */
  readonly features: Readonly<Record<string, number | string>> | null;
  readonly blocks: readonly Block[];
  /** What the operator says that it was. */
  readonly mark: SessionMark | null;
  /** First contacts whose `Idempotency-Key` still resolves to this session. */
  readonly idempotencyKeys: number;
  /** Null when none is kept. */
  readonly timeline: Timeline | null;
  /** Of further tables, by name. */
  readonly further: Readonly<Omit<ShownRows, "repeats" | "trails">>;
}

/**
 * The project that has a session of this token, if it is `ofProject` (null: any); null when none has. One look-up a project. Rejects when the
 * store can't be read.
 */
export async function findSession(
  store: Store,
  token: string,
  ofProject: number | null = null,
): Promise<SessionKeys | null> {
  const bytes = decodeSessionToken(token);
  if (bytes === null) return null;
  const projectIds = ofProject === null ? [...store.projects.getKeys({})] : [ofProject];
  const keys = projectIds.map((projectId) => sessionKey(projectId, bytes));
  const key =
    store.remoteSessions === undefined
      ? keys.find((each) => store.sessions.doesExist(each))
      : await store.remoteSessions.find(keys);
  return key ? { projectId: key.readUInt32BE(0), token: bytes, key } : null;
}

/** Null for an unknown token. Throws for a record that can't be decoded, and rejects when the store can't be read. */
export async function readStoredSession(store: Store, token: string): Promise<StoredSession | null> {
  const session = await findSession(store, token);
  if (session === null) return null;
  const rows = store.remoteSessions === undefined ? ownRows(store, session) : await store.remoteSessions.read(session);
  if (rows === null) return null;
  const { projectId } = session;
  const { repeats, trails, ...further } = rows.beside;
  const record = decodeSession(rows.record);
  if (record === null) throw new Error("the session's record can't be decoded: run `verdictd check`");
  const naming = {
    idempotency: rows.idempotencyKeys,
    blocks: await store.recorded.blocks.ofSession(projectId, token),
    marks: await store.recorded.marks.find(projectId, token),
  } satisfies Record<NamingTable, unknown>;
  return {
    projectId,
    recordBytes: rows.record.length,
    beganMs: beganAtMs(record.state.firstSeenMs, session.token),
    state: record.state,
    features: namedFeatures(record.features),
    requestIds: record.seenIds.length / 8 + repeats,
    blocks: naming.blocks.filter(({ action }) => action === undefined),
    mark: naming.marks,
    idempotencyKeys: naming.idempotency,
    timeline: trails,
    further,
  };
}

/** As a cluster would have them. */
function ownRows(store: Store, session: SessionKeys): RemoteRows | null {
  const record = store.sessions.getBinary(session.key);
  if (record === undefined) return null;
  return {
    record,
    beside: shownOf(rowsBeside(store, session.key)),
    idempotencyKeys: rowKeys(store, "idempotency", session).length,
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
