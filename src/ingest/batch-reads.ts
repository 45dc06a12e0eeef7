/**
 * What a batch reads of the store, told once: the run (`commit-batches.ts`) reads by these functions, and `declareReads` calls the same ones for a store
 * that has to fetch rows before a run.
 */
import type { AuthenticatedKey, Credentials } from "../auth/credentials.js";
import type { IngestBatch, IngestEvent } from "../contract/events/events.js";
import type { CrossSessionCounts } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { decodeSessionToken } from "../contract/sessions/session-token.js";
import { Refusal } from "../errors.js";
import { sessionKey } from "../store/keys.js";
import { countAddress, countEnvironment, countShape, countTicket } from "./cross-session-counts.js";
import { batchOf, type ReadBody, readBody, siteKeyOf } from "./decode-batch.js";
import type { IngestRequest } from "./frame.js";
import {
  badIdempotencyKey,
  hashIdempotencyKey,
  idempotencyKeyOf,
  idempotencyKeysOf,
  isIdempotencyKey,
} from "./idempotency.js";
import { isShareGranted } from "./path-room.js";
import { ticketIn } from "./start-ticket.js";
import type { UnitOfWork } from "./unit-of-work.js";
import { readUsualHead } from "./usual-batch.js";

/** The holders of site keys, read once a group: nothing can change them while its unit runs. */
export class SiteKeyHolders {
  readonly #credentials: Credentials;
  readonly #holders = new Map<string, AuthenticatedKey | Refusal>();

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** As `Credentials.subscribedKey`. */
  of(siteKey: string): AuthenticatedKey | Refusal {
    let holder = this.#holders.get(siteKey);
    if (holder === undefined) {
      holder = this.#credentials.subscribedKey("site", siteKey);
      this.#holders.set(siteKey, holder);
    }
    return holder;
  }
}

/** A batch that may be recorded, and for whom. */
interface OpenedBatch {
  readonly holder: AuthenticatedKey;
  readonly batch: IngestBatch;
}

/** Returns the batch of a request, or why it is refused. */
export function openBatch(
  holders: SiteKeyHolders,
  { siteKey, idempotencyKey }: IngestRequest,
  body: ReadBody,
): OpenedBatch | Refusal {
  const holder = holders.of(siteKey || siteKeyOf(body));
  if (holder instanceof Refusal) return holder;
  if (!isIdempotencyKey(idempotencyKey)) return badIdempotencyKey;
  const batch = batchOf(body);
  return batch instanceof Refusal ? batch : { holder, batch };
}

/** Returns the `sessionKey` of the session that a client's token names in a project; null for a text that is no token. */
export function namedSession(projectId: number, token: string | null): Buffer | null {
  const bytes = token === null ? null : decodeSessionToken(token);
  return bytes === null ? null : sessionKey(projectId, bytes);
}

/** Returns the hash of the `Idempotency-Key` of a first contact; null for none. */
export function contactHash({ idempotencyKey }: IngestRequest, batch: IngestBatch): Buffer | null {
  const key = idempotencyKeyOf(idempotencyKey, batch);
  return key === null ? null : hashIdempotencyKey(key);
}

/** Counts a session by what its first batch shows. */
export function countSession(
  unit: Pick<UnitOfWork, "countAcross">,
  projectId: number,
  events: readonly IngestEvent[],
  { ip, nowMs }: RequestFacts,
): Pick<CrossSessionCounts, "sessionsFromIp" | "sessionsWithEnvironment"> {
  return {
    sessionsFromIp: countAddress(unit, projectId, ip, nowMs),
    sessionsWithEnvironment: countEnvironment(unit, projectId, events, ip, nowMs),
  };
}

/** A batch whose reads are declared. */
export interface UnreadBatch {
  readonly request: IngestRequest;
  /** Parses the batch, only if its reads can't be told otherwise. `null` leaves that to the run, when the batch is in the core's cache. */
  body: ReadBody | null;
}

/** Takes what a batch will read: as a unit of work does, but rows have no values yet. */
export interface DeclaredReads extends Pick<UnitOfWork, "countAcross"> {
  session(key: Buffer): void;
  idempotent(key: Buffer): void;
  /** The pointer paths of a project. */
  paths(projectId: number): void;
}

/**
 * Declares what the run of a batch will read; what depends on rows that it reads can't be known. `isCopier`: whether this session has shown paths of
 * others. The shape of its batches is counted, so they have to be parsed.
 */
export function declareReads(
  reads: DeclaredReads,
  holders: SiteKeyHolders,
  unread: UnreadBatch,
  isCopier: (sessionKey: Buffer) => boolean,
): void {
  const { request } = unread;
  if (request.projectId !== undefined) {
    const session = namedSession(request.projectId, request.identifies);
    if (session !== null) reads.session(session);
    return;
  }
  if (readsSessionAlone(reads, holders, unread, isCopier)) return;
  unread.body ??= readBody(request.body);
  const opened = openBatch(holders, request, unread.body);
  if (opened instanceof Refusal) return;
  const { batch, holder } = opened;
  const { project } = holder;
  const { facts } = request;
  reads.paths(project.id);
  const ticket = ticketIn(batch.events);
  if (ticket !== undefined) countTicket(reads, project.id, ticket, facts.nowMs);
  const session = namedSession(project.id, batch.session_token);
  if (session !== null) {
    reads.session(session);
    if (isCopier(session)) countShape(reads, project.id, batch.events, facts.nowMs);
    return;
  }
  const hash = contactHash(request, batch);
  if (hash !== null) for (const key of idempotencyKeysOf(project.id, hash, facts.nowMs)) reads.idempotent(key);
  countSession(reads, project.id, batch.events, facts);
  isShareGranted(reads, project.id, facts);
  countShape(reads, project.id, batch.events, facts.nowMs);
}

const ticketName = Buffer.from('"start_ticket"');

/**
 * Declares the reads of a batch that names its session and hands in no ticket, which its first bytes show. Returns false if the batch has to be parsed.
 * Most batches are of this kind. Parsed later, they are garbage before the wait for the rows, which would otherwise cost the collector as much as
 * everything else.
 */
function readsSessionAlone(
  reads: DeclaredReads,
  holders: SiteKeyHolders,
  { request, body }: UnreadBatch,
  isCopier: (sessionKey: Buffer) => boolean,
): boolean {
  if (body !== null) return false;
  const head = readUsualHead(request.body);
  if (head === null || head.token === null || request.body.includes(ticketName)) return false;
  const holder = holders.of(request.siteKey || head.siteKey);
  if (holder instanceof Refusal) return false;
  const session = namedSession(holder.project.id, head.token);
  if (session === null || isCopier(session)) return false;
  reads.session(session);
  reads.paths(holder.project.id);
  return true;
}
