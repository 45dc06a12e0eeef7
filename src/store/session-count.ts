/**
 * How many sessions a project has, kept in a row beside them, so that a bound on them costs one look-up a transaction. Whoever adds or
 * removes sessions counts them here, inside the same transaction.
 */
import { sessionRange } from "./keys.js";
import type { SessionTables } from "./session-tables.js";

/** The key of the count in the table `meta`. */
export const sessionCountKey = (projectId: number): string => `sessions:${projectId}`;

/** The sessions of a project, as one write transaction sees and changes them. Make it before the transaction changes any. */
export class SessionCount {
  readonly #store: SessionTables;
  readonly #projectId: number;
  readonly #kept: number | undefined;
  #value: number;

  constructor(store: SessionTables, projectId: number) {
    this.#store = store;
    this.#projectId = projectId;
    this.#kept = store.meta.get(sessionCountKey(projectId));
    // A store from before there was a count: once, under a microsecond a session.
    this.#value = this.#kept ?? store.sessions.getKeysCount(sessionRange(projectId));
  }

  get value(): number {
    return this.#value;
  }

  add(change: number): void {
    this.#value += change;
  }

  save(): void {
    if (this.#value === this.#kept) return;
    this.#store.meta.putSync(sessionCountKey(this.#projectId), this.#value);
  }
}

/** The count outside of a transaction; 0 for a project that has had no session yet. */
export function countSessions({ meta }: SessionTables, projectId: number): number {
  return meta.get(sessionCountKey(projectId)) ?? 0;
}
