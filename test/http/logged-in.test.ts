/** `POST /v1/sessions/{session_token}/logged-in` over HTTP. */
import t from "tap";
import { batch } from "../support/batches.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";

t.test("logged-in", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const { json: made } = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": tenant.siteKey },
    body: batch("loggedin"),
  });
  const session: string = made.session_token;
  const ask = (token: string, rest = "", body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    server.ask("POST", `/v1/sessions/${token}/logged-in${rest}`, {
      token: tenant.privateKey,
      headers,
      body,
    });

  await t.test("an assertion answers 200 with the start of its window, which is stored", async (t) => {
    const from = Date.now();
    const { status, json } = await ask(session);
    const to = Date.now();
    t.equal(status, 200);
    t.same(Object.keys(json), ["logged_in", "asserted_at"]);
    t.equal(json.logged_in, true);
    t.match(json.asserted_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);
    const at = Date.parse(json.asserted_at);
    t.ok(at >= from && at <= to);
    t.equal((await server.scoredState(tenant.projectId, session))?.loggedInAtMs, at);
  });

  await t.test("each call restarts the window", async (t) => {
    const first = Date.parse((await ask(session)).json.asserted_at);
    let last = first;
    for (let tries = 0; tries < 1000 && last === first; tries++)
      last = Date.parse((await ask(session)).json.asserted_at);
    t.ok(last > first);
    t.equal((await server.scoredState(tenant.projectId, session))?.loggedInAtMs, last);
  });

  await t.test("the assertion stores a timestamp and nothing else", async (t) => {
    const before = (await server.scoredState(tenant.projectId, session))!;
    await ask(session);
    const after = (await server.scoredState(tenant.projectId, session))!;
    t.strictSame({ ...after, loggedInAtMs: 0 }, { ...before, loggedInAtMs: 0 });
  });

  await t.test("an empty JSON object is tolerated, anything else in the body is 422", async (t) => {
    for (const body of ["", "{}", " { } \n"]) t.equal((await ask(session, "", body)).status, 200, JSON.stringify(body));
    for (const body of [
      "[]",
      "null",
      "0",
      '""',
      "{",
      "}",
      '{"a":1}',
      '{"logged_in":true}',
      "{}{}",
      "x",
      "\u0000",
      " ",
      "x".repeat(100_000),
    ]) {
      const { status, json } = await ask(session, "", body);
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(body).slice(0, 30));
    }
  });

  await t.test("a query string is 422", async (t) => {
    for (const query of ["?a=1", "?a", "?=", "?user=7&x"]) {
      const { status, json } = await ask(session, query);
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], query);
    }
    t.equal((await ask(session, "?")).status, 200, "a bare question mark has none");
  });

  await t.test("a malformed session token is 422", async (t) => {
    for (const token of [
      "x",
      "sess",
      "sess_",
      "SESS_abc",
      `sess_${"a".repeat(129)}`,
      "sess_a%20b",
      "sess_%C3%A9",
      "sess_a.b",
      "%00",
    ]) {
      const { status, json } = await ask(token);
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], token.slice(0, 20));
    }
  });

  await t.test("an unknown session is 404 UNKNOWN_SESSION, whatever the body", async (t) => {
    for (const token of ["sess_a", `sess_${"a".repeat(128)}`, `sess_${"A".repeat(28)}`]) {
      for (const body of [undefined, {}, { a: 1 }]) {
        const { status, json } = await ask(token, "", body);
        t.same([status, json.code], [404, "UNKNOWN_SESSION"], token.slice(0, 20));
      }
    }
  });

  await t.test("a login before the first report is 404, and a retry after it works", async (t) => {
    const early = `sess_${"E".repeat(28)}`;
    t.equal((await ask(early)).status, 404);
    const { json } = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": tenant.siteKey },
      body: batch("toolate0", 1, early),
    });
    t.equal((await ask(json.session_token)).status, 200);
  });

  await t.test("no idempotency key is needed, and one changes nothing", async (t) => {
    const [one, other] = [
      await ask(session, "", undefined, { "idempotency-key": "same" }),
      await ask(session, "", undefined, { "idempotency-key": "same" }),
    ];
    t.same([one.status, other.status], [200, 200]);
  });

  await t.test("parallel assertions and batches of one session lose neither", async (t) => {
    const count = (await server.scoredState(tenant.projectId, session))!.eventCount;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => [
        ask(session),
        server.ask("POST", "/v1/events", {
          headers: { "x-service-site-key": tenant.siteKey },
          body: batch(`mixed${index}-00`, 2, session),
        }),
      ]).flat(),
    );
    const { eventCount, loggedInAtMs } = (await server.scoredState(tenant.projectId, session))!;
    t.equal(eventCount, count + 40);
    t.ok(loggedInAtMs > 0);
  });
});
