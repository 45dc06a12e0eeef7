/** The control plane over HTTP, endpoint by endpoint: scoring, keys, settings, rules, account, user. */
import t from "tap";
import { actions } from "../../src/contract/verdicts/verdict.js";
import { batch } from "../support/batches.js";
import { type Answer, askerAs, firstTenant, newProject, startServer } from "../support/server.js";

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

function invalid(t: import("tap").Test, answer: Answer, message: string): void {
  t.same([answer.status, answer.json?.code], [422, "INVALID_PAYLOAD"], message);
}

const server = await startServer(t);
const tenant = await firstTenant(server);
const ask = askerAs(server, tenant.token);

t.test("scoring", async (t) => {
  await t.test("enabling mints both keys once, and answers guards and threshold", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const first = await ask("POST", `${project}/scoring`);
    t.equal(first.status, 200);
    t.same(Object.keys(first.json).sort(), ["bot_settings", "likely_bot_threshold", "private_key", "site_key"]);
    t.match(first.json.site_key, /^pk_[A-Za-z0-9_-]{32,}$/);
    t.match(first.json.private_key, /^sk_[A-Za-z0-9_-]{32,}$/);
    t.strictSame(first.json.bot_settings, { allow_verified: true, protect_static: true }, "no logged_in_policy here");
    t.equal(first.json.likely_bot_threshold, 30);
    const again = await ask("POST", `${project}/scoring`);
    t.strictSame(
      again.json,
      { ...first.json, private_key: null },
      "the site key there is, the private key never again",
    );
  });

  await t.test("enabling in parallel mints one pair", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("POST", `${project}/scoring`)));
    t.equal(new Set(answers.map(({ json }) => json.site_key)).size, 1);
    t.equal(answers.filter(({ json }) => json.private_key !== null).length, 1);
  });

  await t.test("enabling again shows the settings as they are", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    await ask("POST", `${project}/scoring`);
    await ask("PUT", `${project}/scoring/settings`, {
      protect_static: false,
      likely_bot_threshold: 44,
      logged_in_policy: "whitelist",
    });
    const { json } = await ask("POST", `${project}/scoring`);
    t.strictSame(json.bot_settings, { allow_verified: true, protect_static: false });
    t.equal(json.likely_bot_threshold, 44);
  });

  await t.test("keys of two projects differ and are scoped to their own", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const other = (await ask("POST", `${project}/scoring`)).json;
    t.not(other.site_key, tenant.siteKey);
    const { json } = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": other.site_key },
      body: batch("scoped00"),
    });
    const path = `/v1/sessions/${json.session_token}/verdict`;
    t.not((await server.ask("GET", path, { token: other.private_key })).json.verdict, "not_computed");
    t.equal((await server.ask("GET", path, { token: tenant.privateKey })).json.verdict, "not_computed");
  });

  await t.test("rotating answers the new key, and the old one is refused from the next request on", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const keys = (await ask("POST", `${project}/scoring`)).json;
    const ingest = (key: string) =>
      server.ask("POST", "/v1/events", { headers: { "x-service-site-key": key }, body: batch("rotate00") });
    const read = (key: string) => server.ask("GET", "/v1/sessions/sess_x/verdict", { token: key });
    t.equal((await ingest(keys.site_key)).status, 202);
    t.equal((await read(keys.private_key)).status, 200);

    const site = await ask("POST", `${project}/scoring/rotate`, { type: "site" });
    t.equal(site.status, 200);
    t.same(Object.keys(site.json).sort(), ["key", "type"]);
    t.equal(site.json.type, "site");
    t.match(site.json.key, /^pk_/);
    const old = await ingest(keys.site_key);
    t.same([old.status, old.json.code], [401, "UNAUTHENTICATED"]);
    const inBody = await server.ask("POST", "/v1/events", { body: { ...batch("rotate01"), site_key: keys.site_key } });
    t.equal(inBody.status, 401, "in the body too");
    t.equal((await ingest(site.json.key)).status, 202);
    t.equal((await read(keys.private_key)).status, 200, "the private key is rotated independently");
    t.equal((await ask("POST", `${project}/scoring`)).json.site_key, site.json.key, "enabling shows the new one");

    const secret = await ask("POST", `${project}/scoring/rotate`, { type: "private" });
    t.equal(secret.json.type, "private");
    t.match(secret.json.key, /^sk_/);
    const refused = await read(keys.private_key);
    t.same([refused.status, refused.json.code], [401, "UNAUTHENTICATED"]);
    t.equal((await read(secret.json.key)).status, 200);
    t.equal((await ingest(site.json.key)).status, 202, "the site key stays");
    t.equal((await ask("POST", `${project}/scoring`)).json.private_key, null);
  });

  await t.test("a private key cannot be recovered from the store's files", async (t) => {
    const { readFileSync, readdirSync } = await import("node:fs");
    const { join } = await import("node:path");
    const bytes = readdirSync(server.dataDir)
      .filter((name) => name.startsWith("verdictd"))
      .map((name) => readFileSync(join(server.dataDir, name)));
    t.ok(
      bytes.some((each) => each.includes(tenant.siteKey)),
      "the site key is there to be shown again",
    );
    t.notOk(
      bytes.some((each) => each.includes(tenant.privateKey)),
      "the private key is not",
    );
    t.notOk(
      bytes.some((each) => each.includes(tenant.token)),
      "nor is an account token",
    );
  });

  await t.test("rotating is 422 without a known type, and 409 without code while scoring is not enabled", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const bodies = [
      {},
      { type: null },
      { type: "public" },
      { type: ["site"] },
      { type: "Site" },
      [],
      null,
      "site",
      "{",
      "",
    ];
    for (const body of bodies) invalid(t, await ask("POST", `${project}/scoring/rotate`, body), JSON.stringify(body));
    const early = await ask("POST", `${project}/scoring/rotate`, { type: "site" });
    t.equal(early.status, 409);
    t.notOk("code" in early.json);
  });

  await t.test(
    "settings may be read and changed before scoring is enabled, and {} or no body changes nothing",
    async (t) => {
      const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
      const defaults = {
        bot_settings: { allow_verified: true, protect_static: true, logged_in_policy: "observe" },
        likely_bot_threshold: 30,
      };
      for (const body of [{}, undefined, { unknown: 1 }]) {
        const { status, json } = await ask("PUT", `${project}/scoring/settings`, body);
        t.equal(status, 200);
        t.strictSame(json, defaults);
      }
      t.strictSame((await ask("GET", `${project}/scoring`)).json, { enabled: false, site_key: null, ...defaults });
    },
  );

  await t.test("each setting changes alone, and the answer is the state after the update", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const state = {
      bot_settings: { allow_verified: true, protect_static: true, logged_in_policy: "observe" },
      likely_bot_threshold: 30,
    };
    const change = async (body: object) => (await ask("PUT", `${project}/scoring/settings`, body)).json;
    state.bot_settings.allow_verified = false;
    t.strictSame(await change({ allow_verified: false }), state);
    state.bot_settings.protect_static = false;
    t.strictSame(await change({ protect_static: false }), state);
    for (const policy of ["never_block", "never_challenge", "whitelist", "observe"]) {
      state.bot_settings.logged_in_policy = policy;
      t.strictSame(await change({ logged_in_policy: policy }), state);
    }
    for (const threshold of [1, 99, 50]) {
      state.likely_bot_threshold = threshold;
      t.strictSame(await change({ likely_bot_threshold: threshold }), state);
    }
    t.strictSame((await ask("GET", `${project}/scoring`)).json, { enabled: false, site_key: null, ...state });
  });

  await t.test("a bad setting is 422 and changes nothing, the good ones beside it included", async (t) => {
    const project = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    const bad: Record<string, readonly unknown[]> = {
      allow_verified: [null, 1, "true", [], {}],
      protect_static: [null, 0, "false"],
      logged_in_policy: [null, "never", "", 1, ["observe"], "Observe"],
      likely_bot_threshold: [null, 0, 100, -1, 30.5, "30", true, 1e100, [30]],
      block_definite: [true, false, null, "x"],
      challenge_likely: [true, false],
    };
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) {
        const answer = await ask("PUT", `${project}/scoring/settings`, { protect_static: false, [name]: value });
        invalid(t, answer, `${name}: ${JSON.stringify(value)}`);
        t.match(answer.json.message, name, "the message names the field");
      }
    }
    for (const body of ["{", "[]", "null", "1", '"x"', '{"likely_bot_threshold":1e999}']) {
      invalid(t, await ask("PUT", `${project}/scoring/settings`, body), body);
    }
    const { json } = await ask("GET", `${project}/scoring`);
    t.equal(json.bot_settings.protect_static, true);
  });
});

t.test("rules", async (t) => {
  const project = `/v1/projects/${tenant.projectId}`;
  const rules = `${project}/rules`;
  const draft = { name: "Low scores", expression: 'score < 10 AND NOT (path == "/robots.txt")', action: "challenge" };

  await t.test("every project ships with two inactive starter rules", async (t) => {
    const { json } = await ask("GET", rules);
    t.same(
      json.map((rule: Record<string, unknown>) => [rule["expression_source"], rule["action"], rule["is_active"]]),
      [
        ['band == "definite"', "block", false],
        ['band == "likely_automated"', "challenge", false],
      ],
    );
  });

  await t.test("a rule is created with defaults and answered in full, with its compiled tree", async (t) => {
    const { status, json } = await ask("POST", rules, draft);
    t.equal(status, 201);
    t.same(Object.keys(json).sort(), [
      "action",
      "created_at",
      "expression",
      "expression_source",
      "id",
      "is_active",
      "name",
      "project_id",
      "sort_order",
      "updated_at",
    ]);
    t.match(json, {
      project_id: tenant.projectId,
      name: draft.name,
      expression_source: draft.expression,
      action: "challenge",
      is_active: true,
      sort_order: 0,
    });
    t.strictSame(json.expression, {
      type: "and",
      nodes: [
        { type: "cmp", op: "<", field: "score", value: 10 },
        { type: "not", node: { type: "cmp", op: "==", field: "path", value: "/robots.txt" } },
      ],
    });
    t.ok(Number.isInteger(json.id) && json.id > 0);
    t.match(json.created_at, iso);
    t.match(json.updated_at, iso);
  });

  await t.test("every action is accepted, and is_active and sort_order as sent", async (t) => {
    for (const action of actions) {
      const { status, json } = await ask("POST", rules, { ...draft, action, is_active: false, sort_order: -5 });
      t.same([status, json.action, json.is_active, json.sort_order], [201, action, false, -5]);
    }
    for (const sort_order of [2 ** 31 - 1, -(2 ** 31)]) {
      t.equal((await ask("POST", rules, { ...draft, sort_order })).json.sort_order, sort_order);
    }
  });

  await t.test("the list is an array in order of evaluation, without compiled trees", async (t) => {
    const { status, json } = await ask("GET", rules);
    t.equal(status, 200);
    t.ok(Array.isArray(json));
    const order = json.map((rule: { sort_order: number; id: number }) => [rule.sort_order, rule.id]);
    const sorted = [...order].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    t.strictSame(order, sorted, "ascending sort_order, then id");
    for (const rule of json) {
      t.same(Object.keys(rule).sort(), [
        "action",
        "created_at",
        "expression_source",
        "id",
        "is_active",
        "name",
        "project_id",
        "sort_order",
        "updated_at",
      ]);
    }
  });

  await t.test("a bad rule is 422 and never stored", async (t) => {
    const before = (await ask("GET", rules)).json.length;
    const bad: object[] = [
      { name: undefined },
      { expression: undefined },
      { action: undefined },
      { name: 7 },
      { name: null },
      { name: "n".repeat(256) },
      { expression: 7 },
      { expression: "" },
      { expression: `path == "${"p".repeat(2000)}"` },
      { expression: { type: "cmp", op: "<", field: "score", value: 1 } },
      { expression: "unknown_field == 1" },
      { expression: 'score < "5"' },
      { expression: "path < 5" },
      { expression: 'band == "no such band"' },
      { expression: "(score < 5" },
      { expression: "score < 5)" },
      { expression: "score < 5 && score > 1" },
      { expression: "score < 5;" },
      { action: "ban" },
      { action: "Block" },
      { action: null },
      { is_active: "yes" },
      { is_active: null },
      { sort_order: 1.5 },
      { sort_order: "1" },
      { sort_order: 2 ** 31 },
    ];
    for (const each of bad)
      invalid(t, await ask("POST", rules, { ...draft, ...each }), JSON.stringify(each).slice(0, 80));
    for (const body of ["{", "[]", "null", ""]) invalid(t, await ask("POST", rules, body), body);
    t.equal((await ask("GET", rules)).json.length, before);
  });

  await t.test("names up to 255 and expressions up to 2000 characters are taken", async (t) => {
    const source = `path == "${"p".repeat(2000 - 10)}"`;
    t.equal(source.length, 2000);
    const { status, json } = await ask("POST", rules, { ...draft, name: "n".repeat(255), expression: source });
    t.equal(status, 201);
    t.equal((await ask("PATCH", `${rules}/${json.id}`, { expression: source })).status, 200);
    invalid(t, await ask("PATCH", `${rules}/${json.id}`, { expression: `${source} ` }), "2001 on update");
    invalid(t, await ask("PATCH", `${rules}/${json.id}`, { name: "n".repeat(256) }), "a name of 256 on update");
  });

  for (const method of ["PATCH", "PUT"]) {
    await t.test(`${method} changes only what is sent`, async (t) => {
      const { json: rule } = await ask("POST", rules, draft);
      const path = `${rules}/${rule.id}`;
      const changes: Record<string, unknown> = { name: "Other", action: "delay", is_active: false, sort_order: 9 };
      let expected = rule;
      for (const [name, value] of Object.entries(changes)) {
        const { status, json } = await ask(method, path, { [name]: value });
        t.equal(status, 200);
        expected = { ...expected, [name]: value, updated_at: json.updated_at };
        t.strictSame(json, expected, name);
        t.ok(json.updated_at >= rule.updated_at);
      }
      const { json } = await ask(method, path, { expression: "score < 20" });
      t.strictSame(json.expression, { type: "cmp", op: "<", field: "score", value: 20 }, "the tree is derived anew");
      t.equal(json.expression_source, "score < 20");
      t.equal(json.name, "Other");
      t.equal((await ask(method, path, {})).status, 200);
      t.equal((await ask(method, path)).status, 200, "an empty body changes nothing");
    });

    await t.test(`${method} with a bad value is 422 and leaves the stored rule untouched`, async (t) => {
      const { json: rule } = await ask("POST", rules, draft);
      const stored = async () => (await ask("GET", rules)).json.find((each: { id: number }) => each.id === rule.id);
      const before = await stored();
      for (const bad of [
        { expression: "score <" },
        { expression: "no_field == 1" },
        { expression: 'score == "1"' },
        { expression: 5 },
        { action: "ban" },
        { is_active: 1 },
        { sort_order: "x" },
        { name: null },
        { name: "Good", action: "ban" },
      ]) {
        invalid(t, await ask(method, `${rules}/${rule.id}`, bad), JSON.stringify(bad));
      }
      t.strictSame(await stored(), before);
    });
  }

  await t.test("the compiled tree cannot be set", async (t) => {
    const tree = { type: "cmp", op: "<", field: "score", value: 99 };
    const { json: rule } = await ask("POST", rules, {
      ...draft,
      expression_source: "score < 99",
      ast: tree,
      id: 999,
      project_id: 999,
    });
    t.equal(rule.expression_source, draft.expression);
    t.not(rule.id, 999);
    t.equal(rule.project_id, tenant.projectId);
    const changed = await ask("PATCH", `${rules}/${rule.id}`, { ast: tree, expression_source: "score < 99", id: 1 });
    t.strictSame(changed.json.expression, rule.expression);
    invalid(t, await ask("PATCH", `${rules}/${rule.id}`, { expression: tree }), "an object is no source");
  });

  await t.test("DELETE answers 204 without a body, once", async (t) => {
    const { json: rule } = await ask("POST", rules, draft);
    const gone = await ask("DELETE", `${rules}/${rule.id}`);
    t.same([gone.status, gone.text], [204, ""]);
    for (const method of ["DELETE", "PATCH", "PUT"]) {
      const answer = await ask(method, `${rules}/${rule.id}`, method === "DELETE" ? undefined : {});
      t.equal(answer.status, 404, method);
      t.notOk("code" in answer.json);
    }
    t.notOk((await ask("GET", rules)).json.some((each: { id: number }) => each.id === rule.id));
  });

  await t.test("a missing rule is 404 before a bad body is 422", async (t) => {
    t.equal((await ask("PATCH", `${rules}/99999`, "{")).status, 404);
    t.equal((await ask("PUT", `${rules}/99999`, { action: "ban" })).status, 404);
  });

  await t.test("a project holds at most 1000 rules", async (t) => {
    const path = `/v1/projects/${await newProject(server, tenant.accountId)}`;
    let made = 2;
    let last: Answer | undefined;
    while (made < 1001) {
      const count = Math.min(50, 1001 - made);
      const answers = await Promise.all(Array.from({ length: count }, () => ask("POST", `${path}/rules`, draft)));
      made += count;
      last = answers.find(({ status }) => status !== 201);
    }
    invalid(t, last!, "the rule above");
    t.equal((await ask("GET", `${path}/rules`)).json.length, 1000);
  });
});

t.test("account and user", async (t) => {
  await t.test("the account is that of the token's binding, with the caller's role", async (t) => {
    const { status, json } = await server.ask("GET", "/v1/account", { token: tenant.token });
    t.equal(status, 200);
    t.strictSame(json, { id: tenant.accountId, name: "Default", slug: "default", is_personal: false, role: "owner" });
  });

  await t.test("a personal account says so, and the role is the caller's", async (t) => {
    const account = await server.command("account", "create", "--name", "Ann", "--slug", "ann", "--personal");
    const ids = ["--account", String(account.id), "--user", String(tenant.userId)];
    await server.command("member", "set", ...ids, "--role", "member");
    const { account_token } = await server.command("token", "create", ...ids);
    const { json } = await server.ask("GET", "/v1/account", { token: account_token });
    t.strictSame(json, { id: account.id, name: "Ann", slug: "ann", is_personal: true, role: "member" });
  });

  await t.test("the user is shown at /user, without the /v1 prefix", async (t) => {
    const { status, json } = await server.ask("GET", "/user", { token: tenant.token });
    t.equal(status, 200);
    t.same(Object.keys(json), ["id", "name", "email", "created_at"]);
    t.match(json, { id: tenant.userId, name: "Owner", email: "owner@localhost" });
    t.match(json.created_at, iso);
    t.equal((await server.ask("GET", "/v1/user", { token: tenant.token })).status, 404);
    for (const token of [undefined, "", "wrong", tenant.privateKey]) {
      const answer = await server.ask("GET", "/user", token === undefined ? {} : { token });
      t.same([answer.status, answer.json.code], [401, "UNAUTHENTICATED"]);
    }
  });
});
