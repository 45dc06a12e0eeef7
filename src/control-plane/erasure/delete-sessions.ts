/**
 * Deletion of stored sessions by a rule's expression, a bounded number a call: sessions are looked at in the order of the log, and then
 * each matched one goes with all of its rows. Ended at any time, what is deleted is deleted whole, and logged.
 */

import { currentActor } from "../../auth/actor.js";
import type { AuditValues } from "../../contract/configuration/audit.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { ScoredState } from "../../contract/sessions/session.js";
import { decodeSessionToken } from "../../contract/sessions/session-token.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { compileRule } from "../../rules/compile-rule.js";
import { isRuleFault } from "../../rules/fault.js";
import { unavailableFields } from "../../rules/fields.js";
import type { Slices } from "../../runtime/long-work.js";
import { type NewAuditEntry, putAuditEntry, replaceAuditEntry } from "../../store/audit-rows.js";
import { recordControlPlane } from "../../store/control-plane-changes.js";
import { type SessionKeys, sessionKey } from "../../store/keys.js";
import type { RemoteSessions } from "../../store/remote-sessions.js";
import { eraseRows } from "../../store/rows-of-session.js";
import { SessionCount } from "../../store/session-count.js";
import type { Store } from "../../store/store.js";
import { tryLock } from "../../store/thread-lock.js";
import { eraseExceptionsOf } from "../exceptions/exceptions.js";
import {
  isBeyond,
  type LogPosition,
  latestSessions,
  positionAt,
  readPosition,
  sessionAt,
  writePosition,
} from "../sessions/session-log.js";
import { asksRules, type SearchServices, SessionSearch } from "../sessions/session-search.js";
import { deletionOf } from "./erase-session.js";

/** One call of a deletion; the expression must not be empty. */
export interface SessionDeletion {
  readonly expressionSource: string;
  /** When the sessions began: from, and until, exclusive; ms. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isDryRun: boolean;
  /** Maximum number of sessions in this call. */
  readonly atMost: number;
  /** `null` starts at the latest session. */
  readonly cursor: string | null;
}

/** What this call did, in sessions. */
export interface DeletedSessions {
  readonly scanned: number;
  readonly matched: number;
  readonly deleted: number;
  /** `null` means that nothing is left to do. */
  readonly nextCursor: string | null;
  readonly unavailableFields: readonly string[];
}

/** What a deletion reads and deletes in. */
export interface DeletionServices extends SearchServices {
  readonly store: Store;
}

/**
 * Deletes matching sessions, or counts them. Returns null if the client left before anything was deleted. Refuses `invalidPayload` with the position of
 * an error in the expression or for an invalid cursor, and `conflict` while another query of the account runs. Rejects if a row may be left in a
 * cluster: another call finds those sessions again.
 */
export async function deleteSessions(
  services: DeletionServices,
  project: Project,
  deletion: SessionDeletion,
  slices: Slices,
  now: () => number,
): Promise<DeletedSessions | Refusal | null> {
  const compiled = compileRule(deletion.expressionSource, "search");
  if (isRuleFault(compiled)) return refuse("invalidPayload", `expression: ${compiled.message}`);
  const after = deletion.cursor === null ? positionAt(deletion.untilMs) : readPosition(deletion.cursor);
  if (after === null) return refuse("invalidPayload", "cursor is not valid for this list");
  const { store } = services;
  const unlock = tryLock(store, `query:${project.accountId}`);
  if (unlock === null)
    return refuse("conflict", "another query of the account is running: try again when it has ended");
  try {
    const search = new SessionSearch(services, project, now());
    const scanMax = search.scanMax(asksRules(compiled.ast));
    const found = await matched({ store, project, deletion, after, slices, scanMax }, (state) => {
      const { input } = search.of(state);
      return input !== null && compiled.matches(input);
    });
    if (found === null) return null;
    const { scanned, tokens, nextCursor } = found;
    const counts = { scanned, matched: tokens.length, unavailableFields: unavailableFields(compiled.ast) };
    if (deletion.isDryRun || tokens.length === 0) return { ...counts, deleted: 0, nextCursor };
    const entryOf = entriesOf(project, deletion, now);
    const erasure = { store, project, tokens, slices, entryOf };
    const { remoteSessions } = store;
    const deleted = await (remoteSessions === undefined ? erase(erasure) : eraseRemotely(erasure, remoteSessions));
    return deleted === null ? null : { ...counts, deleted, nextCursor };
  } finally {
    unlock();
  }
}

interface Scan {
  readonly store: Store;
  readonly project: Project;
  readonly deletion: SessionDeletion;
  readonly after: LogPosition;
  readonly slices: Slices;
  readonly scanMax: number;
}

/** Tokens of matched sessions, the latest first, as many as a call takes; where the next goes on. */
async function matched(
  { store, project, deletion, after: start, slices, scanMax }: Scan,
  isMatch: (state: ScoredState) => boolean,
) {
  const { fromMs, untilMs, isDryRun, atMost } = deletion;
  const matchedMax = isDryRun ? Number.POSITIVE_INFINITY : Math.min(atMost, limits.sessionDeletionMax);
  const tokens: string[] = [];
  let scanned = 0;
  let after = start;
  const ended = (isWhole: boolean) => ({ scanned, tokens, nextCursor: isWhole ? null : writePosition(after) });
  if (matchedMax === 0) return ended(true);
  for (;;) {
    const positions = await latestSessions(store, project.id, limits.ruleTestLookup, after, slices);
    if (positions === null) return null;
    for (const position of positions) {
      if (slices.isOver && !(await slices.next())) return null;
      if (isBeyond(position, fromMs)) return ended(true);
      if (scanned >= scanMax) return ended(false);
      after = position;
      if (position.beganMs < fromMs || position.beganMs >= untilMs) continue;
      const session = sessionAt(store, project.id, position);
      if (session === null) continue;
      scanned++;
      if (!isMatch(session.state)) continue;
      tokens.push(session.token);
      // What was agreed to is done, or there is more for another call.
      if (tokens.length >= matchedMax) return ended(tokens.length >= atMost);
    }
    if (positions.length < limits.ruleTestLookup) return ended(true);
  }
}

/** Returns the audit entry of this deletion after this many deleted sessions. */
type EntryOf = (deleted: number) => NewAuditEntry;

function entriesOf(project: Project, deletion: SessionDeletion, now: () => number): EntryOf {
  const actor = currentActor();
  const logged = loggedOf(deletion);
  return (sessions) => ({
    at: new Date(now()).toISOString(),
    userId: actor?.userId ?? null,
    tokenId: actor?.tokenId ?? null,
    ...deletionOf(project, { ...logged, sessions }),
  });
}

/** Puts the entry, or says in the one of this id that more are deleted by now; its id. Call inside a write transaction. */
function putEntry(store: Store, entry: NewAuditEntry, id: number | null): number {
  if (id === null) return putAuditEntry(store, entry);
  replaceAuditEntry(store, { id, ...entry });
  return id;
}

/** What the log says of a deletion beside its number. */
function loggedOf({ expressionSource, fromMs, untilMs }: SessionDeletion): AuditValues {
  return { expression: expressionSource, from: new Date(fromMs).toISOString(), to: new Date(untilMs).toISOString() };
}

/** The sessions to delete, and the audit entry. */
interface Erasure {
  readonly store: Store;
  readonly project: Project;
  readonly tokens: readonly string[];
  readonly slices: Slices;
  readonly entryOf: EntryOf;
}

/**
 * How many went in a cluster; null when whoever asked left before the first. The log says before the first record goes how many are to go, and in the
 * end how many went: of a group that failed all, since any may have gone.
 */
async function eraseRemotely(
  { store, project, tokens, slices, entryOf }: Erasure,
  sessions: RemoteSessions,
): Promise<number | null> {
  if (!(await slices.next())) return null;
  let id: number | null = null;
  const log = async (count: number): Promise<void> => {
    id = await recordControlPlane(store, () => {
      if (id === null) eraseExceptionsOf(store, project.id, new Set(tokens));
      return putEntry(store, entryOf(count), id);
    });
  };
  const logFirst = async (): Promise<void> => {
    if (id === null) await log(tokens.length);
  };
  let deleted = 0;
  for (let at = 0; at < tokens.length && (await slices.next()); at += limits.sessionDeletionGroup) {
    const group = tokens.slice(at, at + limits.sessionDeletionGroup).map((token) => keysOf(project.id, token));
    try {
      deleted += (await sessions.erase(group, logFirst)).sessions;
    } catch (error) {
      if (id !== null) await log(deleted + group.length).catch(() => {});
      throw error;
    }
  }
  if (deleted < tokens.length) await log(deleted);
  return deleted;
}

/** How many went; null when whoever asked left before the first. */
async function erase({ store, project, tokens, slices, entryOf }: Erasure): Promise<number | null> {
  if (!(await slices.next())) return null;
  let id: number | null = null;
  let deleted = 0;
  for (let at = 0; at < tokens.length; at += limits.sessionDeletionGroup) {
    if (!(await slices.next())) return deleted;
    const group = tokens.slice(at, at + limits.sessionDeletionGroup);
    const before = deleted;
    deleted += await store.root.childTransaction(() => {
      const count = new SessionCount(store, project.id);
      const gone = group.filter((token) => {
        const session = keysOf(project.id, token);
        // Another process may have erased it meanwhile.
        return store.sessions.doesExist(session.key) && eraseRows(store, session, count).sessions > 0;
      });
      count.save();
      eraseExceptionsOf(store, project.id, new Set(gone));
      if (gone.length > 0) id = putEntry(store, entryOf(before + gone.length), id);
      return gone.length;
    });
  }
  return deleted;
}

function keysOf(projectId: number, text: string): SessionKeys {
  const token = decodeSessionToken(text)!;
  return { projectId, token, key: sessionKey(projectId, token) };
}
