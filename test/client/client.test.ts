/** Holds that the client never throws, says why there is no verdict, and leaves a dead verdictd alone. Servers here are real ones. */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { type BreakerOptions, type ClientFailure, type ClientOptions, createClient } from "../../src/client/client.js";
import { selfSigned } from "../ops/certificates.js";

const clientModule = new URL("../../src/client/client.js", import.meta.url).href;
const privateKey = "sk_test";
const good = { verdict: "definite", score: 3, action: "block", detection_ids: [100101], reason: "Bot." };
const json = (value: unknown, status = 200): RequestListener => {
  return (_request, response) => response.writeHead(status, { "X-Request-Id": "id-1" }).end(JSON.stringify(value));
};

/** Sends as long as somebody reads. */
const endless: RequestListener = (_request, response) => {
  const piece = "x".repeat(65_536);
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
};

interface Site {
  readonly baseUrl: string;
  readonly requests: IncomingMessage[];
  connections: number;
  answer: RequestListener;
}

async function site(t: Test, answer: RequestListener): Promise<Site> {
  const started: Site = { baseUrl: "", requests: [], connections: 0, answer };
  const server = createServer((request, response) => {
    started.requests.push(request);
    started.answer(request, response);
  });
  server.on("connection", () => started.connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(started, { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function clientOf(baseUrl: string, more: Partial<ClientOptions> = {}) {
  const failures: ClientFailure[] = [];
  // A busy machine must not look like a dead server.
  const patient = { timeoutMs: 10_000 };
  const client = createClient({
    baseUrl,
    privateKey,
    onError: (failure) => failures.push(failure),
    ...patient,
    ...more,
  });
  return { client, failures };
}

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

t.test("time in which the program itself is busy does not count, whoever sends", async (t) => {
  const source = `
    const { createServer } = require("node:http");
    const answer = ${JSON.stringify(JSON.stringify(good))};
    const server = createServer((request, response) => setTimeout(() => response.end(answer), 20));
    server.listen(0, "127.0.0.1", () => process.send(server.address().port));`;
  // In a process of its own: it answers while this one is busy.
  const server = fork("-", { execArgv: ["--eval", source], env: {} });
  t.teardown(() => server.kill());
  const [port] = await once(server, "message");
  const busy = (ms: number): void => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  };
  for (const more of [{}, { fetch: globalThis.fetch }]) {
    const { client, failures } = clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 500, ...more });
    await Promise.all(Array.from({ length: 4 }, () => client.verdict("sess_x")));
    const reads = async (): Promise<unknown[]> => {
      const asked = Array.from({ length: 4 }, () => client.verdict("sess_x"));
      return (await Promise.all(asked)).map(({ failed }) => failed);
    };
    busy(1000);
    const before = reads();
    t.same(await before, [null, null, null, null], "before a read, in the same turn of the loop");
    const after = reads();
    busy(1000);
    t.same(await after, [null, null, null, null], "right after it");
    const sent = reads();
    setImmediate(() => busy(1000));
    t.same(await sent, [null, null, null, null], "when it is on its way");
    for (const ms of [485, 505]) {
      // On new connections: nothing is sent before the program has time.
      const { client: fresh } = clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 500, ...more });
      const cold = fresh.verdict("sess_x");
      busy(ms);
      t.equal((await cold).failed, null, `for ${ms} ms of a limit of 500`);
    }
    t.same(failures, []);
  }
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

t.test("reads one after the other share connections, failed ones too", async (t) => {
  let count = 0;
  const server = await site(t, (request, response) => json(count++ % 2 === 0 ? good : {}, 200)(request, response));
  const { client } = clientOf(server.baseUrl, { timeoutMs: 10_000 });
  for (let reads = 0; reads < 20; reads++) await client.verdict("sess_x");
  t.equal(server.requests.length, 20);
  t.ok(server.connections <= 2, `${server.connections} connections`);
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

t.test("on Node a request has only the headers that it needs", async (t) => {
  const { baseUrl, requests } = await site(t, json(good));
  const { client } = clientOf(baseUrl);
  await client.verdict("sess_x", { path: "/a", ip: "::1" });
  await client.judge(null, { headers: [["Accept", "*/*"]] });
  await client.loggedIn("sess_x");
  const names = requests.map(({ headers }) => Object.keys(headers).sort());
  const always = ["authorization", "connection", "host"];
  t.same(names, [
    [...always, "x-service-client-ip", "x-service-request-path"],
    ["authorization", "connection", "content-length", "content-type", "host"],
    ["authorization", "connection", "content-length", "host"],
  ]);
});

t.test("a kept connection that is closed at the moment of use is replaced by a new one, once", async (t) => {
  const seen = new Set<unknown>();
  const closesUsed: RequestListener = (request, response) => {
    if (seen.has(request.socket)) request.socket.destroy();
    else json(good)(request, response);
    seen.add(request.socket);
  };
  const server = await site(t, closesUsed);
  const { client, failures } = clientOf(server.baseUrl);
  for (let reads = 0; reads < 4; reads++) t.equal((await client.verdict("sess_x")).failed, null);
  t.same(failures, []);
  t.ok(server.requests.length > 4, "connections were used twice");
  server.answer = (request) => request.socket.destroy();
  const before = server.requests.length;
  t.equal((await client.verdict("sess_x")).failed, "network");
  t.ok(server.requests.length - before <= 2, "and not tried without end");
});

t.test("after a failover all kept connections are dead, and no read fails for it", async (t) => {
  const server = await site(t, (_request, response) => setTimeout(() => json(good)(_request, response), 50));
  const { client, failures } = clientOf(server.baseUrl);
  const reads = (count: number) => Promise.all(Array.from({ length: count }, () => client.verdict("sess_x")));
  await reads(20);
  const old = new Set<unknown>(server.requests.map(({ socket }) => socket));
  t.ok(old.size > 10, `${old.size} connections`);
  server.answer = (request, response) => {
    if (old.has(request.socket)) request.socket.destroy();
    else json(good)(request, response);
  };
  for (let round = 0; round < 3; round++) {
    t.same(
      (await reads(5)).map(({ failed }) => failed),
      [null, null, null, null, null],
    );
  }
  t.same(failures, []);
});

t.test("a kept connection that is silent costs one read its answer", async (t) => {
  const server = await site(t, (_request, response) => setTimeout(() => json(good)(_request, response), 50));
  const { client, failures } = clientOf(server.baseUrl, { timeoutMs: 1000 });
  await Promise.all(Array.from({ length: 10 }, () => client.verdict("sess_x")));
  const old = new Set<unknown>(server.requests.map(({ socket }) => socket));
  server.answer = (request, response) => {
    if (!old.has(request.socket)) json(good)(request, response);
  };
  t.equal((await client.verdict("sess_x")).failed, "timeout");
  t.equal((await client.verdict("sess_x")).failed, null);
  t.equal(failures.length, 1);
});

t.test("a slow answer costs no other connection", async (t) => {
  const server = await site(t, json(good));
  server.answer = (request, response) => {
    if (request.headers["x-service-request-path"] !== "/slow") setTimeout(() => json(good)(request, response), 5);
  };
  const { client } = clientOf(server.baseUrl, { timeoutMs: 300 });
  const burst = () => Promise.all(Array.from({ length: 30 }, () => client.verdict("sess_x")));
  for (let round = 0; round < 6; round++) {
    await burst();
    const slow = client.verdict("sess_x", { path: "/slow" });
    await burst();
    t.equal((await slow).failed, "timeout");
  }
  // 31 at once, one more for each slow read, and room for a machine that is slow itself.
  t.ok(server.connections < 60, `${server.connections} connections`);
});

t.test("many reads at once share at most 256 connections", async (t) => {
  let open = 0;
  let most = 0;
  const server = await site(t, json(good));
  server.answer = (request, response) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      json(good)(request, response);
    }, 20);
  };
  const { client, failures } = clientOf(server.baseUrl);
  const verdicts = await Promise.all(Array.from({ length: 600 }, () => client.verdict("sess_x")));
  t.ok(verdicts.every(({ failed }) => failed === null));
  t.ok(most <= 256 && server.connections <= 256, `${most} at once, ${server.connections} connections`);
  t.same(failures, []);
});

t.test("a read that times out is not sent again, and leaves no connection", async (t) => {
  const server = await site(t, json(good));
  const { client } = clientOf(server.baseUrl, { timeoutMs: 50 });
  await client.verdict("sess_x");
  const closed = new Promise((resolve) => {
    server.answer = (request) => request.socket.once("close", resolve);
  });
  t.equal((await client.verdict("sess_x")).failed, "timeout");
  await closed;
  t.equal(server.requests.length, 2);
});

t.test("a given fetch sends all requests", async (t) => {
  const server = await site(t, json(good));
  const urls: string[] = [];
  const own: typeof fetch = (input, init) => {
    urls.push(String(input));
    return fetch(input, init);
  };
  const { client, failures } = clientOf(`${server.baseUrl}/p`, { fetch: own });
  t.equal((await client.verdict("sess_x")).action, "block");
  t.equal((await client.judge("sess_x", {})).action, "block");
  t.same(urls, [`${server.baseUrl}/p/v1/sessions/sess_x/verdict`, `${server.baseUrl}/p/v1/verdict`]);
  server.answer = () => undefined;
  const { client: hasty } = clientOf(server.baseUrl, { fetch: own, timeoutMs: 50 });
  t.equal((await hasty.verdict("sess_x")).failed, "timeout");
  const deaf: typeof fetch = () => new Promise(() => {});
  const { client: waiting } = clientOf(server.baseUrl, { fetch: deaf, timeoutMs: 50 });
  t.equal((await waiting.verdict("sess_x")).failed, "timeout", "one that does not listen to its signal");
  server.answer = json(good);
  const streams = async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    const text = await (await fetch(input, init)).text();
    return { status: 200, headers: new Headers(), body: Readable.from([text]), text: async () => text };
  };
  const { client: older } = clientOf(server.baseUrl, { fetch: streams as typeof fetch });
  t.equal((await older.verdict("sess_x")).failed, null, "one whose body is a stream of Node's, as node-fetch has it");
  server.answer = endless;
  t.equal((await client.verdict("sess_x")).failed, "malformed");
  t.match(await client.loggedIn("sess_x"), { ok: false, reason: "malformed" });
  t.same(
    failures.map(({ reason }) => reason),
    ["malformed", "malformed"],
  );
});

t.test(
  "over HTTPS the certificate is checked; a program that is done ends, although a connection is kept",
  async (t) => {
    const { certificate, key } = selfSigned(t, "localhost");
    const server = createHttpsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, json(good));
    t.teardown(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const read = async (more: NodeJS.ProcessEnv): Promise<string> => {
      const source = `
      const { createClient } = await import(${JSON.stringify(clientModule)});
      const client = createClient({ baseUrl: "${baseUrl}", privateKey: "sk_test", timeoutMs: 10000, onError: () => {} });
      console.log((await client.verdict("sess_x")).failed);`;
      const { NODE_OPTIONS: _, ...env } = process.env;
      const words = ["--input-type=module", "--eval", source];
      const { stdout } = await promisify(execFile)(process.execPath, words, { env: { ...env, ...more } });
      return stdout.trim();
    };
    t.equal(await read({}), "network", "signed by nobody known");
    t.equal(await read({ NODE_EXTRA_CA_CERTS: certificate }), "null");
  },
);

t.test("Node's http is loaded when the client is made, its fetch never", async (t) => {
  const source = `
    const { createClient } = await import(${JSON.stringify(clientModule)});
    const isLoaded = (name) => process.moduleLoadList.some((loaded) => loaded.endsWith(name));
    const loaded = () => [isLoaded("NativeModule http"), isLoaded("deps/undici/undici")];
    const before = loaded();
    const client = createClient({ baseUrl: "http://127.0.0.1:1", privateKey: "sk_test", onError: () => {} });
    const made = loaded();
    await client.verdict("sess_x");
    console.log(JSON.stringify([before, made, loaded()]));`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source], { env });
  const [before, made, used] = JSON.parse(stdout);
  t.same(before, [false, false]);
  t.same(made, [true, false]);
  t.same(used, [true, false]);
});
