/**
 * The ingest write path, run by a scoring worker: session state is read, folded, scored and written through a unit of work. It has no other effect,
 * so if the unit could not be committed, the same group may run again on another unit.
 */
import type { AuthenticatedKey, Credentials } from "../auth/credentials.js";
import type { Project } from "../contract/configuration/entities.js";
import type { Plans } from "../contract/configuration/plans.js";
import type { IpStorage } from "../contract/configuration/scoring-worker.js";
import type { IngestAnswer, IngestBatch, IngestEvent } from "../contract/events/events.js";
import type { LastRequest } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { addressProof } from "../contract/sessions/address-proof.js";
import { isIssuedToken } from "../contract/sessions/issued-token.js";
import { newScoredState, type ScoredState } from "../contract/sessions/session.js";
import { decodeSessionToken, encodeSessionToken } from "../contract/sessions/session-token.js";
import { canonicalHost } from "../contract/values/host.js";
import { rulePath } from "../contract/verdicts/visitor-request.js";
import { foldBatch, setCrawlerClaim } from "../engines/fold-batch.js";
import { noteAgent, scoreSession } from "../engines/score-session.js";
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
import { erasedTokenHash } from "../store/erased-token.js";
import { noIdempotencyKey, sessionKey, tokenAt } from "../store/keys.js";
import { decodeSession, encodeSession } from "../store/session-record.js";
import { contactHash, countSession, namedSession, openBatch, SiteKeyHolders } from "./batch-reads.js";
import { idHashesOf, type ReadBody, readBody } from "./decode-batch.js";
import type { IngestRequest } from "./frame.js";
import { findIdempotent, rememberIdempotent } from "./idempotency.js";
import { countPathReuse } from "./path-reuse.js";
import { SeenIds } from "./seen-ids.js";
import { takeTicket } from "./start-ticket.js";
import { type Standing, standingOf } from "./steady.js";
import type { TokenMint } from "./token-mint.js";
import type { UnitOfWork } from "./unit-of-work.js";
import { UsageTally } from "./usage-tally.js";

/** The error for a first contact that is not kept, because its project has reached its maximum of sessions. */
interface ContactShed {
  readonly isShed: true;
}

/** The answer to a batch that was recorded. */
export interface Recorded extends IngestAnswer {
  /** Set if DNS is asked about the session's claim to be a crawler: the result is news for this project. */
  projectId?: number;
  /** How far the session's verdict stands, see `steady.ts`; absent where it may still change. */
  standing?: Standing;
}

/** The outcome of a batch: recorded, refused, or a first contact that was shed. */
export type IngestOutcome = Recorded | Refusal | ContactShed;

/** A session with a record that a group has written. */
export interface DirtySession {
  /** `sessionKey`. */
  readonly key: Buffer;
  /** Ids of the detections that newly fired on it. */
  readonly fired: readonly number[];
}

/** The result of a group; it is valid once the unit of work is committed. */
export interface GroupResult {
  /** The answer to each batch, in order. */
  readonly outcomes: readonly IngestOutcome[];
  /** The `sessionKey` of the session that each batch was recorded in, in the same order; `null` means none. */
  readonly sessions: readonly (Buffer | null)[];
  /** In the order of their first write. */
  readonly dirty: readonly DirtySession[];
}

/** A session while a group works on it. */
interface OpenSession {
  readonly projectId: number;
  readonly key: Buffer;
  /** The token in the clients' form. */
  readonly token: string;
  readonly state: ScoredState;
  readonly features: SessionFeatures;
  readonly seenIds: SeenIds;
  readonly isNew: boolean;
  /** Of its `Idempotency-Key`, see `SessionRecord`. */
  readonly contactKey: Buffer | undefined;
  score: boolean;
}

/** What stays the same from group to group. */
export interface CommitContext {
  readonly credentials: Credentials;
  readonly plans: Plans;
  readonly ipStorage: IpStorage;
  /** Sessions a project may have. */
  readonly sessionsMax: number;
  /** This thread's mint. A run that is thrown away puts later tokens a few milliseconds out of order, nothing else. */
  readonly mint: TokenMint;
}

interface Group {
  readonly unit: UnitOfWork;
  readonly context: CommitContext;
  readonly holders: SiteKeyHolders;
  /** The session of each batch so far, by its `sessionKey`. */
  readonly sessions: (Buffer | null)[];
  /** Sessions of the current batches, by `nameOfSession`. */
  readonly open: Map<string, OpenSession>;
  /** Sessions of the current batches to save. */
  readonly changed: Set<OpenSession>;
  /** Sessions that the group has minted, by `nameOfSession`, saved at its end. */
  readonly minted: Map<string, OpenSession>;
  /** By `nameOfSession`. */
  readonly dirty: Map<string, DirtySession>;
  readonly usage: UsageTally;
}

/** Folding or scoring failed, a fault of ours: the unit must be discarded and the batches of its group committed one by one. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

/** The answer to a batch that causes a `BatchFault` on its own. */
export const faultyBatch = refuse("internal", "the batch could not be processed");

/**
 * Runs the batches on a unit of work, which the caller commits. `bodies` holds the bodies that are read already; the others are read when they are
 * used, and are then in the core's cache. Throws what the unit throws, and `BatchFault`; the unit must not be used after that.
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
    holders: new SiteKeyHolders(context.credentials),
    sessions: [],
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
      group.sessions.push(null);
      outcomes.push(takeBatch(group, request, bodies?.[index] ?? readBody(request.body)));
    }
    for (const session of group.changed) if (!session.isNew) saveSession(group, session);
    group.changed.clear();
    // A later batch reads its session again. If a large group kept its sessions until the end, their objects survived garbage collections, which took
    // a tenth of the thread's time (the bench's `recorded`).
    group.open.clear();
  }
  // In the order of their keys, which appends them to full pages.
  const minted = [...group.minted.values()].sort((one, other) => one.key.compare(other.key));
  for (const session of minted) saveSession(group, session);
  return { outcomes, sessions: group.sessions, dirty: [...group.dirty.values()] };
}

function takeBatch(group: Group, request: IngestRequest, body: ReadBody): IngestOutcome {
  // The batch that caused the DNS question has settled the project; its key may have been rotated since.
  if (request.projectId !== undefined) return identify(group, request, request.projectId);
  const opened = openBatch(group.holders, request, body);
  if (opened instanceof Refusal) return opened;
  return recordBatch(group, request, opened.batch, idHashesOf(body, opened.batch), opened.holder);
}

function recordBatch(
  group: Group,
  request: IngestRequest,
  batch: IngestBatch,
  idHashes: readonly number[],
  { project, account }: AuthenticatedKey,
): Recorded | ContactShed {
  const { facts } = request;
  const session =
    findSession(group, project.id, batch.session_token) ?? takeFirstContact(group, project, batch, request);
  if ("isShed" in session) return session;
  group.sessions[group.sessions.length - 1] = session.key;
  const fresh = session.seenIds.dedupe(batch.events, idHashes);
  const isFirst = session.isNew && session.state.eventCount === 0;
  if (fresh.length > 0) {
    const ip = storedAddress(facts.ip, group.context.ipStorage);
    group.changed.add(session);
    try {
      const owner = { projectId: project.id, name: nameOf(session), features: session.features, isFirst };
      const opening = isFirst ? countSession(group.unit, project.id, fresh, facts) : notCounted;
      const startTicket = takeTicket(group.unit, project, fresh, facts);
      const reuse = countPathReuse(group.unit, owner, fresh, facts);
      // Name by name: with spread objects this took 3 us of a batch.
      foldBatch(session.features, fresh, facts, {
        sessionsFromIp: opening.sessionsFromIp,
        sessionsWithEnvironment: opening.sessionsWithEnvironment,
        startTicket,
        sessionsWithShape: reuse.sessionsWithShape,
        replayedShingles: reuse.replayedShingles,
        replayedTurns: reuse.replayedTurns,
      });
    } catch (cause) {
      throw new BatchFault("folding failed", { cause });
    }
    takeIdentity(session, request);
    session.state.eventCount += fresh.length;
    session.state.lastSeenMs = Math.max(session.state.lastSeenMs, facts.nowMs);
    session.state.last = lastRequest(session.state.last, fresh, facts, ip);
    session.score ||= request.score;
  } else if (hasMoved(session, request)) {
    // Duplicates show nothing about the visitor except the address.
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
  const standing = standingOf(session.state, session.features, batch.events);
  if (standing !== undefined) answer.standing = standing;
  if (request.identity.crawlerClaim === "pending") answer.projectId = project.id;
  return answer;
}

const notCounted = { sessionsFromIp: 0, sessionsWithEnvironment: 0 };

/** Applies DNS's answer about a session's visitor. */
function identify(group: Group, request: IngestRequest, projectId: number): IngestAnswer {
  const session = findSession(group, projectId, request.identifies);
  if (session !== null) {
    group.sessions[group.sessions.length - 1] = session.key;
    const { crawlerClaim } = request.identity;
    // If the session has left the address since, only a false claim still matters.
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
 * An identity belongs to the address that proved it, whatever is stored of it. A proof by DNS outlives the batch that requested it, as long as the
 * address stays the same and nothing refutes it.
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

/** Names a session within its project, for the path-reuse index: four of its token's bytes, three of them random. */
function nameOf({ key }: OpenSession): number {
  return key.readUInt32LE(tokenAt + 4);
}

/** The name of a session in the maps of a group: a token that is used with another project's key must not lead to its session. */
function nameOfSession(projectId: number, token: string): string {
  return `${projectId} ${token}`;
}

/** Returns the session that a client's token names, if it belongs to this project. */
function findSession(group: Group, projectId: number, token: string | null): OpenSession | null {
  if (token === null) return null;
  const name = nameOfSession(projectId, token);
  const open = group.open.get(name) ?? group.minted.get(name);
  if (open !== undefined) return open;
  const key = namedSession(projectId, token);
  if (key === null) return null;
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
    contactKey: record.contactKey,
    score: false,
  };
  group.open.set(name, session);
  return session;
}

/**
 * Returns the session first minted for this `Idempotency-Key`, if its client never saw our answer and retries; otherwise a new one, under the token
 * that the client was given with its page if it has one, unless its project has reached its maximum.
 */
function takeFirstContact(
  group: Group,
  project: Project,
  batch: IngestBatch,
  request: IngestRequest,
): OpenSession | ContactShed {
  const { unit, context } = group;
  const { id: projectId } = project;
  const { nowMs } = request.facts;
  const hash = contactHash(request, batch);
  const minted = hash === null ? null : findIdempotent(unit, projectId, hash, nowMs, keyedTokensMs);
  const known = minted === null ? null : findSession(group, projectId, encodeSessionToken(minted));
  if (known !== null && nowMs - known.state.firstSeenMs < limits.idempotencyKeptMs) return known;
  if (unit.sessionCount(projectId) >= context.sessionsMax) return { isShed: true };
  unit.addSession(projectId);
  const issued = batch.session_token === null ? null : decodeSessionToken(batch.session_token);
  const token =
    [issued, minted].find((each) => each !== null && isRecoverable(group, project, each, nowMs)) ??
    context.mint.mint(nowMs, hash === null ? null : unit.shardOf(hash));
  const contactKey = hash === null ? noIdempotencyKey : rememberIdempotent(unit, projectId, hash, token, nowMs);
  const session = newSession(unit, projectId, token, nowMs, contactKey);
  group.minted.set(nameOfSession(projectId, session.token), session);
  return session;
}

/**
 * Whether the first report may make its session under this token: it was issued for the project and leads to no session yet, nor to one that was
 * erased. Asked when no session of this token was found.
 */
function isRecoverable({ unit }: Group, project: Project, token: Buffer, nowMs: number): boolean {
  if (!isIssuedToken(project, token, nowMs) || unit.session(sessionKey(project.id, token)) !== undefined) return false;
  return findIdempotent(unit, project.id, erasedTokenHash(token), nowMs) === null;
}

/** Of tokens that an `Idempotency-Key` may name: one may have been handed out a day before the contact that it was used for. */
const keyedTokensMs = limits.idempotencyKeptMs + limits.issuedTokenMs;

function newSession(
  unit: UnitOfWork,
  projectId: number,
  token: Buffer,
  nowMs: number,
  contactKey: Buffer,
): OpenSession {
  const key = sessionKey(projectId, token);
  return {
    projectId,
    key,
    token: encodeSessionToken(token),
    state: newScoredState(nowMs),
    features: newFeatures(),
    seenIds: new SeenIds(unit, key, noHashes, 0),
    isNew: true,
    contactKey,
    score: false,
  };
}

/** Path and host come from the page's own events; address and user agent come from the request. */
function lastRequest(
  before: LastRequest,
  events: readonly IngestEvent[],
  facts: RequestFacts,
  ip: string,
): LastRequest {
  let { path, host } = before;
  for (const { payload } of events) {
    // In the form that rules see, see `rulePath`; a value that is no path counts as missing.
    path = payload.path === undefined ? path : (rulePath(payload.path) ?? path);
    host = payload.host === undefined ? host : canonicalHost(payload.host);
  }
  return { path, host, ip, userAgent: facts.userAgent };
}

function saveSession({ unit, dirty }: Group, session: OpenSession): void {
  const { state, key } = session;
  const name = nameOfSession(session.projectId, session.token);
  let fired: readonly number[] = dirty.get(name)?.fired ?? noneFired;
  let packed: Buffer;
  try {
    if (session.score) {
      const { agentMarks, detectionIds } = state;
      scoreSession(state, session.features);
      noteAgent(state, session.features, { agentMarks, detectionIds });
      for (const id of state.detectionIds) if (!detectionIds.includes(id)) fired = [...fired, id];
    }
    packed = packScratch.subarray(0, packFeatures(session.features, packScratch, 0));
  } catch (cause) {
    throw new BatchFault("scoring failed", { cause });
  }
  const seenIds = session.seenIds.save();
  const { contactKey } = session;
  unit.putSession(key, encodeSession({ state, seenIds, features: packed, contactKey }), session.isNew);
  session.score = false;
  dirty.set(name, { key, fired });
}

const noneFired: readonly number[] = [];
const noHashes = Buffer.alloc(0);

/** Buffer in which features are packed before they are copied into the record; a worker packs one session at a time. */
const packScratch = Buffer.allocUnsafe(packedBytesMax + 256);
