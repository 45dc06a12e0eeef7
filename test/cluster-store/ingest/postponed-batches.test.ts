/** Tasks whose batches are not all stored at once: what is answered, and what follows by message. */
import t from "tap";
import type { BegunCommit } from "../../../src/cluster-store/ingest/cluster-commit.js";
import { PostponedBatches } from "../../../src/cluster-store/ingest/postponed-batches.js";
import { refuse } from "../../../src/errors.js";
import type { IngestOutcome } from "../../../src/ingest/commit-batches.js";
import { decodeOutcomes, type PostponedOutcomes } from "../../../src/ingest/task-answer.js";

const recorded = (accepted: number): IngestOutcome => ({
  session_token: `sess_${"A".repeat(28)}`,
  accepted,
  duplicates: 0,
});

t.test("what is known early is answered, and the rest follows under its ticket", async (t) => {
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const outcomes: (IngestOutcome | null)[] = [null, recorded(1), null];
  const group: BegunCommit = { outcomes, early: Promise.resolve(), settled };
  const told: PostponedOutcomes[] = [];
  const late: IngestOutcome[] = [];
  const batches = new PostponedBatches(
    (news) => told.push(news),
    (each) => late.push(...each),
  );
  const answer = await batches.answer(group);
  const tickets = [0, 2].map((index) => (answer[index] as { ticket: string }).ticket);
  t.same(answer[1], recorded(1));
  t.equal(new Set(tickets).size, 2);
  t.same(told, []);
  outcomes[0] = refuse("unavailable", "the cluster does not answer: send the batch again");
  outcomes[2] = recorded(2);
  settle();
  await settled;
  await Promise.resolve();
  t.same(
    told.map(({ tickets, postponed }) => [tickets, decodeOutcomes(postponed)]),
    [[tickets, [outcomes[0], outcomes[2]]]],
  );
  t.same(late, [outcomes[0], outcomes[2]]);
});

t.test("a task whose batches are all known is answered without tickets", async (t) => {
  const outcomes = [recorded(1), recorded(2)];
  const told: PostponedOutcomes[] = [];
  const batches = new PostponedBatches((news) => told.push(news));
  t.same(await batches.answer({ outcomes, early: Promise.resolve(), settled: Promise.resolve() }), outcomes);
  await Promise.resolve();
  t.same(told, []);
});
