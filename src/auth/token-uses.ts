/**
 * When account tokens were last good for a request: recorded by the control plane, stored after the answer, once a minute for each token at most.
 * Nothing that is judged depends on it.
 */

import { LRUCache } from "lru-cache";
import { limits } from "../limits.js";
import { recordControlPlane } from "../store/control-plane-changes.js";
import type { Store } from "../store/store.js";

/** Notes for one thread. A failed write is reported and not tried again. */
export class TokenUses {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #onFailure: (error: unknown) => void;
  /** When this thread last recorded a use of a token. */
  readonly #recorded = new LRUCache<number, number>({ max: limits.credentialMemoMax });
  #pending = new Map<number, number>();
  #writing: Promise<void> | null = null;

  /** `onFailure` hears why uses could not be stored. */
  constructor(store: Store, now: () => number, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#now = now;
    this.#onFailure = onFailure;
  }

  /** Call for every request with a good token: all but the first of a minute return at once. */
  record(tokenId: number): void {
    const nowMs = this.#now();
    const recordedMs = this.#recorded.get(tokenId);
    if (recordedMs !== undefined && nowMs - recordedMs < this.#everyMs && nowMs >= recordedMs) return;
    this.#recorded.set(tokenId, nowMs);
    this.#pending.set(tokenId, nowMs);
    this.#writing ??= this.#write();
  }

  /** Resolves once what was recorded is stored. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** In a cluster every write is one of the configuration, which all nodes take: an hour is near enough there. */
  get #everyMs(): number {
    return this.#store.changes === undefined ? limits.tokenUseMs : limits.tokenUseClusterMs;
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      const uses = this.#pending;
      this.#pending = new Map();
      try {
        await recordControlPlane(this.#store, () => {
          for (const [id, atMs] of uses) this.#put(id, atMs);
        });
      } catch (error) {
        this.#onFailure(error);
      }
    }
    this.#writing = null;
  }

  /** Not where the token is gone, or another thread was here a moment ago. */
  #put(id: number, atMs: number): void {
    const { tokens, tokenUses } = this.#store;
    const storedMs = tokenUses.get(id) ?? Number.NEGATIVE_INFINITY;
    if (!tokens.doesExist(id) || Math.abs(atMs - storedMs) < this.#everyMs) return;
    tokenUses.putSync(id, atMs);
  }
}
