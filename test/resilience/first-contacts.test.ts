/** Floods of first contacts: a project's sessions are bounded, what is above is shed and counted, and nobody else notices. */
import t from "tap";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { sweep } from "../../src/store/expiry.js";
import { sessionCountKey } from "../../src/store/session-count.js";
import { batch } from "../support/batches.js";
import { anotherTenant, firstTenant, startServer } from "../support/server.js";
import { openIngest } from "./ingest.js";

const noon = Date.UTC(2026, 10, 21, 12);
const shed = { isShed: true };
const retention = { sessionMs: 1e12, blockMs: 1e12, trafficMs: 1e12, sessionsMax: 40 };

t.test("above the bound first contacts are shed, sessions that are known go on", async (t) => {
  const { store, owner, take } = await openIngest(t, defaultPlans, "full", 40);
  const contact = (index: number) => ({
    body: batch(`flood${index}x0`),
    key: `flood${index}`,
    nowMs: noon + index * 1000,
  });
  // biome-ignore lint/suspicious/noExplicitAny: an outcome is an answer or shed
  const taken = take(...Array.from({ length: 45 }, (_, index) => contact(index))) as any[];
  t.same(taken.slice(40), [shed, shed, shed, shed, shed], "in one transaction");
  const tokens: string[] = taken.slice(0, 40).map(({ session_token }) => session_token);
  t.same(take(contact(45)), [shed], "and in the next");
  t.match(take({ ...contact(3), nowMs: noon + 60_000 }), [{ session_token: tokens[3], duplicates: 1 }], "a retry");
  t.match(take({ body: batch("known000", 2, tokens[7]), nowMs: noon + 60_000 }), [{ accepted: 2 }], "a known session");
  t.same(take({ body: batch("lost0000", 2, `sess_${"x".repeat(28)}`), nowMs: noon }), [shed], "a token of nobody");
  t.equal(store.sessions.getCount(), 40);

  await t.test("the sweep lets the oldest go, so that there is room for new visitors", async (t) => {
    const swept = await sweep(store, retention, noon + 60_000);
    t.equal(swept.sessions, 2, "a twentieth");
    const sessions = new Sessions(store);
    t.same(
      tokens.map((token) => sessions.exists(owner.projectId, token)),
      tokens.map((_, index) => index >= 2),
    );
    t.match(take(contact(50)), [{ accepted: 1 }]);
    t.equal((await sweep(store, { ...retention, sessionsMax: 1000 }, noon + 60_000)).sessions, 0, "nothing below it");
  });

  await t.test("an erased session makes room", async (t) => {
    t.match(take(contact(51)), [{ accepted: 1 }]);
    t.same(take(contact(52)), [shed]);
    await eraseSession(store, tokens[20]!);
    t.match(take(contact(52)), [{ accepted: 1 }]);
    t.same(take(contact(53)), [shed]);
  });

  await t.test("a store from before there was a count is counted once", async (t) => {
    store.root.transactionSync(() => store.meta.removeSync(sessionCountKey(owner.projectId)));
    t.same(take(contact(54)), [shed]);
    await eraseSession(store, tokens[21]!);
    t.equal(store.meta.get(sessionCountKey(owner.projectId)), 39);
    t.ok([...store.sessions.getKeys({})].every((key) => !key.includes(decodeSessionToken(tokens[21]!)!)));
  });
  const { faultCount, faults } = checkStore(store);
  t.same([faultCount, faults], [0, []]);
});

t.test("over HTTP a shed first contact is no error, is counted, and costs other projects nothing", async (t) => {
  const server = await startServer(t, ["--sessions-max", "5"]);
  const flooded = await firstTenant(server);
  const other = await anotherTenant(server, "other");
  const send = (siteKey: string, name: string) =>
    server.ask("POST", "/v1/events", { headers: { "x-service-site-key": siteKey }, body: batch(name) });
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => send(flooded.siteKey, `flood${index}x0`)));
  t.same(answers.map(({ status }) => status).sort(), [...Array(5).fill(202), ...Array(25).fill(204)]);
  const one = answers.find(({ status }) => status === 204);
  t.same([one?.headers.get("access-control-allow-origin"), one?.text], ["*", ""]);
  t.equal((await send(other.siteKey, "other000")).status, 202);
  t.equal((await server.metrics()).sum("verdictd_first_contacts_shed_total"), 25);
  t.equal((await server.metrics()).sum("verdictd_sessions_stored"), 6);
  const verdict = await server.ask("GET", `/v1/sessions/sess_${"x".repeat(28)}/verdict`, { token: flooded.privateKey });
  t.match(verdict, { status: 200, json: { verdict: "not_computed", action: "allow" } });
});
