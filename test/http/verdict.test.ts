/** `GET /v1/sessions/{session_token}/verdict` over HTTP: the whole way from ingested events and configured rules to an action. */
import t from "tap";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { askerAs, askUntil, firstTenant, newProject, startServer, type TestServer } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

/** A project with scoring enabled, and short names for what the tests do with it. */
async function openProject(server: TestServer, token: string, projectId: number) {
  const ask = askerAs(server, token, `/v1/projects/${projectId}`);
  const keys = (await ask("POST", "/scoring")).json;
  const ingest = async (body: object): Promise<string> =>
    (
      await server.ask("POST", "/v1/events", {
        headers: { ...browserHeaders, "x-service-site-key": keys.site_key },
        body,
      })
    ).json.session_token;
  return {
    id: projectId,
    ask,
    ingest,
    /** A session in a bot band by heuristics. */
    bot: (prefix: string) => ingest(automatedBatch(prefix)),
    person: (prefix: string) => ingest(batch(prefix, 3)),
    read: (session: string, query = "", headers: Record<string, string> = {}) =>
      server.ask("GET", `/v1/sessions/${session}/verdict${query}`, {
        headers: { authorization: `Bearer ${keys.private_key}`, ...headers },
      }),
    assert: (session: string) => server.ask("POST", `/v1/sessions/${session}/logged-in`, { token: keys.private_key }),
    rule: async (expression: string, action: string, more: object = {}): Promise<number> =>
      (await ask("POST", "/rules", { name: `${action} ${expression}`, expression, action, ...more })).json.id,
    settings: (body: object) => ask("PUT", "/scoring/settings", body),
  };
}

t.test("verdicts without a cache", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const tenant = await firstTenant(server);
  const fresh = async () => openProject(server, tenant.token, await newProject(server, tenant.accountId));

  await t.test(
    "a session of a declared automation is in a bot band, with detections and a reason that names it",
    async (t) => {
      const project = await fresh();
      const { status, json } = await project.read(await project.bot("declared"));
      t.equal(status, 200);
      t.same(Object.keys(json).sort(), ["action", "detection_ids", "reason", "score", "verdict"]);
      t.ok(["definite", "confident_automated", "likely_automated"].includes(json.verdict));
      t.ok(Number.isInteger(json.score) && json.score >= 1 && json.score < 30);
      t.equal(json.action, "allow", "scoring alone blocks nobody");
      t.ok(json.detection_ids.length > 0 && json.detection_ids.every((id: unknown) => Number.isInteger(id)));
      t.match(json.reason, /webdriver/);
    },
  );

  await t.test("a session without evidence of automation is likely human, with no detection ids", async (t) => {
    const project = await fresh();
    const { json } = await project.read(await project.person("person00"));
    t.match(json, { verdict: "likely_human", action: "allow" });
    t.same(json.detection_ids, []);
    t.ok(json.score >= 30 && json.score <= 99);
  });

  await t.test("every answer of ingest is scored by the time of its 202, and holds no score itself", async (t) => {
    const project = await fresh();
    const keys = (await project.ask("POST", "/scoring")).json;
    const { json } = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": keys.site_key },
      body: automatedBatch("noscore0"),
    });
    t.same(Object.keys(json).sort(), ["accepted", "duplicates", "session_token"]);
    t.not((await project.read(json.session_token)).json.verdict, "not_computed");
  });

  await t.test("an unknown session reads 200 with the fail-open body, never 404", async (t) => {
    const project = await fresh();
    for (const token of ["sess_unknown", `sess_${"Q".repeat(28)}`, "nonsense", `sess_${"x".repeat(128)}`]) {
      const { status, json } = await project.read(token);
      t.equal(status, 200);
      t.match(json, { verdict: "not_computed", score: 0, action: "allow", detection_ids: [] });
      t.type(json.reason, "string");
    }
  });

  await t.test("the same session at another threshold has another band, without new events", async (t) => {
    const project = await fresh();
    const session = await project.person("thresh00");
    const { score } = (await project.read(session)).json;
    await project.settings({ likely_bot_threshold: Math.min(99, score + 1) });
    t.equal((await project.read(session)).json.verdict, "likely_automated");
    await project.settings({ likely_bot_threshold: score });
    const { json } = await project.read(session);
    t.same([json.verdict, json.score], ["likely_human", score]);
  });

  await t.test("starter rules are inactive: enabling scoring blocks nobody until one is activated", async (t) => {
    const project = await fresh();
    const session = await project.bot("starter0");
    t.equal((await project.read(session)).json.action, "allow");
    const [first] = (await project.ask("GET", "/rules")).json;
    await project.ask("PATCH", `/rules/${first.id}`, { expression: "score < 30", is_active: true });
    t.equal((await project.read(session)).json.action, "block");
    await project.ask("PUT", `/rules/${first.id}`, { is_active: false });
    t.equal((await project.read(session)).json.action, "allow", "an inactive rule is never matched");
  });

  await t.test(
    "rules are asked in ascending sort_order, equal ones by id, and the first that terminates wins",
    async (t) => {
      const project = await fresh();
      const session = await project.bot("order000");
      const last = await project.rule("score < 30", "block", { sort_order: 10 });
      const middle = await project.rule("score < 30", "challenge", { sort_order: 5 });
      const twin = await project.rule("score < 30", "delay", { sort_order: 5 });
      const action = async () => (await project.read(session)).json.action;
      t.equal(await action(), "challenge", "the lower order, then the lower id");
      await project.ask("PATCH", `/rules/${middle}`, { sort_order: 6 });
      t.equal(await action(), "delay");
      await project.ask("PATCH", `/rules/${twin}`, { is_active: false });
      await project.ask("DELETE", `/rules/${middle}`);
      t.equal(await action(), "block");
      await project.ask("PATCH", `/rules/${last}`, { sort_order: -2147483648 });
      t.equal(await action(), "block");
      await project.rule("score > 90", "allow", { sort_order: -2147483648 });
      t.equal(await action(), "block", "a rule that does not match decides nothing");
    },
  );

  await t.test("an allow rule above a band rule overrides it, by the path of the request", async (t) => {
    const project = await fresh();
    const session = await project.bot("override");
    await project.rule('path starts_with "/health"', "allow", { sort_order: 1 });
    await project.rule("NOT verified_bot AND score < 30", "block", { sort_order: 2 });
    t.equal((await project.read(session, "?path=/health/live")).json.action, "allow");
    t.equal((await project.read(session, "?path=/login")).json.action, "block");
    t.equal(
      (await project.read(session, "?path=/login", { "x-service-request-path": "/health" })).json.action,
      "allow",
      "the header wins",
    );
    t.equal(
      (await project.read(session, "?path=/health", { "x-service-request-path": "no path" })).json.action,
      "allow",
      "a bad header counts as missing",
    );
  });

  await t.test("log goes on to the rules below, and is the action when only it matches", async (t) => {
    const project = await fresh();
    const session = await project.bot("logging0");
    await project.rule("score < 30", "log", { sort_order: 1 });
    t.equal((await project.read(session)).json.action, "log");
    await project.rule("score < 30", "delay", { sort_order: 2 });
    t.equal((await project.read(session)).json.action, "delay");
  });

  await t.test("each value of the request context comes from the query or its header", async (t) => {
    const project = await fresh();
    const session = await project.bot("context0");
    for (const [expression, query, header, value] of [
      ['path == "/a"', "path=/a", "x-service-request-path", "/a"],
      ['method == "PUT"', "method=put", "x-service-request-method", "PUT"],
      ['host == "a.example"', "host=a.example", "x-service-request-host", "a.example"],
      ['path == "/caf%C3%A9@"', "path=/caf%25c3%25a9%2540", "x-service-request-path", "/caf%c3%a9%40"],
      ['path == "/café@x"', "path=/caf%C3%A9@x", "x-service-request-path", "/x/../caf%C3%A9@x"],
      [
        'host == "müller.example"',
        "host=M%C3%9Cller.example.:8443",
        "x-service-request-host",
        "XN--mller-kva.example.:80",
      ],
      ['ip == "192.0.2.0/24"', "ip=192.0.2.9", "x-service-client-ip", "192.0.2.9"],
      ['user_agent contains "Odd"', "user_agent=Odd%2F1", "x-service-client-ua", "Odd/1"],
    ] as const) {
      const id = await project.rule(expression, "block", { sort_order: -1 });
      t.equal((await project.read(session, `?${query}`)).json.action, "block", query);
      t.equal((await project.read(session, "", { [header]: value })).json.action, "block", header);
      t.equal((await project.read(session)).json.action, "allow", "and not without it");
      await project.ask("DELETE", `/rules/${id}`);
    }
  });

  await t.test("static resources are skipped when protect_static is false", async (t) => {
    const project = await fresh();
    const session = await project.bot("static00");
    await project.rule("score < 30", "block");
    t.equal((await project.read(session, "?path=/app.css")).json.action, "block");
    await project.settings({ protect_static: false });
    t.equal((await project.read(session, "?path=/app.css")).json.action, "allow");
    t.equal((await project.read(session, "?path=/.well-known/app.css")).json.action, "block");
    t.equal((await project.read(session, "?path=/app")).json.action, "block");
  });

  await t.test("a blocking verdict is recorded with its source, rule, score, reason and detections", async (t) => {
    const project = await fresh();
    const session = await project.bot("blocked0");
    const rule = await project.rule("score < 30", "block");
    const { json } = await project.read(session, "?path=/buy");
    t.match(json.reason, "block score < 30", "the reason carries the rule's name");
    const blocks = await waitUntil(
      () => server.store.recorded.blocks.before(project.id, Number.MAX_SAFE_INTEGER, 100),
      (found) => found.length > 0,
    );
    t.match(blocks[0], {
      projectId: project.id,
      sessionToken: session,
      source: "rule",
      ruleId: rule,
      score: json.score,
      verdict: json.verdict,
      reason: json.reason,
      detectionIds: json.detection_ids,
      path: "/buy",
    });
  });

  await t.test("logged_in_policy softens what rules decide, but for the two strongest bands", async (t) => {
    const project = await fresh();
    const person = await project.person("policy00");
    await project.rule("score < 99", "block");
    await project.settings({ logged_in_policy: "never_block", likely_bot_threshold: 99 });
    t.equal((await project.read(person)).json.action, "block", "not asserted yet");
    t.equal((await project.assert(person)).status, 200);
    const { json } = await project.read(person);
    t.equal(json.verdict, "likely_automated");
    t.equal(json.action, "challenge");
    t.match(json.reason, "never_block");
    const before = json.score;
    await project.settings({ logged_in_policy: "whitelist" });
    const whitelisted = (await project.read(person)).json;
    t.same([whitelisted.action, whitelisted.score], ["allow", before]);
    await project.settings({ logged_in_policy: "observe" });
    t.equal((await project.read(person)).json.action, "block");

    const bot = await project.bot("policy01");
    await project.settings({ logged_in_policy: "whitelist", likely_bot_threshold: 99 });
    await project.assert(bot);
    const proven = (await project.read(bot)).json;
    t.ok(["definite", "confident_automated"].includes(proven.verdict), proven.verdict);
    t.equal(proven.action, "block");
  });

  await t.test("events after an assertion keep it", async (t) => {
    const project = await fresh();
    const person = await project.person("keeping0");
    await project.rule("score < 99", "block");
    await project.settings({ logged_in_policy: "whitelist" });
    await project.assert(person);
    await project.ingest(batch("keeping1", 2, person));
    t.equal((await project.read(person)).json.action, "allow");
  });
});

t.test("cached verdicts", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "1"]);
  const tenant = await firstTenant(server);
  const fresh = async () => openProject(server, tenant.token, await newProject(server, tenant.accountId));

  await t.test(
    "a rule change applies once the cached verdict expires, at once to one that is not cached",
    async (t) => {
      const project = await fresh();
      const session = await project.bot("cached00");
      const before = (await project.read(session)).text;
      await project.rule("score < 30", "block");
      t.equal((await project.read(session, "?path=/other")).json.action, "block", "another context is computed anew");
      const after = await askUntil(
        () => project.read(session),
        ({ text }) => text !== before,
      );
      t.equal(after.json.action, "block");
    },
  );
});

t.test("with a long cache", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "3600", "--http-threads", "1"]);
  const tenant = await firstTenant(server);
  const project = await openProject(server, tenant.token, tenant.projectId);
  const { json: rotated } = await project.ask("POST", "/scoring/rotate", { type: "private" });
  const read = (session: string) => server.ask("GET", `/v1/sessions/${session}/verdict`, { token: rotated.key });
  const assert = (session: string) => server.ask("POST", `/v1/sessions/${session}/logged-in`, { token: rotated.key });

  await t.test("a settings change takes effect at once", async (t) => {
    const session = await project.ingest(batch("atonce00", 3));
    t.equal((await read(session)).json.verdict, "likely_human");
    await project.settings({ likely_bot_threshold: 99 });
    t.equal((await read(session)).json.verdict, "likely_automated");
    await project.settings({ likely_bot_threshold: 30 });
    t.equal((await read(session)).json.verdict, "likely_human");
  });

  await t.test("a logged-in assertion takes effect at once", async (t) => {
    const session = await project.ingest(batch("atonce01", 3));
    await project.settings({ logged_in_policy: "whitelist" });
    await project.rule("score < 99", "block");
    t.equal((await read(session)).json.action, "block");
    t.equal((await assert(session)).status, 200);
    t.equal((await read(session)).json.action, "allow");
  });

  await t.test("repeated reads of one context record one block", async (t) => {
    const project = await openProject(server, tenant.token, await newProject(server, tenant.accountId));
    const session = await project.bot("oneblock");
    await project.rule("score < 30", "block");
    const burst = await Promise.all(Array.from({ length: 20 }, () => project.read(session, "?path=/buy")));
    t.same(new Set(burst.map(({ json }) => json.action)), new Set(["block"]));
    const blocks = await waitUntil(
      () => server.store.recorded.blocks.before(project.id, Number.MAX_SAFE_INTEGER, 100),
      (found) => found.length > 0,
    );
    t.same(
      blocks.map(({ count }) => count ?? 1),
      [1],
      "one a computed verdict, not one a read",
    );
  });

  await t.test("a session read before its first report is read anew after it", async (t) => {
    t.equal((await read(`sess_${"N".repeat(28)}`)).json.verdict, "not_computed");
    const session = await project.ingest(batch("atonce02", 3));
    t.not((await read(session)).json.verdict, "not_computed");
  });

  await t.test("later events do not disturb a cached verdict", async (t) => {
    const session = await project.ingest(batch("atonce03", 3));
    const first = (await read(session)).text;
    await project.ingest({ ...automatedBatch("atonce04"), session_token: session });
    t.equal((await read(session)).text, first);
  });

  await t.test("a key rotated away or a lapsed subscription does not read the cache either", async (t) => {
    const session = await project.ingest(batch("atonce05", 3));
    t.equal((await read(session)).status, 200);
    await server.command("account", "set", String(tenant.accountId), "--subscription", "inactive");
    t.equal((await read(session)).status, 402);
    await server.command("account", "set", String(tenant.accountId), "--subscription", "active");
    await project.ask("POST", "/scoring/rotate", { type: "private" });
    t.equal((await read(session)).status, 401);
  });
});
