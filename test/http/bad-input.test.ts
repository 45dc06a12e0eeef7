/**
 * Malformed data and data that becomes malformed on its way: each gets the contract's error and leaves nothing behind, and the
 * server answers on. Many cases share one server, so that what one breaks the next one sees.
 */
import t from "tap";
import { batch, event } from "../support/batches.js";
import { chunked, RawClient, rawRequest } from "../support/raw-socket.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";

t.test("bad input", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const key = { "x-service-site-key": tenant.siteKey };
  const rawKey = { "X-Service-Site-Key": tenant.siteKey, "Content-Type": "application/json" };
  const send = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    server.ask("POST", "/v1/events", { headers: { ...key, ...headers }, body });
  const refuses = async (t: import("tap").Test, body: unknown, name: string): Promise<Answer> => {
    const before = await server.sessionCount();
    const answer = await send(body);
    t.same([answer.status, answer.json?.code], [422, "INVALID_PAYLOAD"], name);
    t.equal(await server.sessionCount(), before, `${name}: no session is left behind`);
    return answer;
  };
  const answersOn = async (t: import("tap").Test): Promise<void> => {
    t.equal((await send(batch("answers0"))).status, 202, "the server answers on");
  };
  const withEvent = (change: Record<string, unknown>) => ({
    session_token: null,
    events: [{ ...event("badevent-0"), ...change }],
  });
  const withPayload = (payload: unknown) => withEvent({ payload });
  const text = (value: string) =>
    `{"session_token":null,"events":[{"request_id":"badevent-0","type":"mouse","received_at":"2026-11-21T10:00:00Z","payload":${value}}]}`;

  await t.test("what is no JSON object is 422", async (t) => {
    const whole = JSON.stringify(batch("nojson00"));
    for (const body of [
      "",
      " ",
      "{",
      "}",
      "null",
      "true",
      "1",
      '"x"',
      "[]",
      `[${whole}]`,
      whole.slice(0, -1),
      `${whole}x`,
      `\ufeff${whole}`,
      "NaN",
      "{'a':1}",
      "\u0000",
    ]) {
      await refuses(t, body, JSON.stringify(body).slice(0, 30));
    }
    for (const [what, bytes] of [
      ["bad UTF-8 in a string", Buffer.from(text('{"path":"\u00ff"}'), "latin1")],
      [
        "a lone surrogate's bytes",
        Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      ],
      ["an overlong form", Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
      ["UTF-16", Buffer.from(whole, "utf16le")],
      ["gzip's magic", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0])],
    ] as const) {
      await refuses(t, new Uint8Array(bytes), what);
    }
    await answersOn(t);
  });

  await t.test("a batch of the wrong shape is 422, and the message names the field", async (t) => {
    const good = event("goodevent0");
    for (const [body, field] of [
      [{}, "session_token"],
      [{ events: [good] }, "session_token"],
      [{ session_token: 7, events: [good] }, "session_token"],
      [{ session_token: {}, events: [good] }, "session_token"],
      [{ session_token: null }, "events"],
      [{ session_token: null, events: null }, "events"],
      [{ session_token: null, events: {} }, "events"],
      [{ session_token: null, events: "x" }, "events"],
      [{ session_token: null, events: [] }, "events"],
      [{ session_token: null, events: [null] }, "events[0]"],
      [{ session_token: null, events: [[]] }, "events[0]"],
      [{ session_token: null, events: [good, 7] }, "events[1]"],
      [{ session_token: null, events: [good], site_key: 7 }, "site_key"],
      [{ session_token: null, events: Array.from({ length: 101 }, (_, index) => event(`toomany-${index}`)) }, "events"],
    ] as const) {
      const { json } = await refuses(t, body, field);
      t.match(json.message, field);
    }
    await answersOn(t);
  });

  await t.test("all four fields of an event are required, each of its own type", async (t) => {
    const wrong: Record<string, readonly unknown[]> = {
      request_id: [
        undefined,
        null,
        7,
        "",
        "short12",
        "x".repeat(65),
        "has space-",
        "é".repeat(10),
        ["aaaaaaaa"],
        "aaaaaaa\n",
      ],
      type: [undefined, null, 7, "", "Mouse", "keyboard", "__proto__", "constructor", ["mouse"]],
      received_at: [
        undefined,
        null,
        7,
        1_700_000_000_000,
        "",
        "now",
        "2026-11-21",
        "10:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T00:61:00Z",
        "2026-01-01T00:00:00+99:99",
        "+12026-01-01T00:00:00Z",
        "x".repeat(10_000),
      ],
      payload: [undefined, null, 7, "x", [], [{}]],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const { json } = await refuses(
          t,
          withEvent({ [name]: value }),
          `${name}: ${JSON.stringify(value)?.slice(0, 40)}`,
        );
        t.match(json.message, name, "the message names the field");
        t.ok(json.message.length < 600, "and does not repeat what was sent at length");
      }
    }
    await answersOn(t);
  });

  await t.test("well-formed times are accepted however far off", async (t) => {
    for (const [index, received_at] of [
      "0001-01-01T00:00:00Z",
      "9999-12-31T23:59:59.999Z",
      "1970-01-01T00:00:00Z",
      "2024-02-29T12:00:00Z",
      "2000-02-29T12:00:00+05:30",
      "2026-11-21T10:00:00",
      "2026-11-21 10:00:00,5+02",
    ].entries()) {
      t.equal(
        (await send({ session_token: null, events: [{ ...event(`times000-${index}`), received_at }] })).status,
        202,
        received_at,
      );
    }
  });

  await t.test("an unknown key of an event or of its payload is 422", async (t) => {
    for (const name of [
      "extra",
      "score",
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "",
      "Path",
      "path ",
      "x".repeat(5000),
    ]) {
      const json = JSON.stringify(name);
      const whole = text("{}");
      const one = await refuses(t, whole.replace('"type":', `${json}:1,"type":`), `event: ${name.slice(0, 20)}`);
      t.ok(one.json.message.length < 600);
      await refuses(t, text(`{${json}:1}`), `payload: ${name.slice(0, 20)}`);
      await refuses(t, text(`{"path":"/",${json}:{"webdriver":false}}`), `beside a good key: ${name.slice(0, 20)}`);
      await refuses(t, text(`{${json}:null}`), `null: ${name.slice(0, 20)}`);
    }
    t.equal(Object.hasOwn(Object.prototype, "webdriver"), false);
    await answersOn(t);
  });

  await t.test("a batch hidden behind __proto__ is no batch", async (t) => {
    const inner = JSON.stringify(batch("hidden00"));
    await refuses(t, `{"__proto__":${inner}}`, "__proto__");
    await refuses(t, `{"constructor":{"prototype":${inner}}}`, "constructor");
    t.equal(
      (await send(`{"__proto__":{"site_key":"pk_x"},${inner.slice(1)}`)).status,
      202,
      "an unknown key of the batch is ignored",
    );
  });

  await t.test("payload values outside their bounds are 422", async (t) => {
    const scalars = (count: number) => Array.from({ length: count }, () => 1);
    const rows = (count: number) => Array.from({ length: count }, (_, index) => [index, 1, 2]);
    for (const [payload, name] of [
      [{ path: "p".repeat(513) }, "a string of 513"],
      [{ path: null }, "null"],
      [{ path: 7 }, "a number for a string"],
      [{ path: ["/"] }, "a list for a string"],
      [{ path: {} }, "an object for a string"],
      [{ x: "1" }, "a string for a number"],
      [{ x: true }, "a boolean for a number"],
      [{ x: null }, "null for a number"],
      [{ x: [1] }, "a list for a number"],
      [{ webdriver: "false" }, "a string for a boolean"],
      [{ webdriver: 0 }, "a number for a boolean"],
      [{ depth: 2 }, "depth 2"],
      [{ depth: -0.1 }, "depth below 0"],
      [{ direction: "sideways" }, "a direction that is none"],
      [{ honeypot: 1 }, "honeypot 1"],
      [{ plugins: scalars(65) }, "an array of 65"],
      [{ plugins: [[1]] }, "a nested array"],
      [{ plugins: [{}] }, "an object in an array"],
      [{ plugins: [null] }, "null in an array"],
      [{ languages: ["x".repeat(513)] }, "a string of 513 in an array"],
      [{ points: rows(257) }, "257 rows of points"],
      [{ strokes: rows(257).map(([at]) => [at, 1]) }, "257 rows of strokes"],
      [{ points: [[0, 1]] }, "a point of 2"],
      [{ points: [[0, 1, 2, 3]] }, "a point of 4"],
      [{ points: [[0, 1, "2"]] }, "a text in a point"],
      [{ points: [[0, 1, [2]]] }, "a list in a point"],
      [{ points: [0, 1, 2] }, "a flat path"],
      [{ points: {} }, "an object for a path"],
      [{ strokes: [[0]] }, "a stroke of 1"],
    ] as const) {
      await refuses(t, withPayload(payload), name);
    }
    for (const value of [
      '{"x":1e999}',
      '{"x":-1e999}',
      '{"points":[[0,1e999,0]]}',
      '{"plugins":[1e999]}',
      '{"depth":1e999}',
      '{"x":NaN}',
      '{"x":Infinity}',
    ]) {
      await refuses(t, text(value), value);
    }
    await answersOn(t);
  });

  await t.test("payload values at their bounds are accepted", async (t) => {
    const fullPath = Array.from({ length: 256 }, (_, index) => [index * 8, index, index]);
    for (const [index, payload] of [
      { path: "p".repeat(512), plugins: Array.from({ length: 64 }, () => 1), languages: ["l".repeat(512)] },
      { depth: 0, x: 1e308, y: -1e308, dx: 5e-324, dt: -0, t: 2 ** 53 },
      { depth: 1, points: fullPath, strokes: fullPath.map(([at]) => [at, 80]) },
      { path: "\ud83d\ude00\u0000\u2028", host: "", user_agent: "\\u0000" },
      { points: [], strokes: [], languages: [], plugins: [] },
      {},
    ].entries()) {
      const { json } = await send({ session_token: null, events: [{ ...event(`bounds00-${index}`), payload }] });
      t.equal(json.accepted, 1, Object.keys(payload).join());
      const verdict = await server.ask("GET", `/v1/sessions/${json.session_token}/verdict`, {
        token: tenant.privateKey,
      });
      t.ok(verdict.json.score >= 1 && verdict.json.score <= 99, "and scored");
    }
  });

  await t.test("deep nesting and a wide body cost no more than a refusal", async (t) => {
    await refuses(t, text(`{"path":${"[".repeat(50_000)}${"]".repeat(50_000)}}`), "50 000 lists deep");
    await refuses(t, `{"events":${"[".repeat(100_000)}`, "never closed");
    await refuses(t, text(`{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join()}}`), "10 000 keys");
    await answersOn(t);
  });

  await t.test("a body of 256 KiB is read, one more byte is 422, by length and in chunks", async (t) => {
    const most = 256 * 1024;
    const padded = (bytes: number): string => {
      const body = JSON.stringify(batch("padded00"));
      return body + " ".repeat(bytes - body.length);
    };
    t.equal((await send(padded(most))).status, 202);
    await refuses(t, padded(most + 1), "by length");
    for (const [bytes, status] of [
      [most, 202],
      [most + 1, 422],
    ] as const) {
      const client = await RawClient.open(server.port);
      const pieces = padded(bytes).match(/.{1,60000}/gs)!;
      client.write(rawRequest("POST", "/v1/events", { ...rawKey, "Transfer-Encoding": "chunked" }) + chunked(pieces));
      t.equal((await client.answer())?.status, status, `${bytes} in chunks`);
      client.leave();
    }
    const huge = await send("x".repeat(8 * 1024 * 1024)).catch(() => null);
    t.ok(huge === null || huge.status === 422, "8 MiB are refused, not buffered");
    const control = await server.ask("PUT", `/v1/projects/${tenant.projectId}/scoring/settings`, {
      token: tenant.token,
      body: `{}${" ".repeat(64 * 1024)}`,
    });
    t.same([control.status, control.json?.code], [422, "INVALID_PAYLOAD"], "the control plane has its bound too");
    await answersOn(t);
  });

  await t.test("a body that is announced and never comes, or comes half, leaves nothing behind", async (t) => {
    const before = await server.sessionCount();
    const body = JSON.stringify(batch("halfbody", 10));
    const cuts = [
      rawRequest("POST", "/v1/events", rawKey, body).slice(0, -1),
      rawRequest("POST", "/v1/events", rawKey, body).slice(0, -body.length),
      rawRequest("POST", "/v1/events", rawKey, body).slice(0, -Math.floor(body.length / 2)),
      rawRequest("POST", "/v1/events", { ...rawKey, "Transfer-Encoding": "chunked" }) + chunked([body]).slice(0, -5),
      rawRequest("POST", "/v1/events", { ...rawKey, "Transfer-Encoding": "chunked" }).concat("fff\r\n{"),
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nX-Service-",
      "POST",
      rawRequest(
        "POST",
        `/v1/projects/${tenant.projectId}/rules`,
        { Authorization: `Bearer ${tenant.token}` },
        '{"name":"r"}',
      ).slice(0, -3),
      rawRequest("POST", "/v1/sessions/sess_x/logged-in", { Authorization: `Bearer ${tenant.privateKey}` }, "{}").slice(
        0,
        -1,
      ),
    ];
    for (const cut of cuts) {
      const client = await RawClient.open(server.port);
      client.write(cut);
      // An answer on another connection shows that the server has run since.
      await send("{");
      client.leave();
    }
    t.equal(await server.sessionCount(), before);
    await answersOn(t);
  });

  await t.test("a client that leaves before its answer costs nobody else anything", async (t) => {
    for (let index = 0; index < 50; index++) {
      const client = await RawClient.open(server.port);
      client.write(rawRequest("POST", "/v1/events", rawKey, JSON.stringify(batch(`leaves${index}-0`, 20))));
      client.leave();
    }
    await answersOn(t);
  });

  await t.test("what is no HTTP closes the connection, and only that one", async (t) => {
    for (const noise of [
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000",
      `GET / HTTP/1.1\r\nHost: x\r\n${"X-Many: 1\r\n".repeat(500)}\r\n`,
      `GET / HTTP/1.1\r\nHost: x\r\nX-Huge: ${"h".repeat(100_000)}\r\n\r\n`,
      `GET /${"p".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1e9\r\n\r\n",
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ]) {
      const client = await RawClient.open(server.port);
      client.write(noise);
      await send("{");
      client.leave();
    }
    await answersOn(t);
  });

  await t.test("a second request while the first waits for its commit never gets the first one's answer", async (t) => {
    const client = await RawClient.open(server.port);
    const request = (prefix: string) =>
      rawRequest("POST", "/v1/events", { ...rawKey, "Idempotency-Key": prefix }, JSON.stringify(batch(prefix, 2)));
    client.write(request("pipeone0") + request("pipetwo0"));
    for (const prefix of ["pipeone0", "pipetwo0"]) {
      const answer = await client.answer();
      if (answer === null) break;
      t.equal(answer.status, 202, prefix);
    }
    client.leave();
    for (const prefix of ["pipeone0", "pipetwo0"]) {
      const retry = await send(batch(prefix, 2), { "idempotency-key": prefix });
      t.equal(retry.json.accepted + retry.json.duplicates, 2, "a retry settles it");
    }
    t.equal((await send(batch("pipeone0", 2), { "idempotency-key": "pipeone0" })).json.accepted, 0);
  });

  await t.test("odd request contexts and session tokens fail open on the verdict read", async (t) => {
    const odd = [
      "x",
      "sess_",
      `sess_${"a".repeat(129)}`,
      `sess_${"a".repeat(3000)}`,
      "%00",
      "%zz",
      "sess_%2e%2e",
      "..%2f..%2f",
      "sess_é",
    ];
    for (const token of odd) {
      const { status, json } = await server.ask("GET", `/v1/sessions/${token}/verdict`, { token: tenant.privateKey });
      t.equal(status, 200, token.slice(0, 20));
      t.match(json, { verdict: "not_computed", score: 0, action: "allow", detection_ids: [] });
    }
    const { json } = await send(batch("context0"));
    for (const query of [
      "?path=%zz",
      "?ip=999.1.1.1",
      "?ip=%00",
      "?method=G%20T",
      `?path=/${"p".repeat(2000)}`,
      "?path=nope&path=/x",
      "?&&==&",
      "?user_agent=%ff",
    ]) {
      const answer = await server.ask("GET", `/v1/sessions/${json.session_token}/verdict${query}`, {
        token: tenant.privateKey,
      });
      t.equal(answer.status, 200, query.slice(0, 20));
      t.not(answer.json.verdict, "not_computed", "a bad value counts as missing");
    }
  });
});
