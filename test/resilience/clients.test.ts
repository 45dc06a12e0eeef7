/** Clients that misbehave: slow, many, contradictory. Each costs a bounded amount, and the others are served meanwhile. */
import t, { type Test } from "tap";
import { batch } from "../support/batches.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";
import { holdIdle } from "./idle-connections.js";

t.test("a thousand idle connections cost little and keep nobody else waiting", async (t) => {
  await holdIdle(t, 1000);
});

t.test("clients that contradict themselves", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const body = JSON.stringify(batch("smuggle0"));
  const smuggled = rawRequest("GET", "/v1/account", { Authorization: `Bearer ${tenant.token}` });
  const head = (...lines: string[]): string =>
    ["POST /v1/events HTTP/1.1", "Host: x", `X-Service-Site-Key: ${tenant.siteKey}`, ...lines, "", ""].join("\r\n");
  const length = Buffer.byteLength(body);
  const stored = (): Promise<number> => server.sessionCount();
  const servesOthers = async (t: Test): Promise<void> => {
    t.equal((await server.ask("GET", "/healthz")).status, 200, "others are served");
  };

  const shapes: Readonly<Record<string, string>> = {
    "Content-Length and Transfer-Encoding": `${head(`Content-Length: ${length}`, "Transfer-Encoding: chunked")}0\r\n\r\n${smuggled}`,
    "Transfer-Encoding and Content-Length": `${head("Transfer-Encoding: chunked", "Content-Length: 4")}0\r\n\r\n${smuggled}`,
    "two lengths that differ": `${head(`Content-Length: ${length}`, "Content-Length: 0")}${body}`,
    "a list of lengths": `${head(`Content-Length: ${length}, 0`)}${body}`,
    "a length with a sign": `${head(`Content-Length: +${length}`)}${body}`,
    "a negative length": `${head("Content-Length: -1")}${body}`,
    "a length in hexadecimal": `${head(`Content-Length: 0x${length.toString(16)}`)}${body}`,
    "a length beyond any number": `${head(`Content-Length: ${"9".repeat(40)}`)}${body}`,
    "a folded header": `${head(`X-A: b`, " folded: c", `Content-Length: ${length}`)}${body}`,
    "bare line feeds": `${head(`Content-Length: ${length}`).replaceAll("\r\n", "\n")}${body}`,
    "a space before the colon": `${head(`Content-Length : ${length}`)}${body}`,
    "an unknown transfer coding": `${head("Transfer-Encoding: xchunked")}${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    "a chunk size that is none": `${head("Transfer-Encoding: chunked")}zz\r\n${body}\r\n0\r\n\r\n`,
    "a chunk size beyond any number": `${head("Transfer-Encoding: chunked")}${"f".repeat(17)}\r\n${body}\r\n0\r\n\r\n`,
    "a NUL in a header": `${head("X-A: \u0000", `Content-Length: ${length}`)}${body}`,
    "no version": `GET /healthz\r\n\r\n${smuggled}`,
  };
  await t.test("every shape that hides a request is refused, and its connection closed", async (t) => {
    const before = await stored();
    const tries = Object.entries(shapes).map(async ([name, bytes]) => {
      const client = await RawClient.open(server.port);
      client.write(bytes);
      const first = await client.answer();
      t.ok(first === null || first.status >= 400, `${name}: ${first?.status ?? "closed"}`);
      t.equal(await client.answer(), null, `${name}: nothing behind it is answered`);
      client.leave();
    });
    await servesOthers(t);
    await Promise.all(tries);
    t.equal(await stored(), before, "none is a batch");
  });

  await t.test("an answer without a body names no length and leaves its connection to the next request", async (t) => {
    const client = await RawClient.open(server.port);
    for (let index = 0; index < 3; index++) {
      client.write(rawRequest("OPTIONS", "/v1/events", { Origin: "https://shop.example" }));
      const preflight = await client.answer();
      t.same([preflight?.status, preflight?.headers.get("content-length")], [204, undefined]);
      client.write(rawRequest("POST", "/v1/events", { "X-Service-Site-Key": tenant.siteKey }, body));
      t.equal((await client.answer())?.status, 202);
    }
    client.leave();
  });

  await t.test("rules that are made to be expensive are refused at once, and others are served", async (t) => {
    const rules = `/v1/projects/${tenant.projectId}/rules`;
    const many = Array.from({ length: 3000 }, (_, index) => `"${index}"`).join(",");
    const sources = {
      "60,000 parentheses": "(".repeat(60_000),
      "30,000 NOTs": `${"NOT ".repeat(15_000)}verified_bot`,
      "a set of 3,000": `path in {${many}}`,
      "a thousand globs": Array.from({ length: 1000 }, () => 'path wildcard "*a*a*a*b"').join(" OR "),
      "one string without end": `path == "${"a".repeat(60_000)}`,
    };
    for (const [name, expression] of Object.entries(sources)) {
      for (const path of [rules, `${rules}/test`]) {
        const body = { name, expression, action: "block" };
        const [answer] = await Promise.all([server.ask("POST", path, { token: tenant.token, body }), servesOthers(t)]);
        t.same([answer.status, answer.json.code], [422, "INVALID_PAYLOAD"], `${name} at ${path}`);
        t.ok(answer.text.length < 2000, "and the answer is short");
      }
    }
    const deep = `{"expression": ${"[".repeat(30_000)}${"]".repeat(30_000)}, "name": "deep", "action": "block"}`;
    const answer = await server.ask("POST", rules, { token: tenant.token, body: deep });
    t.equal(answer.status, 422, "JSON 30,000 deep");
    const batchOfDeep = `{"session_token": null, "events": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const headers = { "x-service-site-key": tenant.siteKey };
    t.equal((await server.ask("POST", "/v1/events", { headers, body: batchOfDeep })).status, 422, "JSON 100,000 deep");
  });

  await t.test("headers over the limit are refused, and other connections go on", async (t) => {
    const client = await RawClient.open(server.port);
    client.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}`);
    const answer = await client.answer();
    t.ok(answer === null || answer.status === 431);
    await servesOthers(t);
  });

  await t.test("a hundred slow senders are answered at last, and others meanwhile", async (t) => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(server.port)));
    for (const [index, client] of slow.entries()) {
      const text = JSON.stringify(batch(`slow${index}-00`));
      client.write(`${head(`Content-Length: ${text.length}`)}${text.slice(0, 10)}`);
    }
    for (let index = 0; index < 20; index++) await servesOthers(t);
    for (const [index, client] of slow.entries()) client.write(JSON.stringify(batch(`slow${index}-00`)).slice(10));
    const answers = await Promise.all(slow.map((client) => client.answer()));
    t.same(new Set(answers.map((answer) => answer?.status)), new Set([202]));
    for (const client of slow) client.leave();
  });

  await t.test("a forwarded address does not move a session or prove a crawler", async (t) => {
    const mine = (
      await server.ask("POST", "/v1/events", {
        headers: { "x-service-site-key": tenant.siteKey },
        body: batch("mine0000", 2),
      })
    ).json;
    const forged = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": tenant.siteKey, "x-forwarded-for": "66.249.66.1" },
      body: batch("forged00", 1, mine.session_token),
    });
    t.equal(forged.json.session_token, mine.session_token);
    const state = await server.scoredState(tenant.projectId, mine.session_token);
    t.same(
      [state?.last.ip, state?.verifiedBot],
      ["127.0.0.1", null],
      "a forwarded address is believed of nobody by default",
    );
  });
});
