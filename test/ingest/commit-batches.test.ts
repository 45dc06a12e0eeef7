/** A group's run has no effect but through its unit of work: one that is thrown away leaves nothing, and the next says the same. */

import t from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { commitBatches, type GroupResult } from "../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../src/ingest/frame.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import { tableNames } from "../../src/store/tables.js";
import { noFacts } from "../resilience/ingest.js";
import { batch, event } from "../support/batches.js";
import { ownerOf } from "../support/owner.js";

const noon = Date.UTC(2026, 10, 21, 12);

t.test("runs that are thrown away leave nothing, in the store or in memory", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const owner = await ownerOf(store);
  const context = {
    credentials: new Credentials(store),
    plans: { ...defaultPlans, owner_lifetime: { ...defaultPlans["owner_lifetime"]!, eventsPerMonth: 20 } },
    ipStorage: "full" as const,
    sessionsMax: 3,
    mint: new TokenMint(),
  };
  const request = (body: object, idempotencyKey: string | null = null): IngestRequest => ({
    siteKey: owner.siteKey,
    idempotencyKey,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...noFacts, nowMs: noon, userAgent: "Mozilla/5.0 HeadlessChrome/140.0.0.0" },
    body: Buffer.from(JSON.stringify(body)),
  });
  const points = Array.from({ length: 60 }, (_, step) => [
    step * 16,
    100 + ((step * 35) % 83),
    90 + ((step * step) % 61),
  ]);
  const moves = { ...event("moves000", { t: 1, pointer_type: "mouse", points }), type: "mouse" };
  const unit = new LmdbUnitOfWork(store);
  const run = (requests: readonly IngestRequest[], isKept: boolean): GroupResult => {
    let result: GroupResult | null = null;
    try {
      store.root.transactionSync(() => {
        result = commitBatches(unit, context, requests);
        unit.save();
        if (!isKept) throw new Error("thrown away");
      });
    } catch {
      unit.discard();
    }
    return result!;
  };
  const rows = (): unknown => tableNames.map((name) => [...store[name].getRange({})]);
  const [first] = run([request(batch("known000", 100))], true).outcomes;
  const token = first !== undefined && "session_token" in first ? first.session_token : "";
  const group = [
    request(batch("known001", 100, token)),
    request({ session_token: null, events: [moves] }, "one"),
    request({ session_token: null, events: [{ ...moves, request_id: "moves-again" }] }, "two"),
    request(batch("shed0000"), "three"),
  ];
  /** What of a result does not hang on the random part of new tokens. */
  const told = ({ outcomes, dirty }: GroupResult): unknown => [
    outcomes.map((outcome) => ("session_token" in outcome ? { ...outcome, session_token: "" } : outcome)),
    dirty.map(({ fired }) => fired.join()).sort(),
  ];
  const before = rows();
  const thrownAway = [1, 2, 3].map(() => told(run(group, false)));
  t.same(rows(), before);
  const kept = run(group, true);
  for (const each of thrownAway) t.same(each, told(kept));
  t.match(kept.outcomes, [
    { accepted: 100, duplicates: 0, over_quota: true },
    { accepted: 1, duplicates: 0 },
    { accepted: 1, duplicates: 0 },
    { isShed: true },
  ]);
  t.equal(kept.dirty.length, 3, "a session is told of once, however often it was written");
  t.ok(
    kept.dirty.some(({ fired }) => fired.length > 0),
    "detections have fired",
  );
  t.notSame(rows(), before);
  await t.test("batches of one session that lie far apart in a group go on from each other", async (t) => {
    const apart = 3 * limits.batchesAtOnce;
    const requests = Array.from({ length: 2 * apart }, (_, index) =>
      request(batch(`apart${String(index % apart).padStart(3, "0")}`, 2, token)),
    );
    const { outcomes, dirty } = run(requests, true);
    t.same(
      outcomes.map((outcome) => ("accepted" in outcome ? [outcome.accepted, outcome.duplicates] : outcome)),
      requests.map((_, index) => (index < apart ? [2, 0] : [0, 2])),
    );
    t.equal(dirty.length, 1, "and are told of once");
  });
});
