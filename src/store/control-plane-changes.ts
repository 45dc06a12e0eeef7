/** Changes of the configuration: each in one transaction, on one host or by way of the cluster that this store mirrors. */
import type { AuditEntry } from "../contract/configuration/audit.js";
import { minuteMs } from "../contract/values/durations.js";
import { keepAuditBound } from "./audit-bound.js";
import { logChange, type NewAuditEntry } from "./audit-rows.js";
import { raiseRevision, type Store } from "./store.js";

/** The result of a change of the configuration. It must name the entries for the audit log; `[]` means none. */
interface LoggedChange<T> {
  readonly result: T;
  readonly entries: readonly NewAuditEntry[];
}

/**
 * Runs `change` in its own write transaction, writes its audit entries and raises the revision; a thrown error undoes all of it. Does not block the event
 * loop while another thread writes.
 */
export async function changeControlPlane<T>(store: Store, change: () => LoggedChange<T>): Promise<T> {
  const recent = recentOf(store);
  let written: AuditEntry[] = [];
  let made: readonly NewAuditEntry[] = [];
  const logged = (): T => {
    const { result, entries } = change();
    made = entries;
    written = entries.map((entry) => logChange(store, entry, recent));
    return result;
  };
  if (store.changes !== undefined) {
    const result = await store.changes.run(logged);
    remember(store, written);
    tell(store, made);
    await keepAuditBound(store.recorded.audit, written);
    return result;
  }
  const result = await store.root.childTransaction(() => {
    const done = logged();
    raiseRevision(store);
    return done;
  });
  tell(store, made);
  await keepAuditBound(store.recorded.audit, written);
  return result;
}

const observers = new WeakMap<Store, (entry: NewAuditEntry) => void>();

/** From now on `observer` is told of each change that this thread logs, once it is stored; of each alone, also where the log counts several as one. */
export function observeChanges(store: Store, observer: (entry: NewAuditEntry) => void): void {
  observers.set(store, observer);
}

function tell(store: Store, made: readonly NewAuditEntry[]): void {
  const observer = observers.get(store);
  if (observer !== undefined) for (const entry of made) observer(entry);
}

/** As `changeControlPlane`, for rows that no verdict depends on: on one host the revision stays. */
export async function recordControlPlane<T>(store: Store, write: () => T): Promise<T> {
  if (store.changes !== undefined) return store.changes.run(write);
  return store.root.childTransaction(write);
}

/** Entries that this thread wrote in the last minute into the log of a cluster, which no mirror has; the latest first. */
const recentEntries = new WeakMap<Store, readonly AuditEntry[]>();

/** Entries that are remembered at most: each change looks through them. */
const recentMax = 200;

function recentOf(store: Store): readonly AuditEntry[] {
  return recentEntries.get(store) ?? [];
}

function remember(store: Store, written: readonly AuditEntry[]): void {
  const sinceMs = Date.now() - minuteMs;
  const isReplaced = (each: AuditEntry): boolean =>
    written.some(
      ({ id, accountId, action }) => id === each.id && accountId === each.accountId && action === each.action,
    );
  const others = recentOf(store).filter((each) => Date.parse(each.at) > sinceMs && !isReplaced(each));
  recentEntries.set(store, [...written, ...others].slice(0, recentMax));
}
