/** The bound on a project's sessions, for one write transaction: first contacts above it are not kept. */
import { SessionCount } from "../store/session-count.js";
import type { Store } from "../store/store.js";

export class SessionCounts {
  readonly #store: Store;
  readonly #max: number;
  readonly #counts = new Map<number, SessionCount>();

  constructor(store: Store, max: number) {
    this.#store = store;
    this.#max = max;
  }

  /** Counts one more session of the project; false, and nothing is counted, when it has as many as it may. */
  admit(projectId: number): boolean {
    let count = this.#counts.get(projectId);
    if (count === undefined) {
      count = new SessionCount(this.#store, projectId);
      this.#counts.set(projectId, count);
    }
    if (count.value >= this.#max) return false;
    count.add(1);
    return true;
  }

  /** Writes the counts. Call inside the transaction that counted. */
  save(): void {
    for (const count of this.#counts.values()) count.save();
  }
}
