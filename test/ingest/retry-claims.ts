/** Whatever is sent again, in whatever order and however often at once, one session and exact counts remain. */
import type { Test } from "tap";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { hourOf } from "../../src/store/keys.js";
import type { Store } from "../../src/store/store.js";
import { batch, event, events } from "../support/batches.js";
import { type Answer, firstTenant, startServer, type Tenant, type TestServer } from "../support/server.js";
import { countRows, isOnCluster, seenOnce } from "../support/test-store.js";

/** Sends batches in the name of the tenant. */
export function sender(server: TestServer, tenant: Tenant) {
  return (body: unknown, idempotencyKey?: string): Promise<Answer> =>
    server.ask("POST", "/v1/events", {
      headers: {
        "x-service-site-key": tenant.siteKey,
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body,
    });
}

/** Sessions and events that the project's hours have counted. */
export async function counted(store: Store, projectId: number): Promise<{ sessions: number; events: number }> {
  const hour = hourOf(Date.now());
  const sum = { sessions: 0, events: 0 };
  for (const [, traffic] of await store.counts.read(projectId, hour - 1, hour + 1)) {
    sum.sessions += traffic.sessions;
    sum.events += traffic.events;
  }
  return sum;
}

/** Expects these counts; on a cluster they follow the sessions a moment later. */
async function expectCounted(
  t: Test,
  store: Store,
  projectId: number,
  expected: { readonly sessions: number; readonly events: number },
): Promise<void> {
  const areThere = (seen: typeof expected): boolean =>
    seen.sessions === expected.sessions && seen.events === expected.events;
  t.same(await seenOnce(() => counted(store, projectId), areThere), expected);
}

/** Retries of all kinds to a server with two scoring threads. */
export async function retries(t: Test): Promise<void> {
  const server = await startServer(t, ["--scoring-threads", "2"]);
  const tenant = await firstTenant(server);
  const { store } = server;
  const send = sender(server, tenant);
  const eventCount = async (token: string) => (await server.scoredState(tenant.projectId, token))?.eventCount;

  await t.test("20 parallel retries of one first-contact batch give one session and exact counts", async (t) => {
    const before = await server.sessionCount();
    const { sessions, events } = await counted(store, tenant.projectId);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(batch("parallel", 5), "parallel-key")));
    t.equal(new Set(answers.map(({ json }) => json.session_token)).size, 1);
    t.same(answers.map(({ json }) => json.accepted).sort(), [...Array(19).fill(0), 5]);
    t.same(
      answers.map(({ json }) => json.accepted + json.duplicates),
      Array(20).fill(5),
    );
    t.equal(await server.sessionCount(), before + 1);
    t.equal(await eventCount(answers[0]!.json.session_token), 5);
    await expectCounted(t, store, tenant.projectId, { sessions: sessions + 1, events: events + 5 });
  });

  await t.test(
    "parallel first contacts under one key with different events make one session, counted once",
    async (t) => {
      const { sessions, events } = await counted(store, tenant.projectId);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => send(batch(`differ${index}-0`, 1), "differ-key")),
      );
      const [token] = new Set(answers.map(({ json }) => json.session_token));
      t.equal(new Set(answers.map(({ json }) => json.session_token)).size, 1);
      t.equal(await eventCount(token), 20);
      await expectCounted(t, store, tenant.projectId, { sessions: sessions + 1, events: events + 20 });
    },
  );

  await t.test("a retry whose first 202 was lost resolves to the same session and counts nothing twice", async (t) => {
    const first = await send(batch("lost0000", 4), "lost-key");
    const again = await send(batch("lost0000", 4), "lost-key");
    t.same(again.json, { session_token: first.json.session_token, accepted: 0, duplicates: 4 });
  });

  await t.test("the same key with a token that is not recoverable resolves to the session first minted", async (t) => {
    const stale = `sess_${"B".repeat(28)}`;
    const first = await send(batch("stale000", 2, stale), "stale-key");
    t.not(first.json.session_token, stale);
    const again = await send(batch("stale000", 2, stale), "stale-key");
    t.same(again.json, { session_token: first.json.session_token, accepted: 0, duplicates: 2 });
  });

  await t.test("beacons and requests under one key are one visitor, whichever comes first", async (t) => {
    const { sessions, events } = await counted(store, tenant.projectId);
    const beacon = (prefix: string, key: string) => send({ ...batch(prefix, 2), idempotency_key: key });
    const answers = [
      await beacon("beacon00", "beacon-key"),
      await send(batch("beacon01", 3), "beacon-key"),
      await beacon("beacon00", "beacon-key"),
      await beacon("beacon02", "beacon-key"),
      ...(await Promise.all([send(batch("beacon03"), "beacon-key"), beacon("beacon04", "beacon-key")])),
      await send({ ...batch("beacon05"), idempotency_key: "another-key" }, "beacon-key"),
    ];
    t.equal(new Set(answers.map(({ json }) => json.session_token)).size, 1);
    t.same(
      answers.map(({ json }) => [json.accepted, json.duplicates]),
      [
        [2, 0],
        [3, 0],
        [0, 2],
        [2, 0],
        [1, 0],
        [2, 0],
        [1, 0],
      ],
    );
    t.equal(await eventCount(answers[0]!.json.session_token), 11);
    await expectCounted(t, store, tenant.projectId, { sessions: sessions + 1, events: events + 11 });
  });

  await t.test("without an Idempotency-Key every first contact is a session of its own", async (t) => {
    const [one, other] = await Promise.all([send(batch("nokey000")), send(batch("nokey000"))]);
    t.not(one.json.session_token, other.json.session_token);
  });

  await t.test("a session's own token outweighs the key", async (t) => {
    const one = await send(batch("owntok00"), "own-key");
    const other = await send(batch("owntok01"));
    const again = await send(batch("owntok02", 1, other.json.session_token), "own-key");
    t.equal(again.json.session_token, other.json.session_token);
    t.not(again.json.session_token, one.json.session_token);
  });

  await t.test("20 parallel retries of a later batch count it once", async (t) => {
    const { json } = await send(batch("later000"));
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(batch("later001", 7, json.session_token))));
    t.equal(
      answers.reduce((sum, answer) => sum + answer.json.accepted, 0),
      7,
    );
    t.equal(await eventCount(json.session_token), 8);
  });

  await t.test("parallel batches of one session lose no event", async (t) => {
    const { json } = await send(batch("noloss00"));
    await Promise.all(Array.from({ length: 40 }, (_, index) => send(batch(`noloss1${index}`, 5, json.session_token))));
    t.equal(await eventCount(json.session_token), 201);
  });

  await t.test("a batch is recognised after thousands of events", async (t) => {
    const { json } = await send(batch("many0000", 100));
    const token: string = json.session_token;
    for (let index = 1; index <= 20; index++) await send(batch(`many00${index}`, 100, token));
    const first = await send(batch("many0000", 100, token));
    t.same([first.json.accepted, first.json.duplicates], [0, 100], "2000 events later");
    for (let index = 21; index <= 45; index++) await send(batch(`many00${index}`, 100, token));
    for (const index of [26, 35, 45]) {
      const again = await send(batch(`many00${index}`, 100, token));
      t.same([again.json.accepted, again.json.duplicates], [0, 100], `batch ${index} of 45`);
    }
    t.equal(await eventCount(token), 4600);
  });

  await t.test("a refused batch leaves nothing behind: no session, no event, no key", async (t) => {
    const { json } = await send(batch("whole000", 3));
    const rows = async () => [
      await server.sessionCount(),
      await countRows(store, "idempotency"),
      // On a cluster those of the batches before may be on their way.
      isOnCluster ? {} : await counted(store, tenant.projectId),
    ];
    const before = await rows();
    const bad = { ...event("whole001-bad"), type: "no such type" };
    t.equal((await send({ session_token: null, events: [...events("whole001", 9), bad] }, "whole-key")).status, 422);
    t.equal((await send({ session_token: json.session_token, events: [...events("whole002", 9), bad] })).status, 422);
    t.same(await rows(), before);
    t.equal(await eventCount(json.session_token), 3);
    const good = await send(batch("whole001", 9), "whole-key");
    t.same([good.json.accepted, good.json.duplicates], [9, 0], "the same ids and key are as good as new");
  });

  await t.test("the integrity check is clean", async (t) => {
    t.same(checkStore(store).faults, []);
  });
}
