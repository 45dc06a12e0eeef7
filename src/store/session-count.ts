/**
 * The number of sessions of a project, in a row of its own, so that checking a bound costs one look-up per transaction. Code that adds or removes
 * sessions updates the count in the same transaction.
 */
import type { Database } from "lmdb";
import { sessionRange } from "./keys.js";

/** The tables that are counted, and where. */
export interface CountedSessions {
  readonly meta: Database<number, string>;
  readonly sessions: Database<Buffer, Buffer>;
}

/** The key of the count in the table `meta`. */
export const sessionCountKey = (projectId: number): string => `sessions:${projectId}`;

/** The session count of a project within one write transaction. Create it before the transaction changes any session. */
export class SessionCount {
  readonly #store: CountedSessions;
  readonly #projectId: number;
  readonly #kept: number | undefined;
  #value: number;

  constructor(store: CountedSessions, projectId: number) {
    this.#store = store;
    this.#projectId = projectId;
    this.#kept = store.meta.get(sessionCountKey(projectId));
    // A store without a count, from an earlier version: counted once, in under a microsecond per session.
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

/** Returns the count outside of a transaction; 0 for a project without sessions so far. */
export function countSessions({ meta }: Pick<CountedSessions, "meta">, projectId: number): number {
  return meta.get(sessionCountKey(projectId)) ?? 0;
}
