/**
 * Two accounts tried against each other on calls of a project: nothing leaks, not even existence. `auth/access-matrix.test.ts` tries every
 * endpoint.
 */
import t from "tap";
import { batch } from "../support/batches.js";
import { type Answer, anotherTenant, firstTenant, startServer } from "../support/server.js";

t.test("two tenants", async (t) => {
  const server = await startServer(t);
  const one = await firstTenant(server);
  const two = await anotherTenant(server, "two");
  const draft = { name: "r", expression: "score < 5", action: "log" };
  const ruleOf = async (tenant: typeof one): Promise<number> =>
    (await server.ask("POST", `/v1/projects/${tenant.projectId}/rules`, { token: tenant.token, body: draft })).json.id;
  const rules = { one: await ruleOf(one), two: await ruleOf(two) };
  const contents = async () => {
    const state = [];
    for (const { projectId, token } of [one, two]) {
      state.push((await server.ask("GET", `/v1/projects/${projectId}/rules`, { token })).text);
      state.push((await server.ask("GET", `/v1/projects/${projectId}/scoring`, { token })).text);
    }
    return state;
  };

  await t.test("an unknown project and a foreign one answer byte for byte alike: 403 without code", async (t) => {
    const before = await contents();
    const endpoints: [string, string, unknown?][] = [
      ["POST", "/scoring"],
      ["GET", "/scoring"],
      ["POST", "/scoring/rotate", { type: "site" }],
      ["POST", "/scoring/rotate", "{"],
      ["PUT", "/scoring/settings", { protect_static: false }],
      ["PUT", "/scoring/settings", { likely_bot_threshold: 0 }],
      ["GET", "/request-scoring"],
      ["PUT", "/request-scoring", { enabled: true }],
      ["PUT", "/request-scoring", { enabled: 1 }],
      ["GET", "/rules"],
      ["POST", "/rules", draft],
      ["POST", "/rules", {}],
      ["PATCH", `/rules/${rules.two}`, { is_active: false }],
      ["PUT", `/rules/${rules.two}`, { is_active: false }],
      ["DELETE", `/rules/${rules.two}`],
    ];
    for (const [method, path, body] of endpoints) {
      const ask = (projectId: number): Promise<Answer> =>
        server.ask(method, `/v1/projects/${projectId}${path}`, { token: one.token, body });
      const [foreign, unknown] = [await ask(two.projectId), await ask(999_999)];
      t.equal(foreign.status, 403, `${method} ${path}`);
      t.notOk("code" in foreign.json);
      t.equal(foreign.text, unknown.text);
      const names = ({ headers }: Answer) => [...headers.keys()].filter((name) => name !== "x-request-id").join();
      t.equal(names(foreign), names(unknown));
    }
    t.strictSame(await contents(), before, "and nothing changed");
  });

  await t.test("a foreign rule under one's own project is 404, as an unknown one", async (t) => {
    const before = await contents();
    for (const method of ["PATCH", "PUT", "DELETE"]) {
      const ask = (rule: number) =>
        server.ask(method, `/v1/projects/${one.projectId}/rules/${rule}`, {
          token: one.token,
          ...(method !== "DELETE" && { body: { is_active: false } }),
        });
      const [foreign, unknown] = [await ask(rules.two), await ask(999_999)];
      t.equal(foreign.status, 404);
      t.notOk("code" in foreign.json);
      t.equal(foreign.text, unknown.text);
    }
    t.strictSame(await contents(), before);
  });

  await t.test("a foreign session reads as an unknown one, and is 404 UNKNOWN_SESSION for the assertion", async (t) => {
    const { json } = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": two.siteKey },
      body: batch("foreign0"),
    });
    const foreign = `/v1/sessions/${json.session_token}`;
    const unknown = `/v1/sessions/sess_${"Z".repeat(28)}`;
    const read = (path: string) => server.ask("GET", `${path}/verdict`, { token: one.privateKey });
    t.equal((await read(foreign)).text, (await read(unknown)).text);
    const assert = (path: string) => server.ask("POST", `${path}/logged-in`, { token: one.privateKey });
    const [a, b] = [await assert(foreign), await assert(unknown)];
    t.same([a.status, a.json.code], [404, "UNKNOWN_SESSION"]);
    t.equal(a.text, b.text);
    t.equal((await server.scoredState(two.projectId, json.session_token))?.loggedInAtMs, 0, "nothing was asserted");
  });

  await t.test("a foreign session's token on ingest mints a session of one's own", async (t) => {
    const first = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": two.siteKey },
      body: batch("steal000"),
    });
    const stolen = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": one.siteKey },
      body: batch("steal000", 1, first.json.session_token),
    });
    t.not(stolen.json.session_token, first.json.session_token);
    t.same([stolen.json.accepted, stolen.json.duplicates], [1, 0], "nor does it tell what the other has sent");
  });

  await t.test("one Idempotency-Key in two projects is two keys", async (t) => {
    const send = (siteKey: string) =>
      server.ask("POST", "/v1/events", {
        headers: { "x-service-site-key": siteKey, "idempotency-key": "same-key" },
        body: batch("samekey0"),
      });
    const [a, b] = [await send(one.siteKey), await send(two.siteKey)];
    t.not(a.json.session_token, b.json.session_token);
    t.equal(b.json.accepted, 1);
  });

  await t.test("account and user are those of the token", async (t) => {
    const account = await server.ask("GET", "/v1/account", { token: two.token });
    t.equal(account.json.id, two.accountId);
    const user = await server.ask("GET", "/user", { token: two.token });
    t.equal(user.json.id, two.userId);
  });
});
