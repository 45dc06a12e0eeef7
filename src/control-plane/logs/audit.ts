/**
 * Changes of the configuration with their entries in the audit log, and reads of that log. Everything that changes the configuration calls
 * `changeAudited`, which does not compile without the entries. Secrets are never passed to it.
 */

import { currentActor } from "../../auth/actor.js";
import {
  type AuditAction,
  type AuditEntry,
  type AuditValues,
  accountOfServer,
  auditLogOfKind,
  auditLogs,
} from "../../contract/configuration/audit.js";
import { Refusal, RevokedError, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import type { Slices } from "../../runtime/long-work.js";
import type { NewAuditEntry } from "../../store/audit-rows.js";
import { changeControlPlane } from "../../store/control-plane-changes.js";
import { auditLogNumber, auditLogNumbers } from "../../store/keys.js";
import type { Store } from "../../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** One change. `before` and `after` may have equal fields: only differences are stored. */
export interface AuditedChange {
  /** `accountOfServer` for a change that applies to all accounts. */
  readonly accountId: number;
  readonly projectId: number | null;
  readonly action: AuditAction;
  readonly subject: string;
  readonly before: AuditValues | null;
  readonly after: AuditValues | null;
}

/** A result with the changes behind it; `audited` and `unchanged` make it. */
export interface Audited<T> {
  readonly result: T;
  readonly changes: readonly AuditedChange[];
}

/** A change that was made, with at least one entry for the log. */
export function audited<T>(result: T, ...changes: readonly [AuditedChange, ...AuditedChange[]]): Audited<T> {
  return { result, changes };
}

/** A result without a change, or without one that a person decided. */
export function unchanged<T>(result: T): Audited<T> {
  return { result, changes: [] };
}

/**
 * Runs `change` and logs it in the same transaction, in the name of the person behind it. A refusal has changed nothing. Throws a `RevokedError` if
 * that person may no longer make it.
 */
export function changeAudited<T>(store: Store, now: () => number, change: () => Audited<T>): Promise<T>;
export function changeAudited<T>(
  store: Store,
  now: () => number,
  change: () => Audited<T> | Refusal,
): Promise<T | Refusal>;
export function changeAudited<T>(
  store: Store,
  now: () => number,
  change: () => Audited<T> | Refusal,
): Promise<T | Refusal> {
  const actor = currentActor();
  return changeControlPlane<T | Refusal>(store, () => {
    const refused = actor?.refused() ?? null;
    if (refused !== null) throw new RevokedError(refused);
    const made = change();
    if (made instanceof Refusal) return { result: made, entries: [] };
    const entries = made.changes.map(({ before, after, ...what }): NewAuditEntry => {
      return {
        at: new Date(now()).toISOString(),
        userId: actor?.userId ?? null,
        tokenId: actor?.tokenId ?? null,
        ...what,
        before: differing(before, after),
        after: differing(after, before),
      };
    });
    return { result: made.result, entries };
  });
}

/** Returns the fields of `values` that differ from `others`; all of them if there are no others. */
function differing(values: AuditValues | null, others: AuditValues | null): AuditValues | null {
  if (values === null || others === null) return values;
  const pairs = Object.entries(values).filter(([name, value]) => String(value) !== String(others[name]));
  return Object.fromEntries(pairs);
}

/** The account and the changes to list. */
export interface AuditQuery {
  readonly accountId: number;
  /** Whether to include changes of the account itself (tokens, members) and of the server. */
  readonly seesAccount: boolean;
  /** Only changes of this project; `null` means all. */
  readonly projectId: number | null;
  /** Only changes with an action that starts like this: `rule`; `null` means all. */
  readonly kind: string | null;
  /** From, inclusive, and until, exclusive; ms. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly limit: number;
  readonly cursor: string | null;
}

const idBytes = 6;

/** Where a page ended in each log of the account, then in each of the server. */
type Position = number[];
const positions = 2 * auditLogs;

/** Returns matching changes after the cursor, the latest first; null when whoever asked has gone. `invalidPayload` for an invalid cursor. */
export async function auditPage(
  store: Store,
  query: AuditQuery,
  slices: Slices,
): Promise<LogPage<AuditEntry> | Refusal | null> {
  const position = query.cursor === null ? Array<number>(positions).fill(Infinity) : readPosition(query.cursor);
  if (position === null) return refuse("invalidPayload", "cursor is not valid for this list");
  const rows: AuditEntry[] = [];
  for await (const { entry, log } of askedLogs(store, query, [...position])) {
    if (slices.isOver && !(await slices.next())) return null;
    if (Date.parse(entry.at) < query.fromMs) break;
    if (!isAskedFor(entry, query)) continue;
    if (rows.length === query.limit) return { rows, nextCursor: writePosition(position) };
    position[log] = entry.id;
    // Each log numbers its own: together unique in their scope.
    rows.push({ ...entry, id: entry.id * auditLogs + (log % auditLogs) });
  }
  return { rows, nextCursor: null };
}

function isAskedFor(entry: AuditEntry, { seesAccount, projectId, kind, untilMs }: AuditQuery): boolean {
  if (entry.projectId === null && !seesAccount) return false;
  if (entry.accountId === accountOfServer && hiddenActions.has(entry.action)) return false;
  if (projectId !== null && entry.projectId !== projectId) return false;
  if (kind !== null && !entry.action.startsWith(`${kind}.`)) return false;
  return Date.parse(entry.at) < untilMs;
}

/** In the log of the server: users who belong to no account yet are shown by the command line only. */
const hiddenActions: ReadonlySet<AuditAction> = new Set<AuditAction>(["user.created"]);

/** An entry, with the place of its log in a position. */
interface Placed {
  readonly entry: AuditEntry;
  readonly log: number;
}

/** The logs that can hold what is asked for, merged by time: those of the account, and of the server for callers who may see that. */
async function* askedLogs(store: Store, query: AuditQuery, position: Position): AsyncGenerator<Placed, undefined> {
  const { accountId, seesAccount, projectId, kind } = query;
  const owners = seesAccount && projectId === null ? [accountId, accountOfServer] : [accountId];
  const kept = kind === null ? null : auditLogOfKind(kind);
  const heads: { readonly log: number; readonly rest: AsyncGenerator<AuditEntry, undefined>; entry: AuditEntry }[] = [];
  for (const [owner, id] of owners.entries()) {
    for (let number = 0; number < auditLogs; number++) {
      // Log 0 has the changes of every kind that earlier versions made.
      if (kept !== null && number !== 0 && number !== kept) continue;
      const log = owner * auditLogs + number;
      const rest = entriesBefore(store, auditLogNumber(id, number), position[log]!);
      const first = await rest.next();
      if (first.done !== true) heads.push({ log, rest, entry: first.value });
    }
  }
  while (heads.length > 0) {
    const latest = heads.reduce((found, each) => (each.entry.at > found.entry.at ? each : found));
    yield { entry: latest.entry, log: latest.log };
    const next = await latest.rest.next();
    if (next.done === true) heads.splice(heads.indexOf(latest), 1);
    else latest.entry = next.value;
  }
}

/** A log's entries below this id, the latest first, read in small portions. */
async function* entriesBefore(store: Store, number: number, id: number): AsyncGenerator<AuditEntry, undefined> {
  for (let before = id; before > 1; ) {
    const entries = await store.recorded.audit.before(number, before, limits.pageMax);
    yield* entries;
    if (entries.length < limits.pageMax) return;
    before = entries.at(-1)!.id;
  }
}

function writePosition(position: Position): string {
  const bytes = Buffer.alloc(positions * idBytes);
  for (const [index, id] of position.entries()) bytes.writeUIntBE(Math.min(id, lastId), index * idBytes, idBytes);
  return encodeCursor("a", bytes);
}

const lastId = 2 ** (8 * idBytes) - 1;

function readPosition(cursor: string): Position | null {
  const bytes = decodeCursor("a", cursor, positions * idBytes);
  if (bytes === null) return null;
  return Array.from({ length: positions }, (_, index) => bytes.readUIntBE(index * idBytes, idBytes));
}

/** All changes, of every account and of the server, the latest first; for the command line. */
export async function latestChanges(store: Store, accountId: number | null, limit: number): Promise<AuditEntry[]> {
  const accountIds = accountId === null ? [accountOfServer, ...store.accounts.getKeys({})] : [accountId];
  const logs = await Promise.all(
    accountIds
      .flatMap(auditLogNumbers)
      .map((number) => store.recorded.audit.before(number, Number.POSITIVE_INFINITY, limit)),
  );
  return logs
    .flat()
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.id - a.id))
    .slice(0, limit);
}
