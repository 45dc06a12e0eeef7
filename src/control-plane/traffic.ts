/** Counts verdict answers by band and action in memory and adds them to the project's hour every second, off the hot path. */
import type { Action, Band } from "../contract/verdict.js";
import { hourOf } from "../store/keys.js";
import type { Store } from "../store/store.js";

interface Counts {
  readonly projectId: number;
  readonly hour: number;
  readonly verdicts: Record<string, number>;
  readonly actions: Record<string, number>;
}

export class TrafficCounter {
  readonly #store: Store;
  #rows = new Map<number, Counts>();

  constructor(store: Store) {
    this.#store = store;
  }

  countVerdict(projectId: number, band: Band, action: Action, nowMs: number): void {
    const hour = hourOf(nowMs);
    let row = this.#rows.get(projectId);
    if (row === undefined || row.hour !== hour) {
      // What fails is kept, and said by the next regular flush.
      if (row !== undefined) this.flush().catch(() => {});
      row = { projectId, hour, verdicts: {}, actions: {} };
      this.#rows.set(projectId, row);
    }
    row.verdicts[band] = (row.verdicts[band] ?? 0) + 1;
    row.actions[action] = (row.actions[action] ?? 0) + 1;
  }

  /**
   * Adds what was counted to the store. A crash loses at most what was counted since the last flush. Rejects when the store can't be
   * written (a full disk); the counts of the present hour are kept then.
   */
  async flush(): Promise<void> {
    if (this.#rows.size === 0) return;
    const rows = this.#rows;
    this.#rows = new Map();
    try {
      await this.#write(rows);
    } catch (error) {
      for (const row of rows.values()) this.#restore(row);
      throw error;
    }
  }

  async #write(rows: ReadonlyMap<number, Counts>): Promise<void> {
    await this.#store.root.transaction(() => {
      for (const { projectId, hour, verdicts, actions } of rows.values()) {
        const before = this.#store.traffic.get([projectId, hour]);
        this.#store.traffic.putSync([projectId, hour], {
          events: before?.events ?? 0,
          sessions: before?.sessions ?? 0,
          verdicts: added(before?.verdicts, verdicts),
          actions: added(before?.actions, actions),
        });
      }
    });
  }

  #restore(row: Counts): void {
    const since = this.#rows.get(row.projectId);
    if (since !== undefined && since.hour !== row.hour) return;
    const verdicts = added(since?.verdicts, row.verdicts);
    const actions = added(since?.actions, row.actions);
    this.#rows.set(row.projectId, { projectId: row.projectId, hour: row.hour, verdicts, actions });
  }
}

function added(before: Record<string, number> | undefined, more: Record<string, number>): Record<string, number> {
  const sum = { ...before };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
