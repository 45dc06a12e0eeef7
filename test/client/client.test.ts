/** Holds that the client never throws, says why there is no verdict, and leaves a dead verdictd alone. Servers here are real ones. */
import type { RequestListener } from "node:http";
import t from "tap";
import { type BreakerOptions, type ClientOptions, createClient } from "../../src/client/client.js";
import { clientOf, endless, good, json, privateKey, site } from "./site.js";

t.test("a verdict is read with the key and the whole context, and keeps its id", async (t) => {
  const { baseUrl, requests } = await site(t, json(good));
  const { client, failures } = clientOf(`${baseUrl}/prefix/`);
  const context = { path: "/a b&c", method: "GET", host: "h:1", ip: "::1", userAgent: "é\uD800 (X)" };
  t.match(await client.verdict("sess_x", context), {
    ...good,
    resolvedAction: "block",
    requestId: "id-1",
    failed: null,
  });
  t.equal(requests[0]!.url, "/prefix/v1/sessions/sess_x/verdict", "nothing of the visitor's in the address");
  t.match(requests[0]!.headers, {
    "x-service-request-path": "/a%20b&c",
    "x-service-request-method": "GET",
    "x-service-request-host": "h:1",
    "x-service-client-ip": "::1",
    "x-service-client-ua": Buffer.from("é\uFFFD (X)").toString("latin1"),
  });
  t.equal(requests[0]!.headers.authorization, `Bearer ${privateKey}`);
  t.same(failures, []);
});

t.test("every failure is an allowing verdict that names its reason", async (t) => {
  const dead = await site(t, json(good));
  const cases: readonly (readonly [reason: string, answer: RequestListener])[] = [
    ["unauthenticated", json({ code: "UNAUTHENTICATED" }, 401)],
    ["no_subscription", json({}, 402)],
    ["bad_status", json({}, 404)],
    ["bad_status", json({}, 500)],
    ["bad_status", json({}, 503)],
    ["bad_status", (_request, response) => response.writeHead(302, { Location: `${dead.baseUrl}/steal` }).end()],
    ["malformed", (_request, response) => response.end("<html>")],
    ["malformed", (_request, response) => response.end("")],
    ["malformed", json(null)],
    ["malformed", json([])],
    ["malformed", json({ ...good, action: "explode" })],
    ["malformed", json({ ...good, action: "toString" })],
    ["malformed", json({ ...good, score: "3" })],
    ["malformed", json({ ...good, detection_ids: "none" })],
    ["malformed", (_request, response) => response.end(JSON.stringify({ ...good, reason: "x".repeat(70_000) }))],
    ["malformed", endless],
    ["timeout", () => undefined],
    ["timeout", (_request, response) => response.writeHead(200).write('{"verdict":')],
    ["network", (request) => request.socket.destroy()],
    [
      "network",
      (request) =>
        request.socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    ],
    ["network", (request) => request.socket.end("not HTTP at all\r\n\r\n")],
    [
      "network",
      (request, response) =>
        response.writeHead(200, { "Content-Length": "99" }).write("{", () => request.socket.destroy()),
    ],
  ];
  for (const [reason, answer] of cases) {
    const { baseUrl } = await site(t, answer);
    const { client, failures } = clientOf(baseUrl, { timeoutMs: reason === "timeout" ? 50 : 10_000 });
    const verdict = await client.verdict("sess_x");
    t.match(verdict, { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], failed: reason });
    t.equal(failures.length, 1, "told once");
    t.match(failures[0], { reason });
    t.notMatch(JSON.stringify(failures[0]), privateKey);
  }
  t.same(dead.requests, [], "the key follows no redirect");
});

t.test("a port that nobody listens on is a network failure", async (t) => {
  const { client, failures } = clientOf("http://127.0.0.1:1/prefix");
  t.match(await client.verdict("sess_x"), { action: "allow", failed: "network" });
  t.match(failures, [{ message: "verdictd could not be reached at http://127.0.0.1:1/prefix (ECONNREFUSED)" }]);
  const { client: fetching, failures: others } = clientOf("http://127.0.0.1:1", { fetch: globalThis.fetch });
  await fetching.verdict("sess_x");
  t.match(others, [{ message: "verdictd could not be reached at http://127.0.0.1:1" }]);
});

t.test("what speaks another protocol is told from a port that nobody listens on", async (t) => {
  const { baseUrl } = await site(t, (request) => request.socket.end("not HTTP at all\r\n\r\n"));
  const { client, failures } = clientOf(baseUrl);
  await client.verdict("sess_x");
  t.match(failures[0]!.message, /^what answers at http:\/\/127\.0\.0\.1:[0-9]+ does not speak HTTP \(HPE_/);
});

t.test("a hook that throws or rejects harms nothing", async (t) => {
  const broken = new Error("the logger is broken");
  const throwing = (): void => {
    throw broken;
  };
  const rejecting = async (): Promise<void> => {
    throw broken;
  };
  for (const onError of [throwing, rejecting]) {
    const { client } = clientOf("http://127.0.0.1:1", { onError });
    t.match(await client.verdict("sess_x"), { action: "allow", failed: "network" });
  }
});

t.test("values of a wrong type count as missing, and what can't be read at all is let in", async (t) => {
  const { baseUrl, requests } = await site(t, json(good));
  const { client, failures } = clientOf(baseUrl);
  const wrong = { path: ["/a", "/b"], method: 7, host: null, ip: null, userAgent: {} };
  // As a caller without TypeScript may.
  const read = client.verdict.bind(client) as (token: string, context: unknown) => ReturnType<typeof client.verdict>;
  const judge = client.judge.bind(client) as (token: null, request?: unknown) => ReturnType<typeof client.judge>;
  for (const context of [wrong, null, {}]) t.equal((await read("sess_x", context)).action, "block");
  for (const { headers } of requests) t.notOk(Object.keys(headers).some((name) => name.startsWith("x-service")));
  const asked = [wrong, null, undefined, { headers: [["a", null], null, "x", [3, 4]] }, { headers: "text" }];
  for (const request of asked) t.equal((await judge(null, request)).action, "block");
  t.same(failures, []);
  const trap = {
    get path(): string {
      throw new Error("a getter of the caller's");
    },
  };
  t.match(await read("sess_x", trap), { action: "allow", failed: "hook_threw" });
  t.match(await judge(null, trap), { action: "allow", failed: "hook_threw" });
  t.match(failures, [{ reason: "hook_threw" }, { reason: "hook_threw" }]);
});

t.test("without a well-formed token nothing is asked and nothing has failed", async (t) => {
  const { baseUrl, requests } = await site(t, json(good));
  const { client, failures } = clientOf(baseUrl);
  for (const token of [null, undefined, "", "x", "sess_", "sess_/../..", `sess_${"a".repeat(129)}`]) {
    t.match(await client.verdict(token), { verdict: "not_computed", action: "allow", failed: null });
    t.match(await client.loggedIn(token), { ok: false, reason: "no_session" });
  }
  t.same([requests.length, failures.length], [0, 0]);
});

t.test("in monitor mode the action is allow, and what verdictd said is kept beside it", async (t) => {
  const { baseUrl } = await site(t, json(good));
  const { client } = clientOf(baseUrl, { mode: "monitor" });
  t.match(await client.verdict("sess_x"), { verdict: "definite", action: "allow", resolvedAction: "block" });
});

t.test("answers that depend on one request open the circuit breaker for nobody, and close it for nobody", async (t) => {
  let nowMs = 1000;
  const server = await site(t, json({}, 500));
  const { client } = clientOf(server.baseUrl, { now: () => nowMs });
  for (const status of [400, 413, 414, 422, 431, 505]) {
    server.answer = json({}, status);
    for (let count = 1; count <= 6; count++) {
      t.match(await client.verdict("sess_x"), { failed: "bad_status", action: "allow" }, `${status}`);
    }
  }
  server.answer = json({}, 500);
  for (let count = 1; count <= 4; count++) await client.verdict("sess_x");
  server.answer = json({}, 400);
  t.equal((await client.verdict("sess_x")).failed, "bad_status");
  server.answer = json({}, 500);
  t.equal((await client.verdict("sess_x")).failed, "bad_status");
  t.equal((await client.verdict("sess_x")).failed, "circuit_open", "five failures, whatever was refused between them");
  nowMs += 1000;
  server.answer = json({}, 400);
  t.equal((await client.verdict("sess_x")).failed, "bad_status", "a probe that was refused");
  t.equal((await client.verdict("sess_x")).failed, "circuit_open", "says nothing");
  nowMs += 1000;
  server.answer = json(good);
  t.equal((await client.verdict("sess_x")).failed, null, "and the next one comes after the same time");
  t.equal((await client.verdict("sess_x")).failed, null);
});

t.test("after five failures in a row verdictd is left alone, then probed, then used again", async (t) => {
  let nowMs = 1000;
  const server = await site(t, json({}, 500));
  const { client, failures } = clientOf(server.baseUrl, { now: () => nowMs });
  for (let count = 1; count <= 9; count++) await client.verdict("sess_x");
  t.equal(server.requests.length, 5);
  t.equal((await client.verdict("sess_x")).failed, "circuit_open");
  t.match(await client.loggedIn("sess_x"), { ok: false, reason: "circuit_open" });
  t.same(
    failures.map(({ reason }) => reason),
    [...Array(5).fill("bad_status"), "circuit_open"],
    "the opening is told once, the requests meanwhile are not",
  );
  server.answer = json(good);
  nowMs += 1000;
  t.equal((await client.verdict("sess_x")).action, "block", "the probe's own visitor gets the verdict");
  t.equal((await client.verdict("sess_x")).action, "block");
  t.equal(server.requests.length, 7);
});

t.test("a login is reported again while the session is unknown", async (t) => {
  let count = 0;
  const unknown = json({ code: "UNKNOWN_SESSION" }, 404);
  const known = json({ logged_in: true, asserted_at: "2026-11-21T00:00:00.000Z" });
  const server = await site(t, (request, response) => (count++ < 2 ? unknown : known)(request, response));
  const { client, failures } = clientOf(server.baseUrl, { loggedInRetryMs: [0, 0] });
  t.same(await client.loggedIn("sess_x"), { ok: true, assertedAt: "2026-11-21T00:00:00.000Z" });
  t.same(
    server.requests.map(({ method, url }) => `${method} ${url}`),
    Array(3).fill("POST /v1/sessions/sess_x/logged-in"),
  );
  server.answer = unknown;
  t.same(await client.loggedIn("sess_x"), { ok: false, reason: "unknown_session" });
  t.match(failures, [{ reason: "unknown_session" }]);
  server.answer = json({}, 401);
  t.same(await client.loggedIn("sess_x"), { ok: false, reason: "unauthenticated" });
  t.equal(server.requests.length, 7, "a wrong key is not tried again");
});

t.test("a mistake in the options shows at once, and the key is not echoed", async (t) => {
  const bad: readonly Partial<ClientOptions>[] = [
    { baseUrl: "nonsense" },
    { baseUrl: "ftp://x" },
    { baseUrl: "http://user:pass@x" },
    { baseUrl: "http://:pass@x" },
    { baseUrl: "http://x/?a=b" },
    { baseUrl: "http://x/?" },
    { baseUrl: "http://x/#" },
    { breaker: { openMs: 5000, openMsMax: 100 } },
    { breaker: { openMsMax: 100 } },
    { privateKey: "" },
    { privateKey: "pk_public" },
    { privateKey: "sk_line\nfeed" },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 60_000 },
  ];
  for (const options of bad) {
    t.throws(() => createClient({ baseUrl: "http://127.0.0.1", privateKey, ...options }), TypeError);
  }
  const breaker = null as unknown as BreakerOptions;
  t.throws(() => createClient({ baseUrl: "http://127.0.0.1", privateKey, breaker }), {
    message: "breaker: expected an object of options",
  });
  t.throws(() => createClient({ baseUrl: "http://127.0.0.1", privateKey: "secret" }), {
    message: /^(?!.*secret)/,
  });
});

t.test("sessions of another project's site key are told once", async (t) => {
  const unknown = { ...good, verdict: "not_computed", action: "allow", score: 0 };
  const { baseUrl } = await site(t, json(unknown));
  const { client, failures } = clientOf(baseUrl);
  for (let number = 0; number < 25; number++) await client.verdict(`sess_${number}`);
  t.match(failures, [
    { reason: "other_project", message: /site key .* and this private key may be keys of two projects/ },
  ]);
  t.equal(failures.length, 1);
});
