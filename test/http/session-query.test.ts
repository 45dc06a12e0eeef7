/** `sessions/query`: the sessions that an expression of the rules language holds for, counted by value and over time. */
import t from "tap";
import { sessionDimensions } from "../../src/contract/sessions/session-query.js";
import { compile } from "../../src/rules/compile.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { RuleInput } from "../../src/rules/input.js";
import { printExpression } from "../../src/rules/print.js";
import { familyCondition, userAgentFamily } from "../../src/rules/user-agent-family.js";
import { tryLock } from "../../src/store/thread-lock.js";
import { batch, browserHeaders } from "../support/batches.js";
import { startService, type Tenant, toolHeaders } from "./service.js";

/** One server for all tests; each has tenants of its own. */
const service = await startService(t, { "verdict-ttl": "0", "trusted-proxies": "127.0.0.0/8" });

function query({ project, token: as }: Tenant, body: object | string = {}) {
  return service.ask("POST", `/v1/projects/${project.id}/sessions/query`, { as, body });
}

/** A page event of this path. */
function visit(prefix: string, path: string): object {
  const { events } = batch(prefix) as { events: { payload: object }[] };
  return { session_token: null, events: events.map((event) => ({ ...event, payload: { path, visible_ms: 400 } })) };
}

/** Three bots on /login from one network, two people on /shop and "/"; tokens in order of first contact. */
async function visitors(tenant: Tenant): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < 3; index++) {
    const headers = { ...toolHeaders, "x-forwarded-for": `198.51.100.${1 + index}` };
    tokens.push(await service.ingest(tenant, visit(`bot${index}`, "/login"), headers));
  }
  tokens.push(await service.ingest(tenant, visit("person1", "/shop"), { "x-forwarded-for": "2001:db8:1:2::7" }));
  tokens.push(await service.ingest(tenant, visit("person2", '/say "hi"'), { "x-forwarded-for": "203.0.113.5" }));
  return tokens;
}

t.test("sessions are found by expression, each with what it last reported and what the rules would do", async (t) => {
  const one = await service.tenant("one");
  const tokens = await visitors(one);
  const rule = { name: "No bots", expression: "score < 30", action: "block" };
  const at = `/v1/projects/${one.project.id}`;
  const { json: made } = await service.ask("POST", `${at}/rules`, { as: one.token, body: rule });
  const all = (await query(one)).json;
  t.same(
    all.data.map((row: { session_token: string }) => row.session_token),
    tokens.toReversed(),
    "no expression: every session, the latest first",
  );
  t.match(all, { scanned: 5, matched: 5, is_sample: false, total: 5, groups: [], unavailable_fields: [] });
  t.match(all.data[4], {
    verdict: "definite",
    action: "block",
    rule_id: made.id,
    reason: /^Definitely automated \(score \d+\): .*\. .*No bots/,
    path: "/login",
    ip: "198.51.100.1",
    user_agent: toolHeaders["user-agent"],
  });
  t.match(all.data[1], { verdict: "likely_human", action: "allow", rule_id: null, path: "/shop" });
  const listed = (await service.ask("GET", `${at}/sessions`, { as: one.token })).json.data;
  const named = listed.map(({ agent, ...row }: { agent: { name: string; certainty: string } | null }) => ({
    ...row,
    agent: agent?.name ?? null,
    agent_certainty: agent?.certainty ?? null,
  }));
  t.match(all.data, named, "band, score, detections and agent are those of the log of sessions");
  const bots = (await query(one, { expression: 'path == "/login" AND band == "definite"' })).json;
  t.match(bots, { scanned: 5, matched: 3, total: 5 });
  t.same(
    bots.data.map((row: { session_token: string }) => row.session_token),
    tokens.slice(0, 3).toReversed(),
  );
});

t.test("every value can be clicked: its condition selects just the sessions that it counts", async (t) => {
  const one = await service.tenant("groups");
  await visitors(one);
  const at = `/v1/projects/${one.project.id}`;
  const rule = { name: "No bots", expression: "score < 30", action: "block" };
  const { id } = (await service.ask("POST", `${at}/rules`, { as: one.token, body: rule })).json;
  const { status, json } = await query(one, { group_by: [...sessionDimensions] });
  t.equal(status, 200);
  t.same(
    json.groups.map(({ by }: { by: string }) => by),
    [...sessionDimensions],
  );
  let asked = 0;
  for (const { by, values, without, further_values } of json.groups) {
    t.equal(further_values, 0);
    const counted = values.reduce((sum: number, { sessions }: { sessions: number }) => sum + sessions, without);
    if (by !== "detection") t.equal(counted, 5, `${by}: each session counts once`);
    for (const { value, sessions, condition } of values) {
      if (condition === null) continue;
      asked++;
      t.equal((await query(one, { expression: condition })).json.matched, sessions, `${by} ${value}: ${condition}`);
    }
  }
  t.ok(asked > 10);
  const group = (name: string) => json.groups.find(({ by }: { by: string }) => by === name);
  t.match(group("network").values[0], { value: "198.51.100.0/24", sessions: 3 });
  t.ok(group("network").values.some(({ value }: { value: string }) => value === "2001:db8:1::/48"));
  t.match(group("path").values[0], { value: "/login", sessions: 3, condition: 'path == "/login"' });
  t.match(group("user_agent").values, [
    { value: "python-requests", sessions: 3 },
    { value: "Chrome", sessions: 2 },
  ]);
  t.match(group("declared_bot").values, [{ sessions: 3, condition: 'declared_bot == "python-requests"' }]);
  t.match(group("action").values, [
    { value: "block", sessions: 3, condition: 'action == "block"' },
    { value: "allow", sessions: 2 },
  ]);
  t.match(group("rule"), {
    values: [{ value: `${id} No bots`, sessions: 3, condition: `rule_id == ${id}` }],
    without: 2,
  });
  const both = `action == "block" AND NOT (rule_id == ${id} OR declared_bot_category == "library")`;
  t.match((await query(one, { expression: both })).json, { matched: 0, unavailable_fields: [] });
  const counting = { expression: `rule_id == ${id}`, from: json.from, dry_run: true };
  const deletion = await service.ask("POST", `${at}/sessions/delete`, { as: one.token, body: counting });
  t.match(deletion.json, { matched: 3, deleted: 0, unavailable_fields: [] });
  const refused = await service.ask("POST", `${at}/rules`, {
    as: one.token,
    body: { ...rule, expression: 'action == "block"' },
  });
  t.match(refused, { status: 422, json: { message: /action is what rules decide/ } });
  t.match((await query(one, { group_by: ["path"], top: 1 })).json.groups[0], {
    values: [{ value: "/login" }],
    further_values: 2,
  });
});

t.test("the chart has every bar of the time, verified bots and bots apart", async (t) => {
  const one = await service.tenant("chart");
  await visitors(one);
  const { from, to, chart, matched } = (await query(one)).json;
  t.equal(chart.bar_seconds, 900);
  t.ok(chart.bars.length <= 97);
  t.ok(chart.bars[0].at <= from);
  t.ok(chart.bars.at(-1).at < to);
  const sum = (band: string) =>
    chart.bars.reduce(
      (total: number, { verdicts }: { verdicts: Record<string, number> }) => total + verdicts[band]!,
      0,
    );
  t.same([sum("definite"), sum("likely_human"), sum("verified"), matched], [3, 2, 0, 5]);
  const past = (await query(one, { from: "2026-01-01", to: "2026-03-01T00:00Z" })).json;
  t.match(past, { scanned: 0, matched: 0, data: [], from: "2026-01-01T00:00:00.000Z", total: 0 });
  t.equal(past.chart.bars[0].at, "2026-01-01T00:00:00.000Z");
});

t.test("pages go on where the one before ended, and miss and repeat nothing", async (t) => {
  const one = await service.tenant("pages");
  const tokens: string[] = [];
  for (let index = 0; index < 9; index++) {
    tokens.push(await service.ingest(one, visit(`page${index}`, index % 3 === 0 ? "/third" : "/other")));
  }
  for (const [expression, wanted] of [
    ["", tokens.toReversed()],
    ['path == "/other"', tokens.filter((_, index) => index % 3 !== 0).toReversed()],
  ] as const) {
    const found: string[] = [];
    const first = (await query(one, { expression, limit: 2 })).json;
    t.equal(first.matched, wanted.length, "the first page counts all");
    for (let page = first; ; ) {
      found.push(...page.data.map((row: { session_token: string }) => row.session_token));
      const cursor = page.meta.next_cursor;
      if (cursor === null) break;
      page = (await query(one, { expression, limit: 2, cursor, from: first.from, to: first.to })).json;
      t.notOk("groups" in page || "chart" in page || "total" in page, "counts are those of the first page");
    }
    t.same(found, wanted);
  }
});

t.test("what can't be asked is refused with the place of the fault", async (t) => {
  const one = await service.tenant("bad");
  t.match(await query(one, { expression: "score <" }), {
    status: 422,
    json: { code: "INVALID_PAYLOAD", message: /^expression: line 1, column 8/ },
  });
  const bad: (object | string)[] = [
    "{",
    "[]",
    { expression: 5 },
    { expression: `path == "${"a".repeat(2000)}"` },
    { from: "yesterday" },
    { to: "2026-13-01" },
    { from: "2026-02-01", to: "2026-01-01" },
    { from: "2020-01-01", to: "2026-01-01" },
    { group_by: ["colour"] },
    { group_by: "path" },
    { top: 0 },
    { limit: 101 },
    { cursor: "abc" },
    { cursor: "" },
    { group_by: ["path"], cursor: "abc" },
  ];
  for (const body of bad) t.equal((await query(one, body)).status, 422, JSON.stringify(body).slice(0, 80));
  t.same((await query(one, { expression: 'method == "GET"' })).json.unavailable_fields, ["method"]);
  const other = await service.tenant("other");
  t.equal((await query({ ...one, token: other.token })).status, 403);
  const unlock = tryLock(service.server.store, `query:${one.account.id}`)!;
  t.match(await query(one), { status: 409, json: { message: /another query/ } });
  t.equal((await query(other)).status, 200, "another account is not held up");
  unlock();
  t.equal((await query(one)).status, 200);
});

t.test("a family's condition holds for the user agents of that family alone", async (t) => {
  const agents = [
    browserHeaders["user-agent"],
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
    "Mozilla/5.0 (Windows NT 10.0; rv:143.0) Gecko/20100101 Firefox/143.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "python-requests/2.31.0",
    'od"d\\agent',
    "/",
  ];
  const families = agents.map(userAgentFamily);
  t.same(families.slice(0, 7), [
    "Chrome",
    "Edge",
    "Firefox",
    "Safari",
    "Headless Chrome",
    "Other browser or crawler",
    "python-requests",
  ]);
  for (const [index, family] of families.entries()) {
    const condition = familyCondition(family);
    const reread = compileRule(printExpression(condition));
    t.notOk(isRuleFault(reread), printExpression(condition));
    const matches = compile(condition);
    for (const [other, userAgent] of agents.entries()) {
      const facts = {
        score: 50,
        band: "likely_human",
        verifiedBot: false,
        detectionIds: [],
        jsDetected: false,
      } as const;
      const input = new RuleInput({ ...facts, likelyBotThreshold: 30, userAgent });
      t.equal(matches(input), index === other, `${family}: ${userAgent}`);
    }
  }
  t.equal(userAgentFamily(""), "");
});
