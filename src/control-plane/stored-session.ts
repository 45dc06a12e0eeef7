/** Everything the store holds about one session, decoded, for an operator who is asked for it. Reads only. */
import type { Block } from "../contract/entities.js";
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import type { Trail } from "../contract/trail.js";
import { F, newFeatures, T, unpackFeatures } from "../engines/session-features.js";
import { repeatsKey, sessionKey, tokenBytes } from "../store/keys.js";
import { decodeSession } from "../store/session-record.js";
import type { SessionStore } from "../store/session-store.js";
import { sessionStoreOf } from "../store/session-stores.js";
import type { Store } from "../store/store.js";

/** Where the rows of a session lie. */
export interface SessionPlace {
  readonly projectId: number;
  readonly token: Buffer;
  readonly key: Buffer;
  /** The environment that holds them; recorded blocks are in the main one. */
  readonly part: SessionStore;
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
  /** First contacts whose `Idempotency-Key` still resolves to this session. */
  readonly idempotencyKeys: number;
  /** Null when none is kept. */
  readonly trail: Trail | null;
}

/** The project that has a session of this token; null when none has. One look-up a project. */
export function findSession(store: Store, token: string): SessionPlace | null {
  const bytes = decodeSessionToken(token);
  if (bytes === null) return null;
  const part = sessionStoreOf(store, bytes);
  for (const projectId of store.projects.getKeys({})) {
    const key = sessionKey(projectId, bytes);
    if (part.sessions.doesExist(key)) return { projectId, token: bytes, key, part };
  }
  return null;
}

/** Null for an unknown token. Throws for a record that can't be decoded. */
export function readStoredSession(store: Store, token: string): StoredSession | null {
  const place = findSession(store, token);
  const bytes = place?.part.sessions.getBinary(place.key);
  if (place === null || bytes === undefined) return null;
  const record = decodeSession(bytes);
  if (record === null) throw new Error("the session's record can't be decoded: run `verdictd check`");
  const { repeats, trails } = place.part;
  const spilled = [0, 1].map((each) => repeats.getBinary(repeatsKey(place.key, each as 0 | 1))?.length ?? 0);
  return {
    projectId: place.projectId,
    recordBytes: bytes.length,
    verdict: record.verdict,
    requestIds: (record.repeats.length + spilled[0]! + spilled[1]!) / 8,
    features: namedFeatures(record.features),
    blocks: blocksOf(store, place.projectId, token),
    idempotencyKeys: idempotencyRowsOf(place).length,
    trail: trails.get(place.key) ?? null,
  };
}

/** Recorded blocks of a session. Walks the project's blocks. */
export function blocksOf(store: Store, projectId: number, token: string): Block[] {
  const range = store.blocks.getRange({ start: [projectId, 0], end: [projectId + 1, 0] });
  return [...range.filter(({ value }) => value.sessionToken === token)].map(({ value }) => value);
}

/** Keys of the idempotency rows that resolve to a session. Walks the table: the rows of two days. */
export function idempotencyRowsOf({ token, part }: SessionPlace): Buffer[] {
  const keys: Buffer[] = [];
  for (const { key, value } of part.idempotency.getRange({})) {
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
