/** Has what one thread records beside sessions written: now and then, and all of it before the thread stops. */
import type { OutageLog } from "../cluster-store/outage-log.js";
import { limits } from "../limits.js";
import type { Logger } from "../runtime/log.js";
import type { Services } from "./services.js";

type Recorded = Pick<Services, "traffic" | "judgedRecords" | "timelines" | "blocks" | "flushBlocks" | "tokenUses">;

/**
 * Begins to write. `outages` hears what fails, and that it works again where `batchOutages` knows of no fault. `stop` writes all that there is, and
 * logs what the store did not take.
 */
export function writeRecorded(services: Recorded, outages: OutageLog, batchOutages: OutageLog, log: Logger) {
  const { traffic, judgedRecords, timelines, blocks, tokenUses } = services;
  const flush = async (isAll = false): Promise<void> => {
    await Promise.all([
      traffic.flush().then(
        () => {
          // There may have been nothing to store.
          if (!batchOutages.isOpen) outages.worked();
        },
        (err: unknown) => outages.failed(err, "counts of verdicts could not be stored"),
      ),
      (isAll ? judgedRecords.flush() : judgedRecords.flushIfDue()).catch((err: unknown) =>
        outages.failed(err, "counts and samples of judged requests could not be stored"),
      ),
      timelines.flush().catch((err: unknown) => outages.failed(err, "timelines of sessions could not be stored")),
    ]);
  };
  const timers = [
    setInterval(() => flush(), limits.trafficFlushMs),
    setInterval(() => services.flushBlocks(), limits.blocksFlushMs),
  ];
  return {
    async stop(): Promise<void> {
      for (const timer of timers) clearInterval(timer);
      const timelinesLost = timelines.lost;
      await Promise.all([flush(true), services.flushBlocks(true), tokenUses.flush()]);
      const lost = {
        verdicts: traffic.unstored,
        blocks: blocks.unstored,
        judgedRows: judgedRecords.unstored,
        timelineBatches: timelines.lost - timelinesLost,
      };
      if (Object.values(lost).some((count) => count > 0))
        log.error(lost, "what is counted here is lost: the store did not take it before the end");
    },
  };
}
