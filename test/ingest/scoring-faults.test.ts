/** Faults of scoring threads in the log of the HTTP thread. */
import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import t from "tap";
import { BatchFault } from "../../src/ingest/commit-batches.js";
import { logScoringFault, ScoringFaults } from "../../src/ingest/scoring-faults.js";

t.test("a fault is logged with its stack and its cause, however many follow", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const faults = new ScoringFaults((news) => port1.postMessage(news));
  const cause = new RangeError("out of range");
  faults.failed(new BatchFault("folding failed", { cause }));
  for (let count = 0; count < 100; count++) faults.failed(new TypeError("another"));
  port1.postMessage("the end");
  const lines: { readonly err: Error; readonly what: string }[] = [];
  const log = { error: (fields: object, what: string) => lines.push({ ...(fields as { err: Error }), what }) };
  for (let news: unknown; news !== "the end"; ) {
    [news] = await once(port2, "message");
    logScoringFault(log, news);
  }
  t.match(lines, [{ err: { message: "folding failed", cause: { message: "out of range" } } }]);
  t.match(lines[0], { what: "a batch could not be processed", err: { stack: /scoring-faults/ } });
  t.match(lines[0]?.err.cause, { stack: /scoring-faults/ });
});

t.test("other messages of a scoring thread are ignored", async (t) => {
  for (const news of [null, undefined, "text", { refusedBatches: null }, { tickets: [] }]) {
    logScoringFault({ error: () => t.fail("logged") }, news);
  }
});
