/**
 * Predicts which rows a group of batches will read, before it runs: the session that each names; for a first contact its `Idempotency-Key` and its
 * counts across sessions. A batch that needs other rows finds out when the group runs, which costs a second round.
 */
import type { AuthenticatedKey, Credentials } from "../../auth/credentials.js";
import { keySlot } from "../../cluster/slots.js";
import { decodeSessionToken } from "../../contract/session-token.js";
import { Refusal } from "../../errors.js";
import {
  countAddress,
  countEnvironment,
  countPathShare,
  countShape,
  countTicket,
} from "../../ingest/cross-session-counts.js";
import { batchOf, type ReadBody, readBody, siteKeyOf } from "../../ingest/decode-batch.js";
import type { IngestRequest } from "../../ingest/frame.js";
import { hashIdempotencyKey, idempotencyKeyOf, isIdempotencyKey } from "../../ingest/idempotency.js";
import { generationsOf } from "../../ingest/seen-ids.js";
import { ticketIn } from "../../ingest/start-ticket.js";
import { type CrossSessionKind, crossSessionKinds } from "../../ingest/unit-of-work.js";
import { readUsualHead } from "../../ingest/usual-batch.js";
import { idempotencyKey, sessionKey } from "../../store/keys.js";
import { spilledIdsOf } from "../../store/session-record.js";
import { crossSessionRow, idempotencyRow, seenIdsRow, shardOfSession, shardSlots } from "../keys.js";
import { type FetchedRows, type NeededRow, nameOfKey, neededSession, versionBytes } from "./cluster-unit-of-work.js";

/** A batch to predict the rows of. */
export interface UnreadBatch {
  readonly request: IngestRequest;
  /** Parses the batch, only if its needs can't be told otherwise. `null` leaves that to the run, when the batch is in the core's cache. */
  body: ReadBody | null;
}

/** What a group needs before it runs. */
export interface Needs {
  /** Named as in `FetchedRows`. */
  readonly rows: Map<string, NeededRow>;
  /** The `sessionKey` of each session among them, by the same name. */
  readonly sessions: Map<string, Buffer>;
  /** Projects with paths that the group looks up. */
  readonly projectIds: Set<number>;
}

/**
 * Returns the needs of these batches. Reads keys and projects from the mirror, as the run will. `copiers`: sessions, by `nameOfKey`, that have shown
 * paths of others. The shape of their batches is counted, so those batches have to be parsed.
 */
export function needsOf(
  credentials: Credentials,
  batches: readonly UnreadBatch[],
  copiers: ReadonlySet<string>,
): Needs {
  const needs: Needs = { rows: new Map(), sessions: new Map(), projectIds: new Set() };
  const holders = new Map<string, AuthenticatedKey | null>();
  const projectOf = (key: string): number | null => {
    let holder = holders.get(key);
    if (holder === undefined) {
      holder = credentials.authenticatedKey("site", key);
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
    if (needsSessionAlone(needs, unread, projectOf, copiers)) continue;
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
    const session = batch.session_token === null ? null : needSession(needs, projectId, batch.session_token);
    if (session !== null) {
      if (copiers.has(session)) countShape(counter, projectId, batch.events, nowMs);
      continue;
    }
    const key = idempotencyKeyOf(request.idempotencyKey, batch);
    if (key !== null && isIdempotencyKey(key)) {
      const row = idempotencyRow(idempotencyKey(0, projectId, hashIdempotencyKey(key)));
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
 * Notes the needs of a batch that names its session and hands in no ticket, which its first bytes show. Returns false if the batch has to be parsed.
 * Most batches are of this kind. Parsed later, they are garbage before the wait for the rows, which would otherwise cost the collector as much as
 * everything else.
 */
function needsSessionAlone(
  needs: Needs,
  { request, body }: UnreadBatch,
  projectOf: (key: string) => number | null,
  copiers: ReadonlySet<string>,
): boolean {
  if (body !== null) return false;
  const head = readUsualHead(request.body);
  if (head === null || head.token === null || request.body.includes(ticketName)) return false;
  const projectId = projectOf(request.siteKey || head.siteKey);
  if (projectId === null) return false;
  const session = needSession(needs, projectId, head.token);
  if (session === null || copiers.has(session)) return false;
  needs.projectIds.add(projectId);
  return true;
}

/** Returns the name of the session; null for a text that is no token. */
function needSession(needs: Needs, projectId: number, token: string): string | null {
  const bytes = decodeSessionToken(token);
  if (bytes === null) return null;
  const key = sessionKey(projectId, bytes);
  const name = nameOfKey(key);
  needs.rows.set(name, neededSession(key));
  needs.sessions.set(name, key);
  return name;
}

/** Rows of request ids that no longer fit the records of these sessions: every batch reads them first. */
export function spilledIdsNeeds({ sessions }: Needs, rows: FetchedRows): Map<string, NeededRow> {
  const needed = new Map<string, NeededRow>();
  for (const [name, key] of sessions) {
    const value = rows.get(name);
    if (!value) continue;
    for (const row of spilledIdsRows(key, value.subarray(versionBytes))) {
      const rowName = row.toString("latin1");
      if (!rows.has(rowName)) needed.set(rowName, { key: row, slot: shardSlots[shardOfSession(key)]! });
    }
  }
  return needed;
}

const noRows: readonly Buffer[] = [];

/** The rows of request ids that no longer fit the record of this session. */
export function spilledIdsRows(sessionKey: Buffer, record: Buffer): readonly Buffer[] {
  const generations = generationsOf(spilledIdsOf(record));
  if (generations === 0) return noRows;
  return generations === 1 ? [seenIdsRow(sessionKey, 0)] : [seenIdsRow(sessionKey, 0), seenIdsRow(sessionKey, 1)];
}

function countNeed(needs: Needs) {
  return (kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number => {
    const row = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour);
    const before = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour - 1);
    needs.rows.set(row, { key: row, also: before, slot: keySlot(row), isCount: true });
    return 0;
  };
}
