/**
 * Which rows a group of batches will most likely read, known before it is run: the session that each names; for a first contact its
 * `Idempotency-Key` and what is counted across sessions. What else is needed shows when the group is run, and costs it a second round.
 */
import type { Credentials, KeyHolder } from "../auth/credentials.js";
import { keySlot } from "../cluster/slots.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { Refusal } from "../errors.js";
import {
  countAddress,
  countEnvironment,
  countPathShare,
  countShape,
  countTicket,
} from "../ingest/cross-session-counts.js";
import { batchOf, type ReadBody, readBody, siteKeyOf } from "../ingest/decode-batch.js";
import type { IngestRequest } from "../ingest/frame.js";
import { hashIdempotencyKey, isIdempotencyKey } from "../ingest/idempotency.js";
import { ticketIn } from "../ingest/start-ticket.js";
import { type CrossSessionKind, crossSessionKinds } from "../ingest/unit-of-work.js";
import { readUsualHead } from "../ingest/usual-batch.js";
import { idempotencyKey, sessionKey } from "../store/keys.js";
import { type NeededRow, neededSession } from "./cluster-unit.js";
import { crossSessionRow, idempotencyRow } from "./keys.js";

/** A batch whose needs are asked for. */
export interface UnreadBatch {
  readonly request: IngestRequest;
  /** Read where its needs can't be told otherwise; null: when it is run, and is in the core's cache then. */
  body: ReadBody | null;
}

/** What a group needs before it is run. */
export interface Needs {
  /** As `FetchedRows` names them. */
  readonly rows: Map<string, NeededRow>;
  /** Projects whose paths are looked at. */
  readonly projectIds: Set<number>;
}

/** The needs of these batches. Reads keys and projects from the mirror, as running them will. */
export function needsOf(credentials: Credentials, batches: readonly UnreadBatch[]): Needs {
  const needs: Needs = { rows: new Map(), projectIds: new Set() };
  const holders = new Map<string, KeyHolder | null>();
  const projectOf = (key: string): number | null => {
    let holder = holders.get(key);
    if (holder === undefined) {
      holder = credentials.keyHolder("site", key);
      holders.set(key, holder);
    }
    return holder === null ? null : holder.project.id;
  };
  for (const unread of batches) {
    const { request } = unread;
    if (request.projectId !== undefined) {
      needSession(needs, request.projectId, request.identifies);
      continue;
    }
    if (needsSessionAlone(needs, unread, projectOf)) continue;
    unread.body ??= readBody(request.body);
    const { body } = unread;
    const projectId = projectOf(request.siteKey || siteKeyOf(body));
    if (projectId === null) continue;
    const batch = batchOf(body);
    if (batch instanceof Refusal) continue;
    needs.projectIds.add(projectId);
    const { ip, nowMs } = request.facts;
    const counter = { countAcross: countNeed(needs) };
    const ticket = ticketIn(batch.events);
    if (ticket !== undefined) countTicket(counter, projectId, ticket, nowMs);
    if (batch.session_token !== null && needSession(needs, projectId, batch.session_token)) continue;
    if (request.idempotencyKey !== null && isIdempotencyKey(request.idempotencyKey)) {
      const row = idempotencyRow(idempotencyKey(0, projectId, hashIdempotencyKey(request.idempotencyKey)));
      needs.rows.set(row.toString("latin1"), { key: row, slot: keySlot(row) });
    }
    countAddress(counter, projectId, ip, nowMs);
    countEnvironment(counter, projectId, batch.events, ip, nowMs);
    countPathShare(counter, projectId, ip, nowMs);
    countShape(counter, projectId, batch.events, nowMs);
  }
  return needs;
}

const ticketName = Buffer.from('"start_ticket"');

/**
 * Notes the needs of a batch that names its session and hands in no ticket, which its first bytes tell; false: it has to be read. Most
 * batches are such: read later, they don't outlive the wait for the rows, which would cost the garbage collector as much as all else does.
 */
function needsSessionAlone(
  needs: Needs,
  { request, body }: UnreadBatch,
  projectOf: (key: string) => number | null,
): boolean {
  if (body !== null) return false;
  const head = readUsualHead(request.body);
  if (head === null || head.token === null || request.body.includes(ticketName)) return false;
  const projectId = projectOf(request.siteKey || head.siteKey);
  if (projectId === null || !needSession(needs, projectId, head.token)) return false;
  needs.projectIds.add(projectId);
  return true;
}

/** False for a text that is no token. */
function needSession(needs: Needs, projectId: number, token: string): boolean {
  const bytes = decodeSessionToken(token);
  if (bytes === null) return false;
  const key = sessionKey(projectId, bytes);
  needs.rows.set(key.toString("latin1"), neededSession(key));
  return true;
}

function countNeed(needs: Needs) {
  return (kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number => {
    const row = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour);
    const before = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour - 1);
    needs.rows.set(row, { key: row, also: before, slot: keySlot(row) });
    return 0;
  };
}
