/** What was judged, in a cluster: an hour of a project and kind is a hash with a field for each writer, so that a write can be repeated. */
import type { ClusterClient } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { JudgedKind } from "../../contract/traffic/traffic.js";
import { hourMs } from "../../contract/values/durations.js";
import { type JudgedRow, judgedKeptMs, type RecordedJudged, type StoredJudgedRow } from "../../store/judged-rows.js";
import { hourOf } from "../../store/keys.js";
import { askAll, onKey } from "../cluster-asking.js";
import { judgedHourRow } from "../keys.js";

/** Client, and how long rows are kept, ms. */
interface ClusterRecordedJudgedOptions {
  readonly client: ClusterClient;
  readonly sessionMs: number;
  readonly trafficMs: number;
  readonly now: () => number;
}

/** The rows of a cluster, the same through every node. */
export class ClusterRecordedJudged implements RecordedJudged {
  readonly #options: ClusterRecordedJudgedOptions;

  constructor(options: ClusterRecordedJudgedOptions) {
    this.#options = options;
  }

  async write(rows: readonly JudgedRow[]): Promise<void> {
    await askAll(
      this.#options.client,
      rows.flatMap(({ projectId, kind, hour, writer, bytes }): KeyedCommand[] => {
        const row = judgedHourRow(projectId, kind, hour);
        if (bytes === null) return [onKey("HDEL", row, writer)];
        const leftMs = (hour + 1) * hourMs + judgedKeptMs(kind, this.#options) - this.#options.now();
        return [onKey("HSET", row, writer, bytes), onKey("PEXPIRE", row, Math.max(1, Math.ceil(leftMs)))];
      }),
    );
  }

  async read(
    projectId: number,
    kind: JudgedKind,
    fromHour: number,
    toHour: number,
  ): Promise<readonly StoredJudgedRow[]> {
    const { client, now } = this.#options;
    // Hours written under a longer setting live on for a while.
    const first = Math.max(fromHour, hourOf(now() - judgedKeptMs(kind, this.#options)));
    const hours = Array.from({ length: Math.max(0, toHour - first) }, (_, index) => first + index);
    const replies = await askAll(
      client,
      hours.map((hour) => onKey("HGETALL", judgedHourRow(projectId, kind, hour))),
    );
    return hours.flatMap((hour, index) => {
      const reply = replies[index];
      const flat = Array.isArray(reply) ? (reply as Buffer[]) : [];
      return Array.from({ length: flat.length / 2 }, (_, at) => ({
        hour,
        writer: flat[2 * at]!,
        bytes: flat[2 * at + 1]!,
      }));
    });
  }
}
