/** The queue of batches towards the workers: every batch is settled, whatever the settling of another does. */
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import type { UnscoredRequest } from "../../src/ingest/frame.js";
import { IngestQueue, type RunTask } from "../../src/ingest/queue.js";
import { encodeOutcomes, type PostponedOutcomes } from "../../src/ingest/task-answer.js";
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

function queueOf(run: RunTask) {
  const failures: unknown[] = [];
  const queue = new IngestQueue({
    run,
    tasksMax: 1,
    sampleAboveBytes: 1000,
    shedAboveBytes: 1000,
    meter: new ServiceMeters(),
    onFailure: (error) => failures.push(error),
  });
  return { queue, failures };
}

/** A queue with three batches, the first of which throws when it is settled. */
function threeBatches(run: RunTask) {
  const { queue, failures } = queueOf(run);
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

const recorded = { session_token: `sess_${"A".repeat(28)}`, accepted: 1, duplicates: 0 };
const news: PostponedOutcomes = { tickets: ["1.0"], postponed: encodeOutcomes(new Uint8Array(0), [recorded]) };

/** A queue with a batch at a worker, which `answer` lets postpone it, and one behind it, which is answered at once. */
function postponedBatch() {
  let tasks = 0;
  let answer = (): void => {};
  const { queue } = queueOf((frame) =>
    tasks++ > 0
      ? Promise.resolve(encodeOutcomes(frame, [recorded]))
      : new Promise((resolve) => {
          answer = () => resolve(encodeOutcomes(frame, [{ ticket: "1.0" }]));
        }),
  );
  const settled: string[] = [];
  for (const name of ["postponed", "behind"]) {
    queue.offer(request, (outcome) => settled.push(outcome instanceof Error ? `${name}: ${outcome.message}` : name));
  }
  return { queue, settled, answer: () => answer() };
}

t.test("a postponed batch holds up no others, and is settled once, by a message that a drain waits for", async (t) => {
  const { queue, settled, answer } = postponedBatch();
  let isDrained = false;
  const drained = queue.drain().then(() => {
    isDrained = true;
  });
  answer();
  await setImmediate();
  t.same([settled, isDrained, queue.counts.tasks, queue.counts.bytes], [["behind"], false, 0, request.body.length]);
  queue.settlePostponed({ refusedBatches: null });
  queue.settlePostponed(news);
  await drained;
  queue.settlePostponed(news);
  t.same([settled, queue.counts.bytes], [["behind", "postponed"], 0]);
});

t.test("the message may come before the answer that postpones the batch", async (t) => {
  const { queue, settled, answer } = postponedBatch();
  queue.settlePostponed(news);
  t.same(settled, []);
  answer();
  await queue.drain();
  t.same([settled.sort(), queue.counts.bytes], [["behind", "postponed"], 0]);
});

t.test("a postponed batch of which nothing is heard is given up", async (t) => {
  const { queue, settled, answer } = postponedBatch();
  answer();
  await setImmediate();
  for (let ticks = 0; ticks <= limits.watchTicksMax; ticks++) queue.tick();
  t.same(settled, ["behind", "postponed: storing the batch took too long"]);
  await queue.drain();
  t.equal(queue.counts.bytes, 0);
});
