/** `rules/test`: a draft backtested on stored sessions says what it would do as the project's only rule, and changes nothing. */
import t from "tap";
import { VerifiedBotCatalogues } from "../../src/control-plane/lists/verified-bot-catalogue.js";
import { batch } from "../support/batches.js";
import { type Service, startService, type Tenant, toolHeaders } from "./service.js";

/** One server for all tests; each has tenants of its own. */
const service = await startService(t, { "verdict-ttl": "0", "trusted-proxies": "127.0.0.0/8" });

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, count) => total + count, 0);

function test(service: Service, { project, token: as }: Tenant, body: object | string) {
  return service.ask("POST", `/v1/projects/${project.id}/rules/test`, { as, body });
}

/** Five bots, four people, the last person logged in; tokens in order of first contact. */
async function sessions(service: Service, tenant: Tenant): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < 9; index++) {
    const headers = index < 5 ? toolHeaders : {};
    tokens.push(await service.ingest(tenant, batch(`backtest${index}`, 1 + index), headers));
  }
  await service.ask("POST", `/v1/sessions/${tokens[8]}/logged-in`, { as: tenant.privateKey });
  return tokens;
}

const drafts = [
  { expression: "score < 30", action: "block" },
  { expression: 'band == "likely_human"', action: "block" },
  { expression: 'band == "likely_human"', action: "challenge" },
  { expression: "event_count > 3 AND NOT verified_bot", action: "delay" },
  { expression: 'user_agent contains "python"', action: "log" },
  { expression: 'path == "/"', action: "allow" },
  { expression: 'ip in {"127.0.0.0/8"}', action: "block" },
  { expression: 'method == "GET"', action: "block" },
];

for (const policy of ["observe", "never_block", "whitelist"]) {
  t.test(`a draft's counts are those of the verdicts it gives as the only active rule (${policy})`, async (t) => {
    const one = await service.tenant("one");
    const tokens = await sessions(service, one);
    const at = `/v1/projects/${one.project.id}`;
    await service.ask("PUT", `${at}/scoring/settings`, { as: one.token, body: { logged_in_policy: policy } });
    for (const draft of drafts) {
      const { status, json: told } = await test(service, one, draft);
      t.equal(status, 200);
      const { json: rule } = await service.ask("POST", `${at}/rules`, { as: one.token, body: { name: "r", ...draft } });
      const byAction: Record<string, number> = { allow: 0, challenge: 0, block: 0, log: 0, delay: 0 };
      const byBand: Record<string, number> = {};
      const matched: string[] = [];
      for (const token of tokens) {
        const { json: verdict } = await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey });
        if (!verdict.reason.includes('by rule "r"')) continue;
        matched.unshift(token);
        byAction[verdict.action] = (byAction[verdict.action] ?? 0) + 1;
        byBand[verdict.verdict] = (byBand[verdict.verdict] ?? 0) + 1;
      }
      await service.ask("DELETE", `${at}/rules/${rule.id}`, { as: one.token });
      const name = `${draft.expression} ${draft.action}`;
      t.equal(told.evaluated, tokens.length, name);
      t.equal(told.matched, matched.length, name);
      t.same(told.by_action, byAction, name);
      t.match(told.by_band, byBand, name);
      t.equal(sum(told.by_band), matched.length, name);
      t.same(told.sample, matched, name);
    }
  });
}

t.test("the latest sessions come first, at most `limit`, and ten tokens at most are shown", async (t) => {
  const one = await service.tenant("one");
  const tokens: string[] = [];
  for (let index = 0; index < 12; index++) tokens.push(await service.ingest(one, batch(`many${index}`)));
  const draft = { expression: "score > 0", action: "log" };
  t.match((await test(service, one, { ...draft, limit: 3 })).json, {
    evaluated: 3,
    matched: 3,
    sample: tokens.toReversed().slice(0, 3),
  });
  const all = (await test(service, one, draft)).json;
  t.match(all, { evaluated: 12, matched: 12 });
  t.same(all.sample, tokens.toReversed().slice(0, 10));
});

t.test("more sessions than one tick of the event loop takes are backtested, each once", async (t) => {
  const one = await service.tenant("one");
  await Promise.all(Array.from({ length: 230 }, (_, index) => service.ingest(one, batch(`crowd${index}`))));
  const { json } = await test(service, one, { expression: "event_count == 1", action: "log" });
  t.match(json, { evaluated: 230, matched: 230 });
  t.equal(new Set(json.sample).size, 10);
  t.equal(
    (await test(service, one, { expression: "event_count == 1", action: "log", limit: 201 })).json.evaluated,
    201,
  );
});

t.test("a project without sessions matches nothing", async (t) => {
  const one = await service.tenant("one");
  const empty = (await test(service, one, { expression: "score < 99", action: "block" })).json;
  t.match(empty, { evaluated: 0, matched: 0, sample: [] });
  t.equal(sum(empty.by_action) + sum(empty.by_band), 0);
});

t.test("guards come before the draft: a verified bot is asked about only when they let it be", async (t) => {
  const entry = { name: "Us", category: "monitoring", match_method: "ip_cidr", match_value: "192.0.2.0/24" } as const;
  await new VerifiedBotCatalogues(service.server.store).replace({ version: "1", entries: [entry] });
  const one = await service.tenant("one");
  await service.ingest(one, batch("verified"), { "x-forwarded-for": "192.0.2.7" });
  const at = `/v1/projects/${one.project.id}`;
  const row = (await service.ask("GET", `${at}/sessions`, { as: one.token })).json.data[0];
  t.equal(row.verdict, "verified");
  const draft = { expression: "verified_bot", action: "block" };
  t.match((await test(service, one, draft)).json, { evaluated: 1, matched: 0 });
  await service.ask("PUT", `${at}/scoring/settings`, { as: one.token, body: { allow_verified: false } });
  t.match((await test(service, one, draft)).json, { evaluated: 1, matched: 1, by_band: { verified: 1 } });
});

t.test("a bad draft is refused with the place of its fault, and nothing is stored", async (t) => {
  const one = await service.tenant("one");
  await sessions(service, one);
  const at = `/v1/projects/${one.project.id}`;
  const state = async () => [
    (await service.ask("GET", `${at}/rules`, { as: one.token })).json,
    (await service.ask("GET", `${at}/blocks`, { as: one.token })).json,
    (await service.ask("GET", `${at}/sessions`, { as: one.token })).json,
    service.server.projects.find(one.project.id),
  ];
  const before = await state();
  t.match(await test(service, one, { expression: "score <", action: "block" }), {
    status: 422,
    json: { code: "INVALID_PAYLOAD", message: /line 1, column 8/ },
  });
  const bad: (object | string)[] = [
    "",
    "{",
    "[]",
    {},
    { expression: "score < 5" },
    { action: "block" },
    { expression: 5, action: "block" },
    { expression: "score < 5", action: "explode" },
    { expression: "nobody == 5", action: "block" },
    { expression: `path == "${"a".repeat(2000)}"`, action: "block" },
    ...[0, 10_001, 1.5, "5", null].map((limit) => ({ expression: "score < 5", action: "block", limit })),
    ...[0, 169, 1.5, "5", null].map((hours) => ({ expression: "score < 5", action: "block", hours })),
  ];
  for (const body of bad) t.equal((await test(service, one, body)).status, 422, JSON.stringify(body).slice(0, 80));
  await test(service, one, { expression: "score < 99", action: "block" });
  await service.server.store.root.transaction(() => {});
  t.same(await state(), before, "no rule, block or setting came of it");
});

t.test("with hours, the sessions of that time are backtested, and it says when they are a sample", async (t) => {
  const one = await service.tenant("hours");
  const tokens = await sessions(service, one);
  const draft = { expression: "score < 99", action: "block" };
  const { json: latest } = await test(service, one, draft);
  t.equal("is_sample" in latest, false, "the latest sessions are no sample of anything");
  const { json: day } = await test(service, one, { ...draft, hours: 24 });
  t.same(day, { ...latest, is_sample: false }, "all began today");
  const { json: few } = await test(service, one, { ...draft, hours: 24, limit: tokens.length - 1 });
  t.match(few, { is_sample: true, evaluated: tokens.length - 1 });
});

t.test("the path of rule tests is no rule", async (t) => {
  const one = await service.tenant("one");
  const at = `/v1/projects/${one.project.id}/rules/test`;
  const as = one.token;
  for (const method of ["PATCH", "PUT", "DELETE", "GET"]) {
    const { status, headers } = await service.ask(method, at, { as });
    t.same([status, headers.get("allow")], [405, "POST"], method);
  }
});

t.test("what never or always matches is told, and no fault", async (t) => {
  const one = await service.tenant("warned");
  const warned = async (expression: string) => (await test(service, one, { expression, action: "log" })).json.warnings;
  t.same(await warned('path == "checkout"'), ['path == "checkout" never matches: a path begins with /.']);
  t.same(await warned("score < 150"), ["score < 150 always matches: score is 0 to 99."]);
  t.same(await warned('path == "/checkout" AND score < 30'), []);
  const cased = 'agent == "claude in chrome" is in another case than "Claude in Chrome", and never meets it.';
  t.same(await warned('agent == "claude in chrome" OR agent == "Claude in Chrome"'), [cased]);
  t.match(await warned('path == "/x" AND NOT agent in {"Codex", "Nobody at all"}'), [
    /^agent == "Nobody at all" names nobody/,
  ]);
  t.same(
    await warned('agent == "GPTBot" OR agent == "curl" OR agent == "unknown agent" OR agent contains "Claude"'),
    [],
  );
  const rules = `/v1/projects/${one.project.id}/rules`;
  const save = (method: string, path: string, expression: string) =>
    service.ask(method, path, { as: one.token, body: { name: "x", expression, action: "log" } });
  const saved = await save("POST", rules, 'agent == "claude in chrome"');
  t.same([saved.status, saved.json.warnings], [201, [cased]], "and at saving");
  const mended = await save("PUT", `${rules}/${saved.json.id}`, 'agent == "Claude in Chrome"');
  t.notOk("warnings" in mended.json);
});

t.test("fields that stored sessions don't have are named", async (t) => {
  const one = await service.tenant("fields");
  const gaps = async (expression: string) =>
    (await test(service, one, { expression, action: "log" })).json.unavailable_fields;
  t.same(await gaps('score < 30 AND NOT (method == "GET" OR ja4 == "x" OR method == "PUT")'), ["method", "ja4"]);
  t.same(await gaps('path == "method"'), []);
  t.same(await gaps('declared_bot == "x" OR declared_bot_category == "library"'), [], "read from the user agent");
});

t.test(
  "`effect` says what the draft would change among the rules as they are, and which rules stand in its way",
  async (t) => {
    const one = await service.tenant("effect");
    const tokens = await sessions(service, one);
    const at = `/v1/projects/${one.project.id}`;
    const effectOf = async (draft: object) => (await test(service, one, draft)).json.effect;
    const nothing = { newly_blocked: 0, newly_challenged: 0, newly_delayed: 0, newly_allowed: 0, marked_human: 0 };
    await service.ask("PUT", `${at}/sessions/${tokens[5]}/mark`, { as: one.token, body: { as: "person" } });
    t.match(await effectOf({ expression: 'band == "likely_human"', action: "block" }), {
      ...nothing,
      newly_blocked: 4,
      unchanged: 5,
      likely_human: 4,
      logged_in: 1,
      marked_human: 1,
      shadowed_by: [],
      shadows: [],
    });
    const body = { name: "bots", expression: "score < 30", action: "block", sort_order: 20 };
    const { json: rule } = await service.ask("POST", `${at}/rules`, { as: one.token, body });
    const exception = { expression: 'user_agent contains "python"', action: "allow" };
    t.match(await effectOf(exception), { ...nothing, unchanged: 9, shadowed_by: [rule.id], shadows: [] });
    t.match(await effectOf({ ...exception, sort_order: 20 }), { shadowed_by: [rule.id] }, "behind equals");
    t.match(await effectOf({ ...exception, sort_order: 19 }), {
      ...nothing,
      newly_allowed: 5,
      unchanged: 4,
      likely_human: 0,
      shadowed_by: [],
      shadows: [rule.id],
    });
    t.match(await effectOf({ ...exception, action: "challenge", sort_order: 1 }), {
      newly_challenged: 5,
      unchanged: 4,
    });
    t.match(await effectOf({ ...exception, action: "delay", sort_order: 1 }), { newly_delayed: 5, unchanged: 4 });
    const logging = await effectOf({ ...exception, action: "log", sort_order: 1 });
    t.match(logging, { ...nothing, unchanged: 9, shadowed_by: [], shadows: [] }, "a log decides nothing");
    t.equal((await test(service, one, { ...exception, sort_order: "first" })).status, 422);
    const { expression, action, sort_order } = body;
    const asItIs = { expression, action, sort_order, replaces: rule.id };
    t.match(
      await effectOf(asItIs),
      { ...nothing, unchanged: 9, shadowed_by: [], shadows: [] },
      "no rule shadows itself",
    );
    const softer = await effectOf({ ...asItIs, action: "log" });
    t.match(softer, { ...nothing, newly_allowed: 5, unchanged: 4, shadowed_by: [], shadows: [] });
    t.match(await effectOf({ ...asItIs, replaces: rule.id + 1 }), { shadowed_by: [rule.id] }, "no rule of the project");
    t.equal((await test(service, one, { ...exception, replaces: 0 })).status, 422);
  },
);
