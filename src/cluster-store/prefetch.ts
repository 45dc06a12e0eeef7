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
import { batchOf, type ReadBody, siteKeyOf } from "../ingest/decode-batch.js";
import type { IngestRequest } from "../ingest/frame.js";
import { hashIdempotencyKey, isIdempotencyKey } from "../ingest/idempotency.js";
import { ticketIn } from "../ingest/start-ticket.js";
import { type CrossSessionKind, crossSessionKinds } from "../ingest/unit-of-work.js";
import { idempotencyKey, sessionKey } from "../store/keys.js";
import { type NeededRow, neededSession } from "./cluster-unit.js";
import { crossSessionRow, idempotencyRow } from "./keys.js";

/** What a group needs before it is run. */
export interface Needs {
  /** As `FetchedRows` names them. */
  readonly rows: Map<string, NeededRow>;
  /** Projects whose paths are looked at. */
  readonly projectIds: Set<number>;
}

/** The needs of these batches. Reads keys and projects from the mirror, as running them will. */
export function needsOf(
  credentials: Credentials,
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[],
): Needs {
  const needs: Needs = { rows: new Map(), projectIds: new Set() };
  const holders = new Map<string, KeyHolder | null>();
  for (const [index, request] of requests.entries()) {
    if (request.projectId !== undefined) {
      needSession(needs, request.projectId, request.identifies);
      continue;
    }
    const body = bodies[index]!;
    const key = request.siteKey || siteKeyOf(body);
    let holder = holders.get(key);
    if (holder === undefined) {
      holder = credentials.keyHolder("site", key);
      holders.set(key, holder);
    }
    if (holder === null) continue;
    const batch = batchOf(body);
    if (batch instanceof Refusal) continue;
    const projectId = holder.project.id;
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
    for (const each of [hour, hour - 1]) {
      const row = crossSessionRow(crossSessionKinds[kind], projectId, hash, each);
      needs.rows.set(row, { key: row, slot: keySlot(row) });
    }
    return 0;
  };
}
