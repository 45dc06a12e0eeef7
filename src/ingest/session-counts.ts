/** The bound on a project's sessions, for one write transaction: first contacts above it are not kept. */
import { countSessionsIn, SessionCount } from "../store/session-count.js";
import type { SessionStore } from "../store/session-store.js";
import { sumOverOthers } from "../store/session-stores.js";

interface Counted {
  readonly own: SessionCount;
  /** Sessions in the other environments, as they were when this transaction began. */
  readonly elsewhere: number;
}

export class SessionCounts {
  readonly #store: SessionStore;
  readonly #max: number;
  readonly #counts = new Map<number, Counted>();

  constructor(store: SessionStore, max: number) {
    this.#store = store;
    this.#max = max;
  }

  /** Counts one more session of the project; false, and nothing is counted, when it has as many as it may. */
  admit(projectId: number): boolean {
    let counted = this.#counts.get(projectId);
    if (counted === undefined) {
      const own = new SessionCount(this.#store, projectId);
      counted = { own, elsewhere: sumOverOthers(this.#store, (part) => countSessionsIn(part, projectId)) };
      this.#counts.set(projectId, counted);
    }
    if (counted.own.value + counted.elsewhere >= this.#max) return false;
    counted.own.add(1);
    return true;
  }

  /** Writes the counts. Call inside the transaction that counted. */
  save(): void {
    for (const { own } of this.#counts.values()) own.save();
  }
}
