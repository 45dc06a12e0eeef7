/**
 * The peer's sessions in Redis: a hash each, with one binary field that ingest works on and one JSON field that a verdict is made of. Commands
 * of all requests that are under way share round trips (ioredis' auto-pipelining); changes of one session are made one after the other.
 */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { IngestBatch, IngestEvent } from "../../../src/contract/events/events.js";
import type { RequestFacts } from "../../../src/contract/evidence/header-facts.js";
import { newScoredState, type ScoredState } from "../../../src/contract/sessions/session.js";
import { Hash64, pushHash64 } from "../../../src/contract/values/hashes.js";
import { foldBatch } from "../../../src/engines/fold-batch.js";
import { scoreSession } from "../../../src/engines/score-session.js";
import {
  newFeatures,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  unpackFeatures,
} from "../../../src/engines/session-features.js";
import { shapeHash } from "../../../src/ingest/cross-session-counts.js";

const hourS = 3600;
const dayS = 24 * hourS;
/** Request ids remembered of a session: as many as verdictd keeps in the session itself. */
const seenIdsMax = 128;

interface Session {
  readonly token: string;
  readonly isNew: boolean;
  readonly state: ScoredState;
  readonly features: SessionFeatures;
  /** Hashes of the latest request ids, two words each. */
  readonly seenIds: Int32Array;
}

/** Other sessions like this one, as `CrossSessionCounts` counts them. */
interface CrossSessionCounts {
  readonly fromIp: number;
  readonly withShape: number;
}

interface Recorded {
  readonly token: string;
  readonly accepted: number;
}

export class Sessions {
  readonly #redis: Redis;
  /** The last change under way of each session, by token. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** What a verdict is made of; null for a session nobody knows. */
  async scoredState(token: string): Promise<ScoredState | null> {
    const text = await this.#redis.hget(keyOf(token), "verdict");
    return text === null ? null : (JSON.parse(text) as ScoredState);
  }

  /** Records a batch and scores its session. Resolves when Redis has both in its append-only file: a killed process loses nothing. */
  async record(batch: IngestBatch, idempotencyKey: string | undefined, facts: RequestFacts): Promise<Recorded> {
    if (batch.session_token !== null) {
      const known = await this.#alone(batch.session_token, async (token) => {
        const session = await this.#load(token);
        return session === null ? null : this.#fold(session, batch, facts, null);
      });
      if (known !== null) return known;
    }
    return this.#firstContact(batch, idempotencyKey, facts);
  }

  /** A retry finds the session that was minted for its key, be it stored by then or not. */
  async #firstContact(batch: IngestBatch, key: string | undefined, facts: RequestFacts): Promise<Recorded> {
    const minted = `sess_${randomBytes(21).toString("base64url")}`;
    let held: string | null = null;
    const recorded = await this.#alone(minted, async () => {
      const seen = this.#crossSessionCounts(batch, facts);
      if (key !== undefined) held = await this.#redis.set(`i:${key}`, minted, "EX", dayS, "NX", "GET");
      return held === null ? this.#fold(newSession(minted, facts), batch, facts, await seen) : null;
    });
    if (recorded !== null) return recorded;
    return this.#alone(held!, async (token) => {
      const session = (await this.#load(token)) ?? newSession(token, facts);
      return this.#fold(session, batch, facts, { fromIp: 1, withShape: 1 });
    });
  }

  async #load(token: string): Promise<Session | null> {
    const [state, verdict] = await this.#redis.hmgetBuffer(keyOf(token), "state", "verdict");
    if (state == null || verdict == null) return null;
    const seenIdsBytes = state.readUInt16LE(0);
    const seenIds = new Int32Array(seenIdsBytes / 4);
    Buffer.from(seenIds.buffer).set(state.subarray(2, 2 + seenIdsBytes));
    const features = unpackFeatures(state, 2 + seenIdsBytes, state.length);
    if (features === null) throw new Error(`the state of ${token} can't be read`);
    return { token, isNew: false, state: JSON.parse(verdict.toString()) as ScoredState, features, seenIds };
  }

  async #fold(
    { token, isNew, state, features, seenIds }: Session,
    { events }: IngestBatch,
    facts: RequestFacts,
    seen: CrossSessionCounts | null,
  ): Promise<Recorded> {
    const { fresh, shown } = freshOf(events, seenIds);
    if (fresh.length > 0) {
      foldBatch(features, fresh, facts, {
        sessionsFromIp: isNew ? (seen?.fromIp ?? 0) : 0,
        sessionsWithShape: isNew ? (seen?.withShape ?? 0) : 0,
        replayedShingles: 0,
        replayedTurns: 0,
        sessionsWithEnvironment: 1,
        startTicket: null,
      });
      state.eventCount += fresh.length;
      state.lastSeenMs = facts.nowMs;
      let { path, host } = state.last;
      for (const { payload } of fresh) {
        path = payload.path ?? path;
        host = payload.host ?? host;
      }
      state.last = { path, host, ip: facts.ip, userAgent: facts.userAgent };
      scoreSession(state, features);
      const stored = this.#redis.hset(keyOf(token), "state", packed(features, shown), "verdict", JSON.stringify(state));
      // Kept for a time from the first contact on; in the same round trip.
      await (isNew ? Promise.all([stored, this.#redis.expire(keyOf(token), 30 * dayS)]) : stored);
    }
    return { token, accepted: fresh.length };
  }

  /** Sessions first seen from this address and with this first batch in this hour and the one before, this one included. */
  async #crossSessionCounts({ events }: IngestBatch, { ip, nowMs }: RequestFacts): Promise<CrossSessionCounts> {
    const hour = Math.floor(nowMs / 1000 / hourS);
    const address = new Hash64();
    address.addText(ip);
    const shape = shapeHash(events);
    const [fromIp, withShape] = await Promise.all([
      this.#count("a", hour, address),
      shape === null ? 0 : this.#count("b", hour, shape),
    ]);
    return { fromIp, withShape };
  }

  async #count(kind: string, hour: number, hash: Hash64): Promise<number> {
    const words: number[] = [];
    hash.push(words);
    const name = `${kind}:${Buffer.from(Int32Array.from(words).buffer).toString("base64url")}`;
    const [now, , before] = await Promise.all([
      this.#redis.incr(`${name}:${hour}`),
      this.#redis.expire(`${name}:${hour}`, 2 * hourS),
      this.#redis.get(`${name}:${hour - 1}`),
    ]);
    return now + Number(before ?? 0);
  }

  /** Runs `change` when all changes of this session that were begun before are done. */
  async #alone<Result>(token: string, change: (token: string) => Promise<Result>): Promise<Result> {
    const before = this.#busy.get(token);
    const running = before === undefined ? change(token) : before.then(() => change(token));
    const settled = running.catch(() => {});
    this.#busy.set(token, settled);
    try {
      return await running;
    } finally {
      if (this.#busy.get(token) === settled) this.#busy.delete(token);
    }
  }
}

function keyOf(token: string): string {
  return `s:${token}`;
}

function newSession(token: string, { nowMs }: RequestFacts): Session {
  return {
    token,
    isNew: true,
    state: newScoredState(nowMs),
    features: newFeatures(),
    seenIds: new Int32Array(0),
  };
}

/** The events whose ids the session has not shown, and all the ids it has shown then. */
function freshOf(
  events: readonly IngestEvent[],
  seenIds: Int32Array,
): { readonly fresh: IngestEvent[]; readonly shown: Int32Array } {
  const shown = new Int32Array(seenIds.length + 2 * events.length);
  shown.set(seenIds);
  let end = seenIds.length;
  const fresh = events.filter(({ request_id }) => {
    const words: number[] = [];
    pushHash64(request_id, words);
    shown.set(words, end);
    for (let at = 0; at < end; at += 2) {
      if (shown[at] === shown[end] && shown[at + 1] === shown[end + 1]) return false;
    }
    end += 2;
    return true;
  });
  return { fresh, shown: shown.subarray(Math.max(0, end - 2 * seenIdsMax), end) };
}

/** Length of the ids in bytes (u16), the ids, the features. */
function packed(features: SessionFeatures, seenIds: Int32Array): Buffer {
  const bytes = Buffer.allocUnsafe(2 + seenIds.byteLength + packedBytesMax + 256);
  bytes.writeUInt16LE(seenIds.byteLength, 0);
  bytes.set(Buffer.from(seenIds.buffer, seenIds.byteOffset, seenIds.byteLength), 2);
  return bytes.subarray(0, packFeatures(features, bytes, 2 + seenIds.byteLength));
}
