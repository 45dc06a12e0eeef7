/**
 * The ingest write path, run by a scoring worker: everything a group of batches changes, in one write transaction. Session state
 * is read, folded, scored and written inside it, so any number of workers and processes may hold batches of one session.
 */
import type { Credentials, KeyHolder } from "../auth/credentials.js";
import { addressProof } from "../contract/address-proof.js";
import type { IngestAnswer, IngestBatch, IngestEvent } from "../contract/events.js";
import type { LastRequest } from "../contract/evidence.js";
import type { RequestFacts } from "../contract/header-facts.js";
import type { Plans } from "../contract/plans.js";
import type { IpStorage } from "../contract/scoring-worker.js";
import { newVerdictPart, type VerdictPart } from "../contract/session.js";
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
import type { GroupWriter } from "../store/group-writer.js";
import { sessionKey, tokenAt } from "../store/keys.js";
import { decodeSession, encodeSession } from "../store/session-record.js";
import type { SessionStore } from "../store/session-store.js";
import { freshenOthers } from "../store/session-stores.js";
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
import { placeOfKey, tokenPlaceOf } from "./places.js";
import { Repeats } from "./repeats.js";
import { ReplayMemory } from "./replays.js";
import { SessionCounts } from "./session-counts.js";
import { countAddress } from "./sightings.js";
import { storedAddress } from "./stored-address.js";
import { TokenMint } from "./token-mint.js";
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

export type IngestOutcome = Recorded | Refusal | ContactShed;

/** A batch of no session in this environment, which has to be looked for, or minted, in another: `commit-stores.ts` sees to it. */
export interface Elsewhere {
  readonly place: number;
}

/** A session while a transaction works on it. */
interface OpenSession {
  readonly projectId: number;
  readonly key: Buffer;
  /** As clients know it. */
  readonly token: string;
  readonly verdict: VerdictPart;
  readonly features: SessionFeatures;
  readonly repeats: Repeats;
  readonly isNew: boolean;
  score: boolean;
}

interface Transaction {
  /** By site key: nothing can change them while the store is held. */
  readonly holders: Map<string, KeyHolder | null>;
  /** By token. */
  readonly sessions: Map<string, OpenSession>;
  /** Those of the batches under way that are to be saved. */
  readonly changed: Set<OpenSession>;
  /** Those that the transaction has made, to be saved at its end. */
  readonly minted: OpenSession[];
  readonly counts: SessionCounts;
  readonly usage: UsageTally;
  readonly replays: ReplayMemory;
  readonly mint: TokenMint;
  readonly ipStorage: IpStorage;
}

export interface CommitOptions {
  /** The environment that these batches are committed to. */
  readonly store: SessionStore;
  readonly writer: GroupWriter;
  readonly credentials: Credentials;
  readonly plans: Plans;
  readonly ipStorage: IpStorage;
  /** What this thread remembers of pointer paths from call to call; absent: nothing, it is read anew each time. */
  readonly replays?: ReplayMemory;
  /** This thread's for the environment; absent: one for this call alone. */
  readonly mint?: TokenMint;
  /** Sessions a project may have. */
  readonly sessionsMax: number;
  /** Whether bodies are read before the transaction, for which others wait. Otherwise each is read when it is used, and is in the core's cache. */
  readonly readsAhead?: boolean;
  /** Told of each detection that newly fired on a session, after the commit. */
  readonly onFired: (detectionId: number) => void;
}

/**
 * Commits the batches and answers each, in order. Throws when the store can't be written; nothing of the group is kept then. A
 * batch that breaks the scoring itself (a fault of ours) is answered `internal` and costs the others nothing.
 */
export function commitBatches(
  options: CommitOptions,
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[] | null = null,
): (IngestOutcome | Elsewhere)[] {
  try {
    return commitGroup(options, requests, bodies);
  } catch (error) {
    if (!(error instanceof BatchFault) || requests.length === 1) {
      if (error instanceof BatchFault) return [refuse("internal", "the batch could not be processed")];
      throw error;
    }
    return requests.flatMap((request) => commitBatches(options, [request]));
  }
}

/** Folding or scoring failed: the group's transaction is undone and its batches are committed one by one. */
class BatchFault extends Error {
  override readonly name = "BatchFault";
}

function commitGroup(
  options: CommitOptions,
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[] | null,
): (IngestOutcome | Elsewhere)[] {
  const fired: number[] = [];
  const replays = options.replays ?? new ReplayMemory(options.store);
  const mint = options.mint ?? new TokenMint(tokenPlaceOf(options.store));
  mint.startGroup();
  const work = (): (IngestOutcome | Elsewhere)[] => {
    freshenOthers(options.store);
    const transaction: Transaction = {
      holders: new Map(),
      sessions: new Map(),
      changed: new Set(),
      minted: [],
      counts: new SessionCounts(options.store, options.sessionsMax),
      usage: new UsageTally(options.store, options.plans),
      replays,
      mint,
      ipStorage: options.ipStorage,
    };
    const outcomes: (IngestOutcome | Elsewhere)[] = [];
    for (let from = 0; from < requests.length; from += limits.batchesAtOnce) {
      const to = Math.min(from + limits.batchesAtOnce, requests.length);
      for (let index = from; index < to; index++) {
        const request = requests[index]!;
        outcomes.push(takeBatch(options, transaction, request, bodies?.[index] ?? readBody(request.body)));
      }
      for (const session of transaction.changed) if (!session.isNew) saveSession(options.store, session, fired);
      transaction.changed.clear();
    }
    // In the order of their keys, so that they are appended to full pages.
    transaction.minted.sort((one, other) => one.key.compare(other.key));
    for (const session of transaction.minted) saveSession(options.store, session, fired);
    transaction.usage.save();
    replays.save();
    transaction.counts.save();
    return outcomes;
  };
  let committed: (IngestOutcome | Elsewhere)[];
  try {
    committed = options.writer.write(work);
  } catch (error) {
    replays.forget();
    throw error;
  }
  for (const detectionId of fired) options.onFired(detectionId);
  return committed;
}

function takeBatch(
  options: CommitOptions,
  transaction: Transaction,
  request: IngestRequest,
  body: ReadBody,
): IngestOutcome | Elsewhere {
  // Whose session it is was settled by the batch that DNS was asked about; its key may have been rotated since.
  if (request.projectId !== undefined) return identify(options.store, transaction, request, request.projectId);
  const key = request.siteKey || siteKeyOf(body);
  let holder = transaction.holders.get(key);
  if (holder === undefined) {
    holder = options.credentials.keyHolder("site", key);
    transaction.holders.set(key, holder);
  }
  if (holder === null) return refuse("unauthenticated", "a valid site key is required");
  if (holder.account.subscription !== "active") {
    return refuse("noActiveSubscription", "the account has no active subscription");
  }
  if (!isIdempotencyKey(request.idempotencyKey)) return badIdempotencyKey;
  const batch = batchOf(body);
  if (batch instanceof Refusal) return batch;
  return recordBatch(options.store, transaction, request, batch, idHashesOf(body, batch), holder);
}

function recordBatch(
  store: SessionStore,
  transaction: Transaction,
  request: IngestRequest,
  batch: IngestBatch,
  idHashes: readonly number[],
  { project, account }: KeyHolder,
): Recorded | ContactShed | Elsewhere {
  const { facts } = request;
  const session =
    findSession(store, transaction, project.id, batch.session_token) ??
    takeFirstContact(store, transaction, project.id, request);
  if ("isShed" in session || "place" in session) return session;
  const fresh = session.repeats.admit(batch.events, idHashes);
  const isFirst = session.isNew && session.verdict.eventCount === 0;
  if (fresh.length > 0) {
    const ip = storedAddress(facts.ip, transaction.ipStorage);
    transaction.changed.add(session);
    try {
      const owner = { projectId: project.id, name: nameOf(session), features: session.features, isFirst };
      const surroundings = {
        sessionsFromIp: isFirst ? countAddress(store, project.id, facts.ip, facts.nowMs) : 0,
        ...countPathReuse(store, transaction.replays, owner, fresh, facts),
      };
      foldBatch(session.features, fresh, facts, surroundings);
    } catch (cause) {
      throw new BatchFault("folding failed", { cause });
    }
    takeIdentity(session, request);
    session.verdict.eventCount += fresh.length;
    session.verdict.lastSeenMs = Math.max(session.verdict.lastSeenMs, facts.nowMs);
    session.verdict.last = lastRequest(session.verdict.last, fresh, facts, ip);
    session.score ||= request.score;
  } else if (hasMoved(session, request)) {
    // Repeats tell nothing of the visitor, but where they come from.
    takeIdentity(session, request);
    transaction.changed.add(session);
  }
  const overQuota = transaction.usage.count(account, project.id, fresh.length, isFirst, facts);
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
function identify(
  store: SessionStore,
  transaction: Transaction,
  request: IngestRequest,
  projectId: number,
): IngestAnswer {
  const session = findSession(store, transaction, projectId, request.identifies);
  if (session !== null) {
    const { crawlerClaim } = request.identity;
    // Of an address that the session has left since, only a false claim still says something of it.
    if (!hasMoved(session, request)) takeIdentity(session, request);
    else if (crawlerClaim === "spoofed") setCrawlerClaim(session.features, crawlerClaim);
    transaction.changed.add(session);
    session.score = session.verdict.scored;
  }
  return { session_token: request.identifies, accepted: 0, duplicates: 0 };
}

/** Whether a session that is verified, or claims to be a crawler, asks from another address than before. False for any other session. */
function hasMoved({ verdict }: OpenSession, { facts, identifies }: IngestRequest): boolean {
  if (verdict.addressProof === undefined) return verdict.verifiedBot !== null || identifies !== "";
  return verdict.addressProof !== addressProof(facts.ip);
}

/**
 * Who the visitor is belongs to the address that proved it, whatever is stored of that. A proof by DNS outlives the batch that asked for
 * it, as long as the address stays and nothing refutes it.
 */
function takeIdentity(session: OpenSession, request: IngestRequest): void {
  const { verdict, features } = session;
  const { verifiedBot, crawlerClaim } = request.identity;
  if (verifiedBot !== null || crawlerClaim === "spoofed" || hasMoved(session, request)) {
    verdict.verifiedBot = verifiedBot;
  }
  if (verdict.verifiedBot !== null || crawlerClaim === "pending") {
    verdict.addressProof = addressProof(request.facts.ip);
  } else delete verdict.addressProof;
  if (crawlerClaim !== "pending" && crawlerClaim !== "none") setCrawlerClaim(features, crawlerClaim);
}

/** Names a session among those of its project, for the memory of paths: four of its token's bytes, three of them random. */
function nameOf({ key }: OpenSession): number {
  return key.readUInt32LE(tokenAt + 4);
}

/** The session a client's token names, if it is one of this project. */
function findSession(
  store: SessionStore,
  transaction: Transaction,
  projectId: number,
  token: string | null,
): OpenSession | null {
  if (token === null) return null;
  const open = transaction.sessions.get(token);
  // Two projects never have the same token: it is random.
  if (open !== undefined) return open.projectId === projectId ? open : null;
  const decoded = decodeSessionToken(token);
  if (decoded === null) return null;
  const key = sessionKey(projectId, decoded);
  const bytes = store.sessions.getBinaryFast(key) as Buffer | undefined;
  const record = bytes === undefined ? null : decodeSession(bytes);
  if (record === null) return null;
  const session: OpenSession = {
    projectId,
    key,
    token,
    verdict: record.verdict,
    features: unpackFeatures(record.features, 0, record.features.length) ?? newFeatures(),
    repeats: new Repeats(store, key, record.repeats, record.verdict.eventCount),
    isNew: false,
    score: false,
  };
  transaction.sessions.set(token, session);
  return session;
}

/**
 * The session first minted for this `Idempotency-Key`, whose client never saw our answer and asks again, or a new one, if it belongs here and
 * its project has not all that it may.
 */
function takeFirstContact(
  store: SessionStore,
  transaction: Transaction,
  projectId: number,
  request: IngestRequest,
): OpenSession | ContactShed | Elsewhere {
  const { nowMs } = request.facts;
  const hash = request.idempotencyKey === null ? null : hashIdempotencyKey(request.idempotencyKey);
  const minted = hash === null ? null : findIdempotent(store, projectId, hash, nowMs);
  const known = minted === null ? null : findSession(store, transaction, projectId, encodeSessionToken(minted));
  if (known !== null) return known;
  const place = placeOfKey(request.idempotencyKey, store);
  if (place !== null && place !== store.place) return { place };
  if (!transaction.counts.admit(projectId)) return { isShed: true };
  const token = transaction.mint.mint(nowMs);
  if (hash !== null) rememberIdempotent(store, projectId, hash, token, nowMs);
  const session = newSession(store, projectId, token, nowMs);
  transaction.sessions.set(session.token, session);
  transaction.minted.push(session);
  return session;
}

function newSession(store: SessionStore, projectId: number, token: Buffer, nowMs: number): OpenSession {
  const key = sessionKey(projectId, token);
  return {
    projectId,
    key,
    token: encodeSessionToken(token),
    verdict: newVerdictPart(nowMs),
    features: newFeatures(),
    repeats: new Repeats(store, key, Buffer.alloc(0), 0),
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

function saveSession(store: SessionStore, session: OpenSession, fired: number[]): void {
  let packed: Buffer;
  try {
    if (session.score) {
      const { verdict } = session;
      const before = verdict.detectionIds;
      scoreSession(verdict, session.features);
      for (const id of verdict.detectionIds) if (!before.includes(id)) fired.push(id);
    }
    packed = packScratch.subarray(0, packFeatures(session.features, packScratch, 0));
  } catch (cause) {
    throw new BatchFault("scoring failed", { cause });
  }
  const repeats = session.repeats.save();
  store.sessions.putSync(session.key, encodeSession({ verdict: session.verdict, repeats, features: packed }));
  session.score = false;
}

/** Where features are packed before they are copied into the record; a worker packs one session at a time. */
const packScratch = Buffer.allocUnsafe(packedBytesMax + 256);
