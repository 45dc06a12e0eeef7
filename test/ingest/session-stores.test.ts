/**
 * Sessions split over several environments: whatever order batches come in, sessions, scores and counters are those of one environment.
 * Runs what a scoring thread runs, in this process, on both kinds of store.
 */

import t, { type Test } from "tap";
import { defaultPlans, type Plans } from "../../src/contract/plans.js";
import { decodeSessionToken } from "../../src/contract/session-token.js";
import { Stats } from "../../src/control-plane/stats.js";
import { checkStore } from "../../src/control-plane/store-check.js";
import { F, unpackFeatures } from "../../src/engines/session-features.js";
import { placeAtFront, placeOfBatch } from "../../src/ingest/places.js";
import { LongWork } from "../../src/long-work.js";
import { sessionKey } from "../../src/store/keys.js";
import { decodeSession } from "../../src/store/session-record.js";
import { rowsOf, sessionStoreOf, sumOver } from "../../src/store/session-stores.js";
import { randomness } from "../resilience/crash-run.js";
import { type Ingest, openIngest, type Sent } from "../resilience/ingest.js";
import { batch } from "../support/batches.js";

const noon = Date.UTC(2026, 10, 21, 12);

interface Step {
  readonly visitor: number;
  readonly name: string;
  readonly events: readonly object[];
}

const visitors = 14;

/** What all visitors send, in tasks: the same for every store. A visitor appears at most once in a task. */
function planOf(random: () => number, tasks: number, taskMax: number, eventsOf: (step: number) => object[]): Step[][] {
  const done: Step[] = [];
  return Array.from({ length: tasks }, (_, task) => {
    const steps = new Map<number, Step>();
    const count = 1 + Math.floor(random() * taskMax);
    for (let index = 0; index < count; index++) {
      const visitor = Math.floor(random() * visitors);
      const name = `v${visitor}t${task}`;
      const again = random() < 0.2 ? done.findLast((step) => step.visitor === visitor) : undefined;
      steps.set(visitor, again ?? { visitor, name, events: eventsOf(visitor) });
    }
    done.push(...steps.values());
    return [...steps.values()];
  });
}

const unknownToken = `sess_${"x".repeat(28)}`;

/** What of a world must not depend on how its sessions are split. */
interface Outcome {
  readonly answers: readonly unknown[];
  readonly sessions: readonly unknown[];
  readonly replays: number;
  readonly totals: unknown;
}

/** Sends the plan. Every third visitor has no `Idempotency-Key`, every fifth first comes with a token of nobody. */
async function live(
  t: Test,
  { store, owner, take }: Ingest,
  plan: readonly Step[][],
  addresses: number,
): Promise<Outcome> {
  const tokens = new Map<number, string>();
  const answers: unknown[] = [];
  for (const [task, steps] of plan.entries()) {
    const sent = steps.map(({ visitor, name, events }): Sent => {
      const token = tokens.get(visitor) ?? (visitor % 5 === 0 ? unknownToken : null);
      const key = tokens.has(visitor) ? name : `first${visitor}`;
      const body = { session_token: token, events };
      return {
        body,
        ...(visitor % 3 > 0 && { key }),
        nowMs: noon + task * 1000,
        ip: `203.0.113.${visitor % addresses}`,
      };
    });
    for (const [index, outcome] of take(...sent).entries()) {
      if (!("session_token" in outcome)) throw new Error(`visitor ${steps[index]!.visitor} was not answered`);
      const { session_token, ...counts } = outcome;
      const before = tokens.get(steps[index]!.visitor);
      if (before !== undefined && before !== session_token) t.fail("a visitor has got another session");
      tokens.set(steps[index]!.visitor, session_token);
      answers.push({ visitor: steps[index]!.visitor, ...counts });
    }
  }
  let replays = 0;
  const sessions = [...tokens]
    .sort(([one], [other]) => one - other)
    .map(([visitor, token]) => {
      const bytes = decodeSessionToken(token)!;
      const record = decodeSession(
        sessionStoreOf(store, bytes).sessions.getBinary(sessionKey(owner.projectId, bytes))!,
      )!;
      const features = unpackFeatures(record.features, 0, record.features.length)!;
      replays += features.numbers[F.shinglesReplayed]!;
      // It names a session by its token, which is another in each world.
      features.numbers[F.cornerOwner] = 0;
      return { visitor, verdict: record.verdict, numbers: [...features.numbers], texts: [...features.texts] };
    });
  const stats = await new Stats(store).read(owner.projectId, noon, noon + 3_600_000, "day", new LongWork().begin());
  const usage = sumOver(store, (part) => part.usage.get([owner.accountId, "2026-11"]) ?? 0);
  const { faults } = checkStore(store);
  return { answers, sessions, replays, totals: { stats, usage, rows: rowsOf(store, "sessions"), faults } };
}

async function compare(
  t: Test,
  stores: number,
  plan: readonly Step[][],
  plans: Plans,
  addresses: number,
): Promise<Outcome> {
  const worlds: Outcome[] = [];
  for (const sessionStores of [1, stores]) {
    await t.test(`environments: ${sessionStores}`, async (t) => {
      const ingest = await openIngest(t, plans, "full", 1e9, sessionStores);
      worlds.push(await live(t, ingest, plan, addresses));
      t.ok(
        ingest.store.sessionStores.every((part) => part.sessions.getCount() > 0),
        "all of them are used",
      );
    });
  }
  t.same(worlds[1], worlds[0]);
  return worlds[0]!;
}

const at = (index: number): string => new Date(noon + index).toISOString();
let ids = 0;
const page = () => ({ request_id: `page-${ids++}-00`, type: "page", received_at: at(0), payload: { path: "/" } });
const mouse = (path: number) => ({
  request_id: `mouse-${ids++}-0`,
  type: "mouse",
  received_at: at(0),
  payload: {
    pointer_type: "mouse",
    points: Array.from({ length: 60 }, (_, step) => [
      step * 16,
      100 + path * 7 + ((step * (path + 3) * 5) % 83),
      90 + ((step * step * (path + 2)) % 61),
    ]),
  },
});

/** A quota that the plan's events cross. */
const scarce: Plans = { ...defaultPlans, owner_lifetime: { ...defaultPlans["owner_lifetime"]!, eventsPerMonth: 150 } };

t.test("batch by batch, sessions, scores, sightings, replays and the quota are those of one environment", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const random = randomness(seed);
  // Few paths and addresses, so that none puts another out of its slot: sessions replay each other's, and are counted together.
  const plan = planOf(random, 160, 1, () => [page(), mouse(Math.floor(random() * 3))]);
  const { replays, answers } = await compare(t, 3, plan, scarce, 5);
  t.ok(replays > 50, `${replays} replayed shingles were found`);
  const over = answers.filter((answer) => (answer as { over_quota?: boolean }).over_quota === true);
  t.ok(over.length > 0 && over.length < answers.length, `${over.length} of ${answers.length} answers above the quota`);
});

t.test("in tasks of many batches, sessions and counters are those of one environment", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const random = randomness(seed);
  // Nothing that one session could say of another: tasks are committed environment by environment.
  const plan = planOf(random, 30, 20, () => Array.from({ length: 1 + Math.floor(random() * 5) }, page));
  await compare(t, 2, plan, defaultPlans, visitors);
});

t.test("above the bound of a project first contacts are shed, wherever its sessions lie", async (t) => {
  const { store, take } = await openIngest(t, defaultPlans, "full", 40, 4);
  const sent = Array.from({ length: 60 }, (_, index) => ({
    body: batch(`flood${index}x0`),
    key: `k${index}`,
    nowMs: noon,
  }));
  const outcomes = [...take(...sent.slice(0, 45)), ...take(...sent.slice(45))];
  t.equal(outcomes.filter((outcome) => "isShed" in outcome).length, 20);
  t.equal(rowsOf(store, "sessions"), 40);
  t.same(checkStore(store).faults, []);
});

t.test("what a body's first bytes say of its place is what its token says", async (t) => {
  const counted = { others: [1, 2] };
  const random = randomness(7);
  for (let index = 0; index < 500; index++) {
    const bytes = Buffer.from(Array.from({ length: 21 }, () => Math.floor(random() * 256)));
    const token = `sess_${bytes.toString("base64url")}`;
    const body = Buffer.from(JSON.stringify({ session_token: token, events: [] }));
    const place = placeAtFront(body, "key", counted);
    if (place !== bytes[4]! % 3 || place !== placeOfBatch(token, "key", counted)) t.fail(token);
  }
  const first = Buffer.from('{"session_token":null,"events":[]}');
  t.equal(placeAtFront(first, "key", counted), placeOfBatch(null, "key", counted), "a first contact's key says it");
  t.equal(placeAtFront(first, null, counted), null, "nothing says it");
  t.equal(placeAtFront(Buffer.from('{"session_token":"sess_'), null, counted), null, "a body cut short");
  const spread = new Set(Array.from({ length: 50 }, (_, index) => placeOfBatch(null, `key-${index}`, counted)));
  t.equal(spread.size, 3, "keys spread over all");
});
