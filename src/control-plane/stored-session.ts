/** Everything the store holds about one session, decoded, for an operator who is asked for it. Reads only. */
import type { Block } from "../contract/entities.js";
import type { SessionMark } from "../contract/marks.js";
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import type { Trail } from "../contract/trail.js";
import { F, newFeatures, T, unpackFeatures } from "../engines/session-features.js";
import { repeatsKey, sessionKey, tokenBytes } from "../store/keys.js";
import { decodeSession } from "../store/session-record.js";
import type { Store } from "../store/store.js";

/** What the rows of a session are found by. */
export interface SessionKeys {
  readonly projectId: number;
  readonly token: Buffer;
  /** `sessionKey`. */
  readonly key: Buffer;
}

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

/** Null for an unknown token. Throws for a record that can't be decoded. */
export function readStoredSession(store: Store, token: string): StoredSession | null {
  const found = findSession(store, token);
  const bytes = found === null ? undefined : store.sessions.getBinary(found.key);
  if (found === null || bytes === undefined) return null;
  const record = decodeSession(bytes);
  if (record === null) throw new Error("the session's record can't be decoded: run `verdictd check`");
  const spilled = [0, 1].map((each) => store.repeats.getBinary(repeatsKey(found.key, each as 0 | 1))?.length ?? 0);
  return {
    projectId: found.projectId,
    recordBytes: bytes.length,
    verdict: record.verdict,
    requestIds: (record.repeats.length + spilled[0]! + spilled[1]!) / 8,
    features: namedFeatures(record.features),
    blocks: blocksOf(store, found.projectId, token),
    mark: store.marks.get([found.projectId, token]) ?? null,
    idempotencyKeys: idempotencyRowsOf(store, found).length,
    trail: store.trails.get(found.key) ?? null,
  };
}

/** Recorded blocks of a session. Walks the project's blocks. */
export function blocksOf(store: Store, projectId: number, token: string): Block[] {
  const range = store.blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0] });
  return [...range.filter(({ value }) => value.sessionToken === token)].map(({ value }) => value);
}

/** Keys of the idempotency rows that resolve to a session. Walks the table: the rows of two days. */
export function idempotencyRowsOf({ idempotency }: Store, { token }: SessionKeys): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key, value } of idempotency.getRange({})) {
    if (token.equals(value.subarray(0, tokenBytes))) keys.push(Buffer.from(key));
  }
  return keys;
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
