/** How requests reach verdictd: connections that are kept, time limits, HTTPS, and a `fetch` of the customer's. Servers here are real ones. */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { selfSigned } from "../ops/certificates.js";
import { clientOf, endless, good, json, site } from "./site.js";

const clientModule = new URL("../../src/client/client.js", import.meta.url).href;

/** Answers once so many requests wait, which thus come by as many connections. */
function together(count: number): RequestListener {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    waiting.push(() => json(good)(request, response));
    if (waiting.length === count) for (const answer of waiting.splice(0)) answer();
  };
}

/** Timers that a timer sets never fire from now on: of a limit only its first step passes, however slow the machine is. */
function onlyFirstSteps(t: Test): void {
  const { setTimeout } = globalThis;
  let isInTimer = false;
  const held = (act: () => void, ms: number): NodeJS.Timeout => {
    if (isInTimer) return setTimeout(() => {}, 2 ** 31 - 1).unref();
    return setTimeout(() => {
      isInTimer = true;
      act();
      isInTimer = false;
    }, ms);
  };
  globalThis.setTimeout = held as typeof setTimeout;
  t.teardown(() => {
    globalThis.setTimeout = setTimeout;
  });
}

t.test("time in which the program itself is busy does not count, whoever sends", async (t) => {
  const source = `
    const { createServer } = require("node:http");
    const answer = ${JSON.stringify(JSON.stringify(good))};
    const server = createServer((request, response) => setTimeout(() => response.end(answer), 20));
    // Node's own 5 s between two reads are over on a busy machine, at the moment of use.
    server.keepAliveTimeout = 0;
    server.listen(0, "127.0.0.1", () => process.send(server.address().port));`;
  // In a process of its own: it answers while this one is busy.
  const server = fork("-", { execArgv: ["--eval", source], env: {} });
  t.teardown(() => server.kill());
  const [port] = await once(server, "message");
  const busy = (ms: number): void => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
  };
  onlyFirstSteps(t);
  for (const more of [{}, { fetch: globalThis.fetch }]) {
    const { client, failures } = clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 100, ...more });
    await Promise.all(Array.from({ length: 4 }, () => client.verdict("sess_x")));
    const reads = async (): Promise<unknown[]> => {
      const asked = Array.from({ length: 4 }, () => client.verdict("sess_x"));
      return (await Promise.all(asked)).map(({ failed }) => failed);
    };
    busy(200);
    const before = reads();
    t.same(await before, [null, null, null, null], "before a read, in the same turn of the loop");
    const after = reads();
    busy(200);
    t.same(await after, [null, null, null, null], "right after it");
    const sent = reads();
    setImmediate(() => busy(200));
    t.same(await sent, [null, null, null, null], "when it is on its way");
    for (const ms of [97, 103]) {
      // On new connections: nothing is sent before the program has time.
      const { client: fresh } = clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 100, ...more });
      const cold = fresh.verdict("sess_x");
      busy(ms);
      t.equal((await cold).failed, null, `for ${ms} ms of a limit of 100`);
    }
    t.same(failures, []);
  }
});

t.test("reads one after the other share connections, failed ones too", async (t) => {
  let count = 0;
  const server = await site(t, (request, response) => json(count++ % 2 === 0 ? good : {}, 200)(request, response));
  const { client } = clientOf(server.baseUrl, { timeoutMs: 10_000 });
  for (let reads = 0; reads < 20; reads++) await client.verdict("sess_x");
  t.equal(server.requests.length, 20);
  t.ok(server.connections <= 2, `${server.connections} connections`);
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
  const server = await site(t, together(20));
  const { client, failures } = clientOf(server.baseUrl);
  const reads = (count: number) => Promise.all(Array.from({ length: count }, () => client.verdict("sess_x")));
  await reads(20);
  const old = new Set<unknown>(server.requests.map(({ socket }) => socket));
  t.equal(old.size, 20);
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
  const server = await site(t, together(10));
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
    // A server that takes its time.
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
