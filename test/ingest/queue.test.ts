/** The queue of batches towards the workers: every batch is settled, whatever the settling of another does. */
import t from "tap";
import { unidentified } from "../../src/contract/visitor.js";
import type { UnscoredRequest } from "../../src/ingest/frame.js";
import { IngestQueue, type RunTask } from "../../src/ingest/queue.js";
import { limits } from "../../src/limits.js";
import { ServiceMeters } from "../../src/metrics/service-meters.js";
import { chromeFacts } from "../engines/sessions.js";

const request: UnscoredRequest = {
  siteKey: "pk_of_a_test",
  idempotencyKey: "",
  facts: chromeFacts,
  identity: unidentified,
  identifies: "",
  body: Buffer.from("{}"),
};

/** A queue with three batches, the first of which throws when it is settled. */
function threeBatches(run: RunTask) {
  const failures: unknown[] = [];
  const queue = new IngestQueue({
    run,
    tasksMax: 1,
    sampleAboveBytes: 1000,
    shedAboveBytes: 1000,
    meter: new ServiceMeters(),
    onFailure: (error) => failures.push(error),
  });
  const settled: unknown[] = [];
  const thrown = new Error("the connection is gone");
  queue.offer(request, (outcome) => {
    settled.push(outcome);
    throw thrown;
  });
  for (let count = 0; count < 2; count++) queue.offer(request, (outcome) => settled.push(outcome));
  return { queue, settled, failures, thrown };
}

t.test("a batch whose settling throws keeps no other from being settled, nor the queue from draining", async (t) => {
  const failure = new Error("the worker is gone");
  const { queue, settled, failures, thrown } = threeBatches(() => Promise.reject(failure));
  await queue.drain();
  t.same(settled, [failure, failure, failure]);
  t.same(failures, [thrown], "it is told");
  t.same([queue.counts.bytes, queue.counts.tasks, queue.counts.waitingBatches], [0, 0, 0]);
});

t.test("the same holds where batches are given up because scoring takes too long", async (t) => {
  const { queue, settled, failures, thrown } = threeBatches(() => new Promise(() => {}));
  for (let ticks = 0; ticks <= limits.watchTicksMax; ticks++) queue.tick();
  t.match(settled, [/took too long/, /took too long/, /took too long/]);
  t.same(failures, [thrown]);
});
