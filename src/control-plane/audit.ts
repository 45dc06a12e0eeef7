/** Records changes of the configuration in the transaction that makes them, and reads the record. Secrets are never handed to it. */
import { currentActor } from "../auth/actor.js";
import type { AuditAction, AuditEntry, AuditValues } from "../contract/audit.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { changeControlPlane, nextId, type Store } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** One change. `before` and `after` may hold what is the same in both: only what differs is kept. */
export interface AuditedChange {
  readonly accountId: number;
  readonly projectId: number | null;
  readonly action: AuditAction;
  readonly subject: string;
  readonly before: AuditValues | null;
  readonly after: AuditValues | null;
}

export type Record = (change: AuditedChange) => void;

const idBytes = 6;

/** As `changeControlPlane`; what `change` records is kept with it, in the name of whoever this is done for. */
export function changeAudited<T>(store: Store, now: () => number, change: (record: Record) => T): Promise<T> {
  const actor = currentActor();
  return changeControlPlane(store, () =>
    change(({ accountId, before, after, ...what }) => {
      const kind = `audit:${accountId}`;
      const id = nextId(store, kind);
      const entry: AuditEntry = {
        id,
        accountId,
        at: new Date(now()).toISOString(),
        userId: actor?.userId ?? null,
        tokenId: actor?.tokenId ?? null,
        ...what,
        before: differing(before, after),
        after: differing(after, before),
      };
      store.audit.putSync([accountId, id], entry);
      store.audit.removeSync([accountId, id - limits.auditEntriesMax]);
    }),
  );
}

/** What of `values` is another in `others`; all of them where there are no others. */
function differing(values: AuditValues | null, others: AuditValues | null): AuditValues | null {
  if (values === null || others === null) return values;
  const pairs = Object.entries(values).filter(([name, value]) => String(value) !== String(others[name]));
  return Object.fromEntries(pairs);
}

/**
 * Changes of the account, the latest first, from the cursor on; those of the account itself (tokens, members) only for who may see them.
 * `invalidPayload` for a cursor that is none.
 */
export function auditPage(
  store: Store,
  accountId: number,
  seesAccount: boolean,
  limit: number,
  cursor: string | null,
): LogPage<AuditEntry> | Refusal {
  const position = cursor === null ? null : decodeCursor("a", cursor, idBytes);
  if (cursor !== null && position === null) return refuse("invalidPayload", "cursor is not one of this log");
  const start: [number, number] = [accountId, position?.readUIntBE(0, idBytes) ?? Number.POSITIVE_INFINITY];
  const rows: AuditEntry[] = [];
  for (const { value } of store.audit.getRange({ start, end: [accountId, 0], reverse: true, exclusiveStart: true })) {
    if (value.projectId === null && !seesAccount) continue;
    rows.push(value);
    if (rows.length > limit) break;
  }
  const shown = rows.slice(0, limit);
  if (rows.length <= limit) return { rows: shown, nextCursor: null };
  const last = Buffer.alloc(idBytes);
  last.writeUIntBE(shown.at(-1)!.id, 0, idBytes);
  return { rows: shown, nextCursor: encodeCursor("a", last) };
}
