/**
 * The ingest write path, run by a scoring worker: session state is read, folded, scored and written, all of it through a unit of work. Has
 * no effect outside of that, so the same group may be run again on another unit when this one could not be committed.
 */
import type { AuthenticatedKey, Credentials } from "../auth/credentials.js";
import { addressProof } from "../contract/address-proof.js";
import type { IngestAnswer, IngestBatch, IngestEvent } from "../contract/events.js";
import type { LastRequest } from "../contract/evidence.js";
import type { RequestFacts } from "../contract/header-facts.js";
import type { Plans } from "../contract/plans.js";
import type { IpStorage } from "../contract/scoring-worker.js";
import { newScoredState, type ScoredState } from "../contract/session.js";
import { decodeSessionToken, encodeSessionToken } from "../contract/session-token.js";
import { rulePath } from "../contract/visitor-request.js";
import { setCrawlerClaim } from "../engines/crawler-claim.js";
import { foldBatch } from "../engines/fold-batch.js";
import { scoreSession } from "../engines/score-session.js";
import {
  newFeatures,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  unpackFeatures,
} from "../engines/session-features.js";
import { Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { storedAddress } from "../net/stored-address.js";
import { sessionKey, tokenAt } from "../store/keys.js";
import { decodeSession, encodeSession } from "../store/session-record.js";
import { countAddress, countEnvironment } from "./cross-session-counts.js";
import { batchOf, idHashesOf, type ReadBody, readBody, siteKeyOf } from "./decode-batch.js";
import type { IngestRequest } from "./frame.js";
import {
  badIdempotencyKey,
  findIdempotent,
  hashIdempotencyKey,
  isIdempotencyKey,
  rememberIdempotent,
} from "./idempotency.js";
import { countPathReuse } from "./path-reuse.js";
import { SeenIds } from "./seen-ids.js";
import { takeTicket } from "./start-ticket.js";
import type { TokenMint } from "./token-mint.js";
import type { UnitOfWork } from "./unit-of-work.js";
import { UsageTally } from "./usage-tally.js";

/** A first contact that is not kept, because its project has all the sessions it may have. */
export interface ContactShed {
  readonly isShed: true;
}

/** The answer to a batch that was recorded. */
export interface Recorded extends IngestAnswer {
  /** Of a session whose claim to be a crawler DNS is asked about: what comes of it is news for this project. */
  projectId?: number;
}

/** What a batch came to: recorded, refused, or a first contact that was shed. */
export type IngestOutcome = Recorded | Refusal | ContactShed;

/** A session whose record a group has written. */
export interface DirtySession {
  /** `sessionKey`. */
  readonly key: Buffer;
  /** Ids of the detections that newly fired on it. */
  readonly fired: readonly number[];
}

/** What came of a group; it holds once the unit of work is committed. */
export interface GroupResult {
  /** The answer to each batch, in order. */
  readonly outcomes: readonly IngestOutcome[];
  /** In the order in which they were first written. */
  readonly dirty: readonly DirtySession[];
}

/** A session while a group works on it. */
interface OpenSession {
  readonly projectId: number;
  readonly key: Buffer;
  /** As clients know it. */
  readonly token: string;
  readonly state: ScoredState;
  readonly features: SessionFeatures;
  readonly seenIds: SeenIds;
  readonly isNew: boolean;
  score: boolean;
}

/** What stays the same from group to group. */
export interface CommitContext {
  readonly credentials: Credentials;
  readonly plans: Plans;
  readonly ipStorage: IpStorage;
  /** Sessions a project may have. */
  readonly sessionsMax: number;
  /** This thread's. A run that is thrown away costs it a few milliseconds of order among later tokens, nothing else. */
  readonly mint: TokenMint;
}

interface Group {
  readonly unit: UnitOfWork;
  readonly context: CommitContext;
  /** By site key: nothing can change them while the unit is at work. */
  readonly holders: Map<string, AuthenticatedKey | null>;
  /** Sessions of the batches under way, by token. */
  readonly open: Map<string, OpenSession>;
  /** Those of the batches under way that are to be saved. */
  readonly changed: Set<OpenSession>;
  /** Those that the group has made, by token, to be saved at its end. */
  readonly minted: Map<string, OpenSession>;
  /** By token. */
  readonly dirty: Map<string, DirtySession>;
  readonly usage: UsageTally;
}

/** Folding or scoring failed, a fault of ours: the unit is to be discarded and the batches of its group committed one by one. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

/** The answer to a batch that alone ends in a `BatchFault`. */
export const faultyBatch = refuse("internal", "the batch could not be processed");

/**
 * Runs the batches on a unit of work, which the caller commits. `bodies` are those of theirs that are read already; the others are read when
 * they are used, and are in the core's cache then. Throws what the unit throws, and `BatchFault`; the unit is worth nothing then.
 */
export function commitBatches(
  unit: UnitOfWork,
  context: CommitContext,
  requests: readonly IngestRequest[],
  bodies: readonly (ReadBody | null)[] | null = null,
): GroupResult {
  context.mint.startGroup();
  const group: Group = {
    unit,
    context,
    holders: new Map(),
    open: new Map(),
    changed: new Set(),
    minted: new Map(),
    dirty: new Map(),
    usage: new UsageTally(unit, context.plans),
  };
  const outcomes: IngestOutcome[] = [];
  for (let from = 0; from < requests.length; from += limits.batchesAtOnce) {
    const to = Math.min(from + limits.batchesAtOnce, requests.length);
    for (let index = from; index < to; index++) {
      const request = requests[index]!;
      unit.beginBatch(index);
      outcomes.push(takeBatch(group, request, bodies?.[index] ?? readBody(request.body)));
    }
    for (const session of group.changed) if (!session.isNew) saveSession(group, session);
    group.changed.clear();
    // One that a later batch is of is read again. Kept for the whole of a large group, what sessions are made of survived garbage collections, which
    // took a tenth of the thread's time (the bench's `recorded`).
    group.open.clear();
  }
  // In the order of their keys, so that they are appended to full pages.
  const minted = [...group.minted.values()].sort((one, other) => one.key.compare(other.key));
  for (const session of minted) saveSession(group, session);
  return { outcomes, dirty: [...group.dirty.values()] };
}

function takeBatch(group: Group, request: IngestRequest, body: ReadBody): IngestOutcome {
  // Whose session it is was settled by the batch that DNS was asked about; its key may have been rotated since.
  if (request.projectId !== undefined) return identify(group, request, request.projectId);
  const key = request.siteKey || siteKeyOf(body);
  let holder = group.holders.get(key);
  if (holder === undefined) {
    holder = group.context.credentials.authenticatedKey("site", key);
    group.holders.set(key, holder);
  }
  if (holder === null) return refuse("unauthenticated", "a valid site key is required");
  if (holder.account.subscription !== "active") {
    return refuse("noActiveSubscription", "the account has no active subscription");
  }
  if (!isIdempotencyKey(request.idempotencyKey)) return badIdempotencyKey;
  const batch = batchOf(body);
  if (batch instanceof Refusal) return batch;
  return recordBatch(group, request, batch, idHashesOf(body, batch), holder);
}

function recordBatch(
  group: Group,
  request: IngestRequest,
  batch: IngestBatch,
  idHashes: readonly number[],
  { project, account }: AuthenticatedKey,
): Recorded | ContactShed {
  const { facts } = request;
  const session = findSession(group, project.id, batch.session_token) ?? takeFirstContact(group, project.id, request);
  if ("isShed" in session) return session;
  const fresh = session.seenIds.dedupe(batch.events, idHashes);
  const isFirst = session.isNew && session.state.eventCount === 0;
  if (fresh.length > 0) {
    const ip = storedAddress(facts.ip, group.context.ipStorage);
    group.changed.add(session);
    try {
      const owner = { projectId: project.id, name: nameOf(session), features: session.features, isFirst };
      const crossSession = {
        sessionsFromIp: isFirst ? countAddress(group.unit, project.id, facts.ip, facts.nowMs) : 0,
        sessionsWithEnvironment: isFirst ? countEnvironment(group.unit, project.id, fresh, facts.ip, facts.nowMs) : 0,
        startTicket: takeTicket(group.unit, project, fresh, facts),
        ...countPathReuse(group.unit, owner, fresh, facts),
      };
      foldBatch(session.features, fresh, facts, crossSession);
    } catch (cause) {
      throw new BatchFault("folding failed", { cause });
    }
    takeIdentity(session, request);
    session.state.eventCount += fresh.length;
    session.state.lastSeenMs = Math.max(session.state.lastSeenMs, facts.nowMs);
    session.state.last = lastRequest(session.state.last, fresh, facts, ip);
    session.score ||= request.score;
  } else if (hasMoved(session, request)) {
    // Duplicates tell nothing of the visitor, but where they come from.
    takeIdentity(session, request);
    group.changed.add(session);
  }
  const overQuota = group.usage.count(account, project.id, fresh.length, isFirst, facts);
  const answer: Recorded = {
    session_token: session.token,
    accepted: fresh.length,
    duplicates: batch.events.length - fresh.length,
  };
  if (overQuota) answer.over_quota = true;
  if (request.identity.crawlerClaim === "pending") answer.projectId = project.id;
  return answer;
}

/** News of who a session's visitor is, after DNS answered. */
function identify(group: Group, request: IngestRequest, projectId: number): IngestAnswer {
  const session = findSession(group, projectId, request.identifies);
  if (session !== null) {
    const { crawlerClaim } = request.identity;
    // Of an address that the session has left since, only a false claim still says something of it.
    if (!hasMoved(session, request)) takeIdentity(session, request);
    else if (crawlerClaim === "spoofed") setCrawlerClaim(session.features, crawlerClaim);
    group.changed.add(session);
    session.score = session.state.scored;
  }
  return { session_token: request.identifies, accepted: 0, duplicates: 0 };
}

/** Whether a session that is verified, or claims to be a crawler, asks from another address than before. False for any other session. */
function hasMoved({ state }: OpenSession, { facts, identifies }: IngestRequest): boolean {
  if (state.addressProof === undefined) return state.verifiedBot !== null || identifies !== "";
  return state.addressProof !== addressProof(facts.ip);
}

/**
 * Who the visitor is belongs to the address that proved it, whatever is stored of that. A proof by DNS outlives the batch that asked for
 * it, as long as the address stays and nothing refutes it.
 */
function takeIdentity(session: OpenSession, request: IngestRequest): void {
  const { state, features } = session;
  const { verifiedBot, crawlerClaim } = request.identity;
  if (verifiedBot !== null || crawlerClaim === "spoofed" || hasMoved(session, request)) {
    state.verifiedBot = verifiedBot;
  }
  if (state.verifiedBot !== null || crawlerClaim === "pending") {
    state.addressProof = addressProof(request.facts.ip);
  } else delete state.addressProof;
  if (crawlerClaim !== "pending" && crawlerClaim !== "none") setCrawlerClaim(features, crawlerClaim);
}

/** Names a session among those of its project, for the path-reuse index: four of its token's bytes, three of them random. */
function nameOf({ key }: OpenSession): number {
  return key.readUInt32LE(tokenAt + 4);
}

/** The session a client's token names, if it is one of this project. */
function findSession(group: Group, projectId: number, token: string | null): OpenSession | null {
  if (token === null) return null;
  const open = group.open.get(token) ?? group.minted.get(token);
  // Two projects never have the same token: it is random.
  if (open !== undefined) return open.projectId === projectId ? open : null;
  const decoded = decodeSessionToken(token);
  if (decoded === null) return null;
  const key = sessionKey(projectId, decoded);
  const bytes = group.unit.session(key);
  const record = bytes === undefined ? null : decodeSession(bytes);
  if (record === null) return null;
  const session: OpenSession = {
    projectId,
    key,
    token,
    state: record.state,
    features: unpackFeatures(record.features, 0, record.features.length) ?? newFeatures(),
    seenIds: new SeenIds(group.unit, key, record.seenIds, record.state.eventCount),
    isNew: false,
    score: false,
  };
  group.open.set(token, session);
  return session;
}

/**
 * The session first minted for this `Idempotency-Key`, whose client never saw our answer and asks again, or a new one, if its
 * project has not all that it may.
 */
function takeFirstContact(group: Group, projectId: number, request: IngestRequest): OpenSession | ContactShed {
  const { unit, context } = group;
  const { nowMs } = request.facts;
  const hash = request.idempotencyKey === null ? null : hashIdempotencyKey(request.idempotencyKey);
  const minted = hash === null ? null : findIdempotent(unit, projectId, hash, nowMs);
  const known = minted === null ? null : findSession(group, projectId, encodeSessionToken(minted));
  if (known !== null) return known;
  if (unit.sessionCount(projectId) >= context.sessionsMax) return { isShed: true };
  unit.addSession(projectId);
  const token = context.mint.mint(nowMs, hash === null ? null : unit.shardOf(hash));
  if (hash !== null) rememberIdempotent(unit, projectId, hash, token, nowMs);
  const session = newSession(unit, projectId, token, nowMs);
  group.minted.set(session.token, session);
  return session;
}

function newSession(unit: UnitOfWork, projectId: number, token: Buffer, nowMs: number): OpenSession {
  const key = sessionKey(projectId, token);
  return {
    projectId,
    key,
    token: encodeSessionToken(token),
    state: newScoredState(nowMs),
    features: newFeatures(),
    seenIds: new SeenIds(unit, key, noHashes, 0),
    isNew: true,
    score: false,
  };
}

/** Path and host come from the page's own events, address and user agent from the request. */
function lastRequest(
  before: LastRequest,
  events: readonly IngestEvent[],
  facts: RequestFacts,
  ip: string,
): LastRequest {
  let { path, host } = before;
  for (const { payload } of events) {
    // As rules see it, see `rulePath`; what is no path counts as missing.
    path = payload.path === undefined ? path : (rulePath(payload.path) ?? path);
    host = payload.host ?? host;
  }
  return { path, host, ip, userAgent: facts.userAgent };
}

function saveSession({ unit, dirty }: Group, session: OpenSession): void {
  const { state, token, key } = session;
  let fired: readonly number[] = dirty.get(token)?.fired ?? noneFired;
  let packed: Buffer;
  try {
    if (session.score) {
      const before = state.detectionIds;
      scoreSession(state, session.features);
      for (const id of state.detectionIds) if (!before.includes(id)) fired = [...fired, id];
    }
    packed = packScratch.subarray(0, packFeatures(session.features, packScratch, 0));
  } catch (cause) {
    throw new BatchFault("scoring failed", { cause });
  }
  const seenIds = session.seenIds.save();
  unit.putSession(key, encodeSession({ state, seenIds, features: packed }), session.isNew);
  session.score = false;
  dirty.set(token, { key, fired });
}

const noneFired: readonly number[] = [];
const noHashes = Buffer.alloc(0);

/** Where features are packed before they are copied into the record; a worker packs one session at a time. */
const packScratch = Buffer.allocUnsafe(packedBytesMax + 256);
