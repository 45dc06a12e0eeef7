/**
 * Rows of the audit log. They are appended in the transaction of the change itself, so neither exists without the other. Each account has several logs, by the
 * kind of what was changed, each with a bound of its own: many changes of rules push out no change of a member.
 */
import type { AuditEntry, AuditValues } from "../contract/configuration/audit.js";
import { minuteMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import { logNumberOf } from "./keys.js";
import { nextId, type Store } from "./store.js";

/** A change before it gets its number. */
export type NewAuditEntry = Omit<AuditEntry, "id">;

/** Appends to its log; `keepAuditBound` bounds it afterwards. Returns the new number. Call inside a write transaction. */
export function putAuditEntry(store: Store, entry: NewAuditEntry): number {
  const log = logNumberOf(entry);
  const id = nextId(store, `audit:${log}`);
  store.audit.putSync([log, id], { id, ...entry });
  return id;
}

/** Replaces the entry of this number. Call inside a write transaction. */
export function replaceAuditEntry(store: Store, entry: AuditEntry): void {
  store.audit.putSync([logNumberOf(entry), entry.id], entry);
}

/**
 * As `putAuditEntry`, but a change of one thing by one token within a minute after the first one raises that one's count. Returns the entry as it is kept.
 * `recent` has entries of the last minute that a mirror of a cluster does not have itself.
 */
export function logChange(store: Store, entry: NewAuditEntry, recent: readonly AuditEntry[] = []): AuditEntry {
  const first = entry.tokenId === null || isDeletion(entry) ? undefined : firstOf(store, entry, recent);
  if (first === undefined) return { id: putAuditEntry(store, entry), ...entry };
  const counted: AuditEntry = {
    ...first,
    subject: entry.subject,
    before: merged(entry.before, first.before),
    after: merged(first.after, entry.after),
    count: (first.count ?? 1) + 1,
  };
  replaceAuditEntry(store, counted);
  return counted;
}

/** Each deletes other sessions. */
function isDeletion({ action }: NewAuditEntry): boolean {
  return action === "sessions.deleted";
}

/** The entry of the last minute that a further change of the same thing by the same token belongs to. */
function firstOf(store: Store, entry: NewAuditEntry, recent: readonly AuditEntry[]): AuditEntry | undefined {
  const sinceMs = Date.parse(entry.at) - minuteMs;
  const log = logNumberOf(entry);
  const name = nameOf(entry);
  const range = { start: [log, Number.POSITIVE_INFINITY], end: [log, 0], reverse: true } as {
    start: [number, number];
    end: [number, number];
    reverse: boolean;
  };
  const stored = [...store.audit.getRange({ ...range, limit: limits.auditRepeatsLookedAt })].map(({ value }) => value);
  return [...stored, ...recent].find((each) => Date.parse(each.at) > sinceMs && nameOf(each) === name);
}

/** Who changed what; a thing with an id is the same under another name. */
function nameOf({ accountId, projectId, tokenId, action, subject }: NewAuditEntry): string {
  return JSON.stringify([accountId, projectId, tokenId, action, subject.replace(/^(\w+ \d+) ".*"$/s, "$1")]);
}

function merged(below: AuditValues | null, above: AuditValues | null): AuditValues | null {
  return below === null ? above : { ...below, ...above };
}
