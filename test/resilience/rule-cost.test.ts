/**
 * Rules as an attack on the other tenants of a server, over real sockets: the costliest drafts backtested on sessions whose texts are as bad
 * as visitors can make them, by a viewer who then goes away, and more costly rules than a verdict may take.
 */
import t from "tap";
import { limits } from "../../src/limits.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { anotherTenant, firstTenant, startServer, type Tenant, type TestServer } from "../support/server.js";
import { storeScoredSession } from "../support/stored-session.js";

const sessionCount = 4000;
const worstText = "a".repeat(limits.contextValueMax);
const comparison = 'user_agent wildcard "*b*"';
const costlyRule = Array(Math.floor(limits.ruleSourceMax / (comparison.length + 4)))
  .fill(comparison)
  .join(" OR ");

const server = await startServer(t, ["--http-threads", "2", "--scoring-threads", "2", "--verdict-ttl", "0"]);
const attacker = await firstTenant(server);
const other = await anotherTenant(server, "other");
const beganMs = Date.now() - 1000 * sessionCount;
const stored = await Promise.all(
  Array.from({ length: sessionCount }, (_, index) =>
    storeScoredSession(server.store, attacker.projectId, beganMs + index * 1000, index, worstText),
  ),
);
const tokens = {
  attacker: stored.at(-1)!,
  other: await storeScoredSession(server.store, other.projectId, beganMs, 0, worstText),
};

function backtest({ projectId, token }: Tenant, limit = sessionCount): string {
  const headers = { Authorization: `Bearer ${token}` };
  const body = JSON.stringify({ expression: costlyRule, action: "block", limit });
  return rawRequest("POST", `/v1/projects/${projectId}/rules/test`, headers, body);
}

const ask = (tenant: Tenant, limit: number) =>
  server.ask("POST", `/v1/projects/${tenant.projectId}/rules/test`, {
    token: tenant.token,
    body: { expression: costlyRule, action: "block", limit },
  });

const verdictOf = ({ privateKey }: Tenant, token: string) =>
  server.ask("GET", `/v1/sessions/${token}/verdict`, { token: privateKey });

const counted = async (server: TestServer, name: string, labels = {}): Promise<number> =>
  (await server.metrics()).sum(name, labels);

/** Resolves when the count is above `above`; each look is a request to the same process. */
async function countAbove(name: string, above: number, labels = {}): Promise<number> {
  for (;;) {
    const count = await counted(server, name, labels);
    if (count > above) return count;
  }
}

t.test(
  "others are answered while a backtest runs, and the account has one at a time, whichever thread is asked",
  async (t) => {
    const before = await counted(server, "verdictd_backtest_sessions_total");
    const client = await RawClient.open(server.port);
    t.teardown(() => client.leave());
    let isRunning = true;
    client.write(backtest(attacker));
    const answered = client.answer().finally(() => {
      isRunning = false;
    });
    await countAbove("verdictd_backtest_sessions_total", before);
    // Connections of their own, which the system spreads over both threads.
    const refused = await Promise.all(Array.from({ length: 8 }, () => RawClient.open(server.port)));
    for (const each of refused) each.write(backtest(attacker, 1));
    const statuses = await Promise.all(refused.map(async (each) => (await each.answer())?.status));
    for (const each of refused) each.leave();
    t.equal((await ask(other, 1)).status, 200, "another account has its own");
    t.equal(isRunning, true, "all of that came before the first one's end");
    t.same(statuses, Array(8).fill(409));
    let reads = 0;
    while (isRunning) {
      t.match(await verdictOf(other, tokens.other), { status: 200, json: { score: 50 } });
      reads++;
    }
    t.ok(reads >= 5, `${reads} verdicts in between`);
    const answer = await answered;
    t.equal(answer?.status, 200);
    t.match(JSON.parse(answer?.body ?? ""), { evaluated: sessionCount, matched: 0 });
    t.equal((await ask(attacker, 1)).status, 200, "the next one may come");
  },
);

t.test("a backtest ends when its client goes, and makes room for the next", async (t) => {
  const before = await counted(server, "verdictd_backtest_sessions_total");
  const client = await RawClient.open(server.port);
  client.write(backtest(attacker));
  await countAbove("verdictd_backtest_sessions_total", before);
  client.leave();
  await countAbove("verdictd_backtests_total", 0, { result: "aborted" });
  const evaluated = (await counted(server, "verdictd_backtest_sessions_total")) - before;
  t.ok(evaluated < sessionCount, `${evaluated} of ${sessionCount} sessions`);
  t.equal((await ask(attacker, 1)).status, 200);
});

t.test("rules that cost more than a verdict may are not asked to the end: fail-open, said and counted", async (t) => {
  const path = `/v1/projects/${attacker.projectId}/rules`;
  const rules = 1.5 * Math.ceil(limits.ruleStepsMax / (worstText.length * 2 * costlyRule.split(" OR ").length));
  for (let index = 0; index < rules; index++) {
    const body = { name: `costly ${index}`, expression: costlyRule, action: "block", sort_order: index };
    t.equal((await server.ask("POST", path, { token: attacker.token, body })).status, 201);
  }
  const body = { name: "last", expression: "score < 99", action: "block", sort_order: 2_000 };
  const { json: last } = await server.ask("POST", path, { token: attacker.token, body });
  const { json } = await verdictOf(attacker, tokens.attacker);
  t.match(json, { action: "allow", reason: /The last rules were not evaluated/ });
  t.same((await verdictOf(attacker, tokens.attacker)).json, json, "the same each time");
  const overBudget = "verdictd_verdicts_over_rule_budget_total";
  const { samples, sum } = await server.metrics();
  const answered = samples.filter(({ name, value }) => name === "verdictd_verdicts_total" && value > 0);
  t.equal(sum(overBudget), 2, JSON.stringify(answered));
  await server.ask("PATCH", `${path}/${last.id}`, { token: attacker.token, body: { sort_order: -1 } });
  t.match((await verdictOf(attacker, tokens.attacker)).json, { action: "block", reason: /by rule "last"/ });
  t.equal(await counted(server, overBudget), 2, "no more than before");
});
