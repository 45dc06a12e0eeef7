/** Tokens that are handed out before the first report: to whom, and what ingest makes of them. Against a server with two HTTP threads. */
import { createCipheriv, createHmac } from "node:crypto";
import { request } from "node:http";
import t, { type Test } from "tap";
import { hashSecret } from "../../src/auth/secrets.js";
import { issueToken } from "../../src/contract/sessions/issued-token.js";
import { batch, browserHeaders } from "../support/batches.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

const server = await startServer(t, ["--http-threads", "2", "--trusted-proxies", "127.0.0.1"]);
const tenant = await firstTenant(server);
const fresh = () => askingProject(server, tenant);
const page = { method: "GET", path: "/", host: "shop.example", ip: "203.0.113.7", headers: navigation };
const tokenForm = /^sess_[\w-]{28}$/;

function judge(project: AskingProject, told: object, more: object = { issue_token: true }): Promise<Answer> {
  return server.ask("POST", "/v1/verdict", { token: project.privateKey, body: { request: told, ...more } });
}

async function issued(project: AskingProject): Promise<string> {
  return (await judge(project, page)).json.session_token;
}

function report(project: AskingProject, token: string | null, prefix: string, key?: string): Promise<Answer> {
  const headers = {
    ...browserHeaders,
    "x-service-site-key": project.siteKey,
    ...(key !== undefined && { "idempotency-key": key }),
  };
  return server.ask("POST", "/v1/events", { headers, body: { ...batch(prefix, 2), session_token: token } });
}

function withHeaders(...more: [string, string][]): object {
  const names = new Set(more.map(([name]) => name));
  return {
    ...page,
    headers: [...navigation.filter(([name]) => !names.has(name)), ...more.filter(([, value]) => value !== "")],
  };
}

t.test(
  "a navigation without a token is given one, whether or not requests are judged; nothing is stored for it",
  async (t) => {
    const project = await fresh();
    const sessions = await server.sessionCount();
    const first = await judge(project, page);
    t.match(first.json, { verdict: "not_computed", subject: "request", session_token: tokenForm });
    await project.enable();
    await project.rule("has_session", "block");
    const second = await judge(project, page, { issue_token: true, session_token: first.json.session_token });
    t.equal(second.json.session_token, undefined, "a token that was issued is of use");
    t.match(second.json, { action: "allow", subject: "request" }, "but it is no session");
    t.match((await judge(project, page)).json.session_token, tokenForm);
    t.equal((await judge(project, page, {})).json.session_token, undefined, "without the question there is none");
    t.equal(await server.sessionCount(), sessions);
  },
);

t.test("only navigations are given a token", async (t) => {
  const project = await fresh();
  const none: [string, object][] = [
    ["a fetch", withHeaders(["Sec-Fetch-Dest", "empty"], ["Sec-Fetch-Mode", "cors"])],
    ["an image", withHeaders(["Sec-Fetch-Dest", "image"])],
    ["a frame", withHeaders(["Sec-Fetch-Dest", "iframe"])],
    ["a prefetch", withHeaders(["Sec-Purpose", "prefetch"])],
    ["a prerendering", withHeaders(["Sec-Purpose", "prefetch;prerender"])],
    ["an old prefetch", withHeaders(["Purpose", "prefetch"])],
    [
      "a client of an API",
      {
        ...page,
        headers: [
          ["User-Agent", "x"],
          ["Accept", "application/json"],
        ],
      },
    ],
    ["no headers", { ...page, headers: undefined }],
  ];
  for (const [name, told] of none) t.equal((await judge(project, told)).json.session_token, undefined, name);
  const old = {
    ...page,
    headers: [
      ["User-Agent", "x"],
      ["Accept", "text/html,*/*"],
    ],
  };
  t.match((await judge(project, old)).json.session_token, tokenForm, "an old browser's page");
  t.equal((await judge(project, page, { issue_token: "yes" })).status, 200, "a wrong type counts as missing");
});

t.test("the first report makes the session under this token, also through its Idempotency-Key", async (t) => {
  const project = await fresh();
  await project.enable();
  const token = await issued(project);
  t.match((await report(project, token, "issued00", "key-of-issued")).json, { session_token: token, accepted: 2 });
  t.match((await report(project, token, "issued00", "key-of-issued")).json, { session_token: token, accepted: 0 });
  t.match((await report(project, null, "issued00", "key-of-issued")).json, { session_token: token, accepted: 0 });
  t.match((await report(project, null, "issued01", "key-of-issued")).json, { session_token: token, accepted: 2 });
  t.match((await judge(project, page, { session_token: token })).json, { subject: "session" });
  const other = await issued(project);
  t.match((await report(project, other, "issued02", "key-of-issued")).json, { session_token: token, accepted: 2 });
  const plain = await issued(project);
  const [one, two] = await Promise.all([report(project, plain, "issued03"), report(project, plain, "issued04")]);
  t.same([one!.json.session_token, two!.json.session_token], [plain, plain], "two reports at once are one session");
  t.equal((await server.scoredState(project.id, plain))?.eventCount, 4);
});

t.test("a token that is forged, foreign, expired or erased is one that can't be recovered", async (t) => {
  const project = await fresh();
  const refused = async (t: Test, token: string, prefix: string): Promise<void> => {
    t.match((await judge(project, page, { issue_token: true, session_token: token })).json.session_token, tokenForm);
    const answered = (await report(project, token, prefix)).json;
    t.equal(answered.accepted, 2);
    t.match(answered.session_token, tokenForm);
    t.not(answered.session_token, token);
  };
  const nowMs = Date.now();
  const hash = hashSecret(project.privateKey);
  const own = { id: project.id, privateKeyHash: hash };
  t.match(
    (await report(project, issueToken(own, nowMs), "expired0")).json.session_token,
    issueToken(own, nowMs)!.slice(0, 9),
  );
  await t.test("expired", (t) => refused(t, issueToken(own, nowMs - 86_401_000 - 1000)!, "expired1"));
  await t.test("of the future", (t) => refused(t, issueToken(own, nowMs + 120_000)!, "expired2"));
  await t.test("of another project", async (t) => refused(t, await issued(await fresh()), "foreign0"));
  await t.test("of another key", (t) => refused(t, issueToken({ ...own, privateKeyHash: "0" }, nowMs)!, "forged00"));
  await t.test("random", (t) => refused(t, `sess_${"Zb".repeat(14)}`, "forged01"));
  await t.test("with another time", async (t) => {
    const token = await issued(project);
    const changed = `${token.slice(0, 11)}${token[11] === "A" ? "B" : "A"}${token.slice(12)}`;
    await refused(t, changed, "forged02");
  });
  await t.test("erased", async (t) => {
    const token = await issued(project);
    t.equal((await report(project, token, "erased00", "erased-key")).json.session_token, token);
    t.equal((await project.control("DELETE", `/sessions/${token}`)).status, 204);
    const again = (await report(project, token, "erased01", "erased-key")).json;
    t.not(again.session_token, token);
    t.equal(again.accepted, 2);
  });
});

t.test(
  "a session that reports long after its token was issued is found where the lists say that it began",
  async (t) => {
    const project = await fresh();
    const issuedMs = Date.now() - 3_600_000;
    const token = issueToken({ id: project.id, privateKeyHash: hashSecret(project.privateKey) }, issuedMs)!;
    t.equal((await report(project, token, "late0000")).json.session_token, token);
    const began = `${new Date(issuedMs).toISOString().slice(0, 19)}.000Z`;
    const later = new Date(Date.parse(began) + 1).toISOString();
    const found = { data: [{ session_token: token, first_seen_at: began }] };
    t.match((await project.control("GET", "/sessions")).json, found);
    t.match((await project.control("GET", `/sessions/${token}`)).json, found.data[0]);
    const between = async (from: string, to: string) =>
      (await project.control("POST", "/sessions/query", { from, to })).json;
    t.match(await between(began, later), { ...found, matched: 1 });
    t.same((await between(later, new Date(Date.now() + 1000).toISOString())).data, []);
    const minuteEnd = new Date(60_000 * Math.ceil((Date.parse(began) + 1) / 60_000));
    const to = new Date(minuteEnd.getTime() + 1).toISOString();
    const when = { expression: "score > 0", subject: "session", count: 1, minutes: 1 };
    const tested = (await project.control("POST", "/alerts/test", { when, from: began, to })).json;
    t.match(tested, { fired_at: [minuteEnd.toISOString()], evaluated: 1 }, "an alert is tested by that time");
  },
);

interface Forwarded {
  readonly status: number;
  readonly cookies: readonly string[];
}

function forward(project: AskingProject, headers: Record<string, string>): Promise<Forwarded> {
  const lines = Object.fromEntries(navigation.filter(([name]) => name !== "Host" && name !== "Connection"));
  const all = {
    "X-Service-Private-Key": project.privateKey,
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Uri": "/",
    ...lines,
    ...headers,
  };
  return new Promise((done, failed) => {
    request({ host: "127.0.0.1", port: server.port, path: "/v1/forward-auth", headers: all }, (response) => {
      response.resume();
      response.on("end", () => done({ status: response.statusCode!, cookies: response.headers["set-cookie"] ?? [] }));
    })
      .on("error", failed)
      .end();
  });
}

t.test("forward-auth sets the cookie as the SDK would, once the project has it on", async (t) => {
  const project = await fresh();
  t.same((await forward(project, {})).cookies, []);
  t.match((await project.control("GET", "/request-scoring")).json, { enabled: false, issue_tokens: false });
  t.equal((await project.control("PUT", "/request-scoring", { issue_tokens: "yes" })).status, 422);
  t.match((await project.control("PUT", "/request-scoring", { issue_tokens: true })).json, {
    enabled: false,
    issue_tokens: true,
  });
  const plain = await forward(project, {});
  t.match(plain.cookies, [/^service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax$/]);
  const named = {
    "X-Service-Cookie-Name": "mine",
    "X-Service-Cookie-Domain": "shop.example",
    "X-Forwarded-Proto": "https",
  };
  const [cookie = ""] = (await forward(project, named)).cookies;
  t.match(cookie, /^mine=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax; Domain=shop\.example; Secure$/);
  t.same(
    (await forward(project, { ...named, Cookie: cookie.split(";")[0]! })).cookies,
    [],
    "the cookie of that name came back",
  );
  const bad = { "X-Service-Cookie-Name": "a b;", "X-Service-Cookie-Domain": "x; Path=/y" };
  t.match((await forward(project, bad)).cookies, [
    /^service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax$/,
  ]);
  t.same((await forward(project, { "Sec-Fetch-Dest": "image" })).cookies, []);
  await project.enable();
  await project.rule("NOT has_session", "block");
  const blocked = await forward(project, {});
  t.equal(blocked.status, 403);
  t.equal(blocked.cookies.length, 1, "a visitor who is blocked too");
  const token = (await report(project, null, "forward0")).json.session_token;
  t.same((await forward(project, { Cookie: `service_session=${token}` })).cookies, []);
});

t.test("a forged time in a block that the key made is noticed", async (t) => {
  // What the key's owner would have to do to make a token that says another time than its block.
  const issuer = { id: 1, privateKeyHash: "h" };
  const key = createHmac("sha256", "h").update("verdictd session tokens 1").digest().subarray(0, 16);
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  const token = Buffer.concat([Buffer.alloc(5, 1), cipher.update(Buffer.alloc(16))]);
  const { isIssuedToken } = await import("../../src/contract/sessions/issued-token.js");
  t.notOk(isIssuedToken(issuer, token, 1000 * token.readUInt32BE(0)));
});
