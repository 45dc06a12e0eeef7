/** What holds for every answer: request ids, error bodies, unknown paths, methods, CORS, chunks, pipelines, HEAD. */
import t from "tap";
import { referenceIn } from "../../src/contract/verdicts/reference.js";
import { requestIds } from "../../src/http/request-id.js";
import { batch } from "../support/batches.js";
import { chunked, RawClient, rawRequest } from "../support/raw-socket.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";

const server = await startServer(t);
const tenant = await firstTenant(server);

t.test("every answer", async (t) => {
  const { token } = tenant;
  const project = `/v1/projects/${tenant.projectId}`;
  const session = "/v1/sessions/sess_unknown";
  const key = { "x-service-site-key": tenant.siteKey };
  const noCode = ({ json }: Answer) => json.error !== undefined && json.message !== undefined && !("code" in json);

  await t.test("carries an X-Request-Id of its own, whatever its status", async (t) => {
    const answers = await Promise.all([
      server.ask("GET", "/healthz"),
      server.ask("POST", "/v1/events", { headers: key, body: batch("reqid000") }),
      server.ask("POST", `${project}/rules`, { token, body: { name: "r", expression: "score < 5", action: "log" } }),
      server.ask("OPTIONS", "/v1/events"),
      server.ask("GET", "/v1/account"),
      server.ask("GET", "/v1/projects/999/rules", { token }),
      server.ask("GET", "/nowhere"),
      server.ask("DELETE", "/v1/account", { token }),
      server.ask("POST", `${project}/rules`, { token, body: {} }),
      server.ask("GET", `${session}/verdict`, { token: tenant.privateKey }),
      server.ask("POST", `${session}/logged-in`, { token: tenant.privateKey }),
      server.ask("POST", "/v1/events", { headers: key, body: "x".repeat(300_000) }),
    ]);
    t.same(
      answers.map(({ status }) => status),
      [200, 202, 201, 204, 401, 403, 404, 405, 422, 200, 404, 422],
    );
    const ids = answers.map(({ headers }) => headers.get("x-request-id"));
    t.notOk(ids.includes(null));
    t.equal(new Set(ids).size, ids.length, "no two alike");
  });

  await t.test("does not say how many requests there were", async (t) => {
    const next = requestIds();
    const ids = Array.from({ length: 3000 }, next);
    t.ok(
      ids.every((id) => referenceIn(id) === id),
      "the console knows them",
    );
    t.equal(referenceIn(`${ids[0]}0`), null);
    t.equal(referenceIn(`Referenz: ${ids[0]!.toUpperCase()}.`), ids[0], "in the line that a customer pastes");
    t.equal(referenceIn("no-reference at 10:30"), null);
    t.equal(new Set(ids).size, ids.length);
    // Of random ids half are above the one before.
    const rises = ids.filter((id, index) => index > 0 && id > ids[index - 1]!).length;
    t.ok(rises > 1000 && rises < 2000, `${rises} of ${ids.length}`);
  });

  await t.test("is kept by nobody and never guessed at, but for files", async (t) => {
    const bearer = { token: tenant.privateKey };
    for (const [method, path, what] of [
      ["POST", `${project}/scoring`, { token }],
      ["GET", `${project}/sessions`, { token }],
      ["GET", `${project}/rules`, { token }],
      ["GET", "/v1/account"],
      ["GET", `${session}/verdict`, bearer],
      ["GET", `${session}/verdict?path=/x`, bearer],
      ["GET", "/v1/forward-auth", bearer],
      ["POST", "/v1/events", { headers: key, body: batch("nostore0") }],
      ["POST", "/v1/events", { headers: key, body: {} }],
      ["OPTIONS", "/v1/events"],
      ["GET", "/healthz"],
      ["GET", "/nowhere"],
      ["PUT", "/user"],
    ] as const) {
      const { headers } = await server.ask(method, path, what);
      t.equal(headers.get("cache-control"), "no-store", `${method} ${path}`);
      t.equal(headers.get("x-content-type-options"), "nosniff", `${method} ${path}`);
    }
    for (const [path, caching] of [
      ["/docs", "no-cache"],
      ["/verdictd-client.tgz", "no-cache"],
      ["/clients/verdictd.py", "no-cache"],
      ["/sdk.js", "public, max-age=3600"],
      ["/sdk-probes.js", "public, max-age=3600"],
      ["/v1/detections", "public, max-age=3600"],
      ["/openapi.json", "public, max-age=300"],
    ] as const) {
      const { headers } = await server.ask("GET", path);
      t.equal(headers.get("cache-control"), caching, path);
      t.equal(headers.get("x-content-type-options"), "nosniff", path);
    }
  });

  await t.test("is 404 without code at an unknown path", async (t) => {
    for (const path of ["/nothing", "/v1", "/v2/events", "/v1/user", "/account", `${project}/nothing`, "/V1/account"]) {
      const answer = await server.ask("GET", path, { token });
      t.equal(answer.status, 404, path);
      t.ok(noCode(answer), path);
    }
  });

  await t.test("is 404 at a known path with a trailing slash", async (t) => {
    for (const [method, path] of [
      ["POST", "/v1/events/"],
      ["GET", `${session}/verdict/`],
      ["POST", `${session}/logged-in/`],
      ["POST", `${project}/scoring/`],
      ["POST", `${project}/scoring/rotate/`],
      ["PUT", `${project}/scoring/settings/`],
      ["GET", `${project}/rules/`],
      ["DELETE", `${project}/rules/1/`],
      ["GET", "/v1/account/"],
      ["GET", "/user/"],
    ] as const) {
      const answer = await server.ask(method, path, { token });
      t.equal(answer.status, 404, path);
      t.ok(noCode(answer), path);
    }
  });

  await t.test("is 405 with Allow and without code at a known path by another method", async (t) => {
    for (const [path, method, allow] of [
      ["/v1/events", "GET", "POST, OPTIONS"],
      [`${session}/verdict`, "POST", "GET"],
      [`${session}/logged-in`, "GET", "POST"],
      [`${project}/scoring`, "DELETE", "POST, GET"],
      [`${project}/scoring/rotate`, "GET", "POST"],
      [`${project}/scoring/settings`, "POST", "PUT"],
      [`${project}/request-scoring`, "POST", "GET, PUT"],
      [`${project}/rules`, "PUT", "GET, POST"],
      [`${project}/rules/1`, "GET", "PATCH, PUT, DELETE"],
      [`${project}/rules/test`, "PATCH", "POST"],
      [`${project}/rules/test`, "DELETE", "POST"],
      ["/v1/account", "POST", "GET"],
      ["/user", "PATCH", "GET"],
    ] as const) {
      const answer = await server.ask(method, path, { token });
      t.equal(answer.status, 405, path);
      t.equal(answer.headers.get("allow"), allow, path);
      t.ok(noCode(answer), path);
    }
  });

  await t.test("to HEAD is 405 without a body, and the connection goes on", async (t) => {
    const client = await RawClient.open(server.port);
    const headers = { Authorization: `Bearer ${token}` };
    for (const path of ["/v1/account", "/user", `${session}/verdict`, `${project}/rules`]) {
      client.write(rawRequest("HEAD", path, headers) + rawRequest("GET", "/user", headers));
      t.equal((await client.answer(true))?.status, 405, path);
      t.equal((await client.answer())?.status, 200, "the next answer begins where the headers ended");
    }
    client.write(rawRequest("HEAD", "/nowhere", headers) + rawRequest("GET", "/user", headers));
    t.equal((await client.answer(true))?.status, 404);
    t.equal((await client.answer())?.status, 200);
    client.leave();
  });

  await t.test("to HEAD is that of GET without its body, for health and files", async (t) => {
    const client = await RawClient.open(server.port);
    for (const path of ["/healthz", "/readyz", "/sdk.js", "/challenge.js"]) {
      client.write(rawRequest("GET", path));
      const got = await client.answer();
      client.write(rawRequest("HEAD", path) + rawRequest("GET", "/healthz"));
      const head = await client.answer(true);
      t.equal(head?.status, got?.status, path);
      for (const name of ["content-type", "content-length", "etag", "cache-control"]) {
        t.equal(head?.headers.get(name), got?.headers.get(name), `${path}: ${name}`);
      }
      t.equal((await client.answer())?.status, 200, "the next answer begins where the headers ended");
    }
    client.write(rawRequest("HEAD", "/sdk.js", { "If-None-Match": "*" }) + rawRequest("GET", "/healthz"));
    t.equal((await client.answer(true))?.status, 304);
    t.equal((await client.answer())?.status, 200);
    client.leave();
    t.equal((await server.ask("POST", "/healthz")).headers.get("allow"), "GET, HEAD");
  });

  await t.test("is 404 without code for a path id that is not a positive integer", async (t) => {
    for (const id of ["0", "-1", "1.5", "abc", "1e3", "0x1", "%20", "1%00"]) {
      const answers = [
        await server.ask("GET", `/v1/projects/${id}/rules`, { token }),
        await server.ask("POST", `/v1/projects/${id}/scoring`, { token }),
        await server.ask("PATCH", `${project}/rules/${id}`, { token, body: {} }),
        await server.ask("DELETE", `${project}/rules/${id}`, { token }),
      ];
      for (const answer of answers) {
        t.equal(answer.status, 404, id);
        t.ok(noCode(answer), id);
      }
    }
  });

  await t.test("takes any positive integer for an id, however long", async (t) => {
    for (const id of ["9007199254740993", "9".repeat(400)]) {
      t.equal((await server.ask("GET", `/v1/projects/${id}/rules`, { token })).status, 403, "a project nobody has");
      t.equal((await server.ask("DELETE", `${project}/rules/${id}`, { token })).status, 404, "a rule nobody has");
    }
  });

  await t.test("is JSON and says what it is", async (t) => {
    for (const answer of [
      await server.ask("GET", "/v1/account", { token }),
      await server.ask("GET", "/v1/account"),
      await server.ask("GET", "/nowhere"),
      await server.ask("GET", `${session}/verdict`, { token: tenant.privateKey }),
    ]) {
      t.match(answer.headers.get("content-type"), /^application\/json/);
      t.not(answer.json, undefined);
    }
  });

  await t.test(
    "an error body holds error, message and, where the contract has one, a code: nothing else",
    async (t) => {
      const coded = await server.ask("GET", "/v1/account");
      t.same(Object.keys(coded.json), ["error", "message", "code"]);
      const bare = await server.ask("GET", "/v1/projects/999/rules", { token });
      t.same(Object.keys(bare.json), ["error", "message"]);
    },
  );

  await t.test("never echoes a secret", async (t) => {
    const secret = "sk_0123456789012345678901234567890123456789012";
    for (const answer of [
      await server.ask("GET", `${session}/verdict`, { token: secret }),
      await server.ask("GET", "/v1/account", { token: secret }),
      await server.ask("POST", "/v1/events", { headers: { "x-service-site-key": secret }, body: {} }),
      await server.ask("POST", "/v1/events", { body: { site_key: secret } }),
    ]) {
      t.equal(answer.status, 401);
      t.notMatch(answer.text, secret);
    }
  });

  await t.test("of ingest allows any origin without credentials, preflight included", async (t) => {
    const origin = { origin: "https://shop.example" };
    const preflight = await server.ask("OPTIONS", "/v1/events", {
      headers: {
        ...origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,idempotency-key,x-service-site-key",
      },
    });
    t.equal(preflight.status, 204);
    t.match(preflight.headers.get("access-control-allow-methods"), "POST");
    const allowed = preflight.headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
    for (const name of ["content-type", "idempotency-key", "x-service-site-key"]) t.match(allowed, name);
    for (const answer of [
      preflight,
      await server.ask("POST", "/v1/events", { headers: { ...key, ...origin }, body: batch("cors0000") }),
      await server.ask("POST", "/v1/events", { headers: origin, body: batch("cors0001") }),
      await server.ask("POST", "/v1/events", { headers: { ...key, ...origin }, body: {} }),
      await server.ask("POST", "/v1/events", { headers: { ...key, ...origin }, body: "x".repeat(300_000) }),
    ]) {
      t.equal(answer.headers.get("access-control-allow-origin"), "*", String(answer.status));
      t.equal(answer.headers.get("access-control-allow-credentials"), null);
    }
  });

  await t.test(
    "of a preflight allows the headers that it is asked for, unless these are no list of headers",
    async (t) => {
      const asked = async (path: string, headers: string): Promise<string | null> => {
        const sent = { "access-control-request-method": "POST", "access-control-request-headers": headers };
        const answer = await server.ask("OPTIONS", path, { headers: { origin: "https://shop.example", ...sent } });
        t.equal(answer.status, 204);
        return answer.headers.get("access-control-allow-headers");
      };
      for (const path of ["/v1/events", "/v1/start-tickets", "/v1/challenges", "/v1/challenges/solution"]) {
        const tracing = "baggage,content-type,sentry-trace,traceparent,x-service-site-key";
        t.equal(await asked(path, tracing), tracing, path);
        const own = "Content-Type, Idempotency-Key, X-Service-Site-Key";
        for (const headers of ["", "a(b)", "é", "x".repeat(2100)])
          t.equal(await asked(path, headers), own, headers.slice(0, 9));
      }
    },
  );

  await t.test("of control plane and private-key endpoints has no CORS headers", async (t) => {
    const origin = { origin: "https://shop.example" };
    for (const [method, path, credential] of [
      ["GET", "/v1/account", token],
      ["GET", "/user", token],
      ["OPTIONS", "/v1/account", token],
      ["GET", `${project}/rules`, token],
      ["POST", `${project}/scoring`, token],
      ["GET", `${session}/verdict`, tenant.privateKey],
      ["OPTIONS", `${session}/verdict`, tenant.privateKey],
      ["POST", `${session}/logged-in`, tenant.privateKey],
    ] as const) {
      const { headers } = await server.ask(method, path, { token: credential, headers: origin });
      const names = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
      t.same(names, [], `${method} ${path}`);
    }
  });

  await t.test("chunked bodies are served on every plane", async (t) => {
    const send = async (method: string, path: string, headers: Record<string, string>, pieces: readonly string[]) => {
      const client = await RawClient.open(server.port);
      client.write(rawRequest(method, path, { ...headers, "Transfer-Encoding": "chunked" }) + chunked(pieces));
      const answer = await client.answer();
      t.equal(answer?.headers.get("connection"), "close", "each is the last of its connection");
      t.equal(await client.answer(), null);
      return answer;
    };
    const body = JSON.stringify(batch("chunked0", 20));
    const pieces = [body.slice(0, 1), body.slice(1, 900), body.slice(900)];
    const ingest = await send("POST", "/v1/events", { "X-Service-Site-Key": tenant.siteKey }, pieces);
    t.equal(ingest?.status, 202);
    t.equal(JSON.parse(ingest!.body).accepted, 20);
    const authorization = { Authorization: `Bearer ${token}` };
    const settings = await send("PUT", `${project}/scoring/settings`, authorization, ['{"allow_', 'verified":true}']);
    t.equal(settings?.status, 200);
  });

  await t.test("headers and bodies that arrive byte by byte are served", async (t) => {
    const client = await RawClient.open(server.port);
    const request = rawRequest(
      "POST",
      "/v1/events",
      { "X-Service-Site-Key": tenant.siteKey },
      JSON.stringify(batch("bytes000")),
    );
    const lineEnd = request.indexOf("\r\n") + 2;
    client.write(request.slice(0, lineEnd));
    for (const byte of request.slice(lineEnd)) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal((await client.answer())?.status, 202);
    client.leave();
  });

  await t.test("pipelined reads are answered in order", async (t) => {
    const client = await RawClient.open(server.port);
    const paths = ["/v1/account", "/user", "/nowhere", `${project}/rules`, `${session}/verdict`, "/healthz"];
    const statuses = [200, 200, 404, 200, 401, 200];
    client.write(paths.map((path) => rawRequest("GET", path, { Authorization: `Bearer ${token}` })).join(""));
    for (const [index, path] of paths.entries()) t.equal((await client.answer())?.status, statuses[index], path);
    client.leave();
  });

  await t.test("two requests on one connection, the second sent after the first answer, are both served", async (t) => {
    const client = await RawClient.open(server.port);
    for (const prefix of ["kept0000", "kept0001"]) {
      client.write(
        rawRequest("POST", "/v1/events", { "X-Service-Site-Key": tenant.siteKey }, JSON.stringify(batch(prefix))),
      );
      t.equal((await client.answer())?.status, 202);
    }
    client.leave();
  });

  await t.test(
    "success statuses are 200, but 201 for a new rule, 204 for a deleted one and 202 for a batch",
    async (t) => {
      const rule = await server.ask("POST", `${project}/rules`, {
        token,
        body: { name: "s", expression: "score < 5", action: "log" },
      });
      t.equal(rule.status, 201);
      const path = `${project}/rules/${rule.json.id}`;
      t.equal((await server.ask("PATCH", path, { token, body: {} })).status, 200);
      t.equal((await server.ask("PUT", path, { token, body: {} })).status, 200);
      const gone = await server.ask("DELETE", path, { token });
      t.same([gone.status, gone.text], [204, ""]);
      t.equal((await server.ask("POST", `${project}/scoring`, { token })).status, 200);
      t.equal((await server.ask("POST", `${project}/scoring/rotate`, { token, body: { type: "site" } })).status, 200);
      t.equal((await server.ask("PUT", `${project}/scoring/settings`, { token, body: {} })).status, 200);
      t.equal((await server.ask("GET", `${project}/rules`, { token })).status, 200);
    },
  );
});

t.test("headers of a page on the customer's own domain, cookies and all, are read", async (t) => {
  const headers = { cookie: `other=${"x".repeat(9000)}` };
  t.equal((await server.ask("GET", "/v1/account", { token: tenant.token, headers })).status, 200);
});
