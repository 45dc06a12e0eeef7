/** The clock steps, a month ends, windows end: the time is passed in, so all of it happens at once. */
import t from "tap";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { limits } from "../../src/limits.js";
import { sweep } from "../../src/store/expiry.js";
import { batch } from "../support/batches.js";
import { openIngest } from "./ingest.js";

const noon = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const retention = { sessionMs: 30 * dayMs, sessionsMax: 1e9, blockMs: 90 * dayMs, trafficMs: 400 * dayMs };

/** Outcomes are compared as what a client would read. */
// biome-ignore lint/suspicious/noExplicitAny: an outcome is an answer or a refusal
const only = (outcomes: readonly unknown[]): any => outcomes[0];

t.test("a clock that steps back or forward loses no session and no event", async (t) => {
  const { store, owner, take } = await openIngest(t);
  const { session_token: token } = only(take({ body: batch("clock000", 2), key: "clock", nowMs: noon }));
  for (const [index, step] of [-1, -hourMs, -3 * dayMs, 2 * dayMs, 400 * dayMs, -noon].entries()) {
    const again = only(take({ body: batch(`clock1-${index}`, 2, token), nowMs: noon + step }));
    t.same(again, { session_token: token, accepted: 2, duplicates: 0 }, `a step of ${step} ms`);
    const repeat = only(take({ body: batch(`clock1-${index}`, 2, token), nowMs: noon }));
    t.same(repeat, { session_token: token, accepted: 0, duplicates: 2 });
  }
  const state = new Sessions(store).scoredState(owner.projectId, token);
  t.same([state?.eventCount, state?.firstSeenMs], [14, noon]);
  t.equal(state?.lastSeenMs, noon + 400 * dayMs, "a session was last seen when the clock was furthest");
});

t.test("a first contact by key resolves for 24 hours, also across midnight and after a step back", async (t) => {
  const { take } = await openIngest(t);
  const first = only(take({ body: batch("keyed000", 2), key: "keyed", nowMs: noon }));
  const tokenAt = (nowMs: number): string =>
    only(take({ body: batch("keyed000", 2), key: "keyed", nowMs })).session_token;
  for (const nowMs of [noon + 1, noon + 13 * hourMs, noon + limits.idempotencyKeptMs - 1, noon - hourMs]) {
    t.equal(tokenAt(nowMs), first.session_token);
  }
  t.not(tokenAt(noon + limits.idempotencyKeptMs), first.session_token, "24 hours later it is a new contact");
});

t.test("the quota counts by UTC month, and the batch that crosses it says so", async (t) => {
  const plans = { ...defaultPlans, owner_lifetime: { eventsPerMonth: 10, features: [] } };
  const { store, owner, take } = await openIngest(t, plans);
  const monthEnd = Date.UTC(2026, 11, 1) - 1;
  const at = (name: string, nowMs: number) => ({ body: batch(name, 6), nowMs });
  const [below, above, next, late] = take(
    at("quota000", monthEnd),
    at("quota001", monthEnd),
    at("quota002", monthEnd + 1),
    at("quota003", monthEnd),
    // biome-ignore lint/suspicious/noExplicitAny: answers, as no batch is refused
  ) as any[];
  t.same(
    [below.over_quota, above.over_quota, next.over_quota, late.over_quota],
    [undefined, true, undefined, true],
    "the last came when the clock had stepped back",
  );
  t.equal(above.accepted, 6, "a batch over the quota is taken all the same");
  t.equal(store.usage.get([owner.accountId, "2026-11"]), 18);
  t.equal(store.usage.get([owner.accountId, "2026-12"]), 6);
});

t.test(
  "sessions go at the end of their retention, not before, and a clock too far ahead is what it takes",
  async (t) => {
    const { store, owner, take } = await openIngest(t);
    const { session_token: token } = only(take({ body: batch("expire00"), key: "expire", nowMs: noon }));
    const sessions = new Sessions(store);
    await sweep(store, retention, noon + retention.sessionMs);
    t.ok(sessions.exists(owner.projectId, token), "to the millisecond");
    // Sessions lie by the second of their first contact: those of the cutoff's own second are left to the next sweep.
    await sweep(store, retention, noon + retention.sessionMs + 1001);
    t.notOk(sessions.exists(owner.projectId, token));
    const again = only(take({ body: batch("expire00", 1, token), nowMs: noon + retention.sessionMs + 2000 }));
    t.not(again.session_token, token, "an expired token is not recoverable: a new one is minted");
  },
);
