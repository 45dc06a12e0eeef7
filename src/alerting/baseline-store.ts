/** The hourly counts behind baselines, in the node's own store: four weeks of the values that are heavy enough to matter. */
import { type BaselineHours, baselineHoursBack, type HourOfCounts } from "../incidents/baseline-hours.js";
import type { Store } from "../store/store.js";

/** Rows that a write removes at most. */
const removedAtOnce = 100;

/** Hours in the table `baselines`; a write removes those that are too old for every baseline. */
export class StoredBaselineHours implements BaselineHours {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  read(projectId: number, hour: number): HourOfCounts | undefined {
    return this.#store.baselines.get([projectId, hour]);
  }

  async write(projectId: number, hour: number, counts: HourOfCounts): Promise<void> {
    const { baselines, root } = this.#store;
    const end: [number, number] = [projectId, hour - baselineHoursBack - 1];
    await root.childTransaction(() => {
      baselines.putSync([projectId, hour], counts as [string, number][]);
      for (const key of [...baselines.getKeys({ start: [projectId, 0], end, limit: removedAtOnce })])
        baselines.removeSync(key);
    });
  }
}
