/** Requests judged by forward-auth, and signed requests by both entrances, on a server with two HTTP threads behind a trusted proxy. */
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { ruleRecipes } from "../../src/console/rule-recipes.js";
import { newKey, type SignOptions, signatureFields } from "../bots/signed/signer.js";
import { RawClient } from "../support/raw-socket.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

const agentUrl = "https://agent.example";
const key = newKey();
const folder = t.testdir({ data: {}, "keys.json": JSON.stringify({ keys: [key.jwk] }) });
const flags = ["--http-threads", "2", "--trusted-proxies", "127.0.0.1", "--ja4-header", "CF-JA4"];
const server = await startServer(t, flags, `${folder}/data`);
const tenant = await firstTenant(server);
const fresh = () => askingProject(server, tenant);
await server.command("agents", "add", agentUrl, "--name", "Agent", "--category", "ai_agent");
await server.command("agents", "import", `${folder}/keys.json`, "--url", agentUrl);

/** The browser's lines that a proxy passes on. */
const visitor = Object.fromEntries(navigation.filter(([name]) => name !== "Host" && name !== "Connection"));

interface Asked {
  readonly status: number;
  readonly verdict: string;
  readonly score: number;
  readonly action: string;
}

/** Asks as a proxy does. A connection of its own, since either thread may take it. */
function forward(project: AskingProject, headers: Record<string, string | string[]>): Promise<Asked> {
  return new Promise((done, failed) => {
    const all = { "X-Service-Private-Key": project.privateKey, "X-Forwarded-For": "203.0.113.7", ...headers };
    const agent = new Agent({ keepAlive: false });
    const path = "/v1/forward-auth";
    request({ host: "127.0.0.1", port: server.port, path, headers: all, agent }, (response) => {
      response.resume();
      const shown = (name: string) => String(response.headers[name]);
      response.on("end", () =>
        done({
          status: response.statusCode ?? 0,
          verdict: shown("x-verdict"),
          score: Number(shown("x-verdict-score")),
          action: shown("x-verdict-action"),
        }),
      );
    })
      .on("error", failed)
      .end();
  });
}

t.test("while request scoring is off, a visitor without a session is let in unseen", async (t) => {
  const project = await fresh();
  await project.rule("NOT has_session", "block");
  t.match(await forward(project, { "X-Forwarded-Uri": "/" }), { status: 204, verdict: "not_computed", score: 0 });
});

t.test("once it is on, forward-auth judges what the proxy passes on", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('NOT has_session AND path starts_with "/closed"', "block");
  await project.rule('declared_bot == "curl"', "challenge");
  const https = { ...visitor, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example" };
  t.match(await forward(project, { ...https, "X-Forwarded-Uri": "/open" }), { status: 204, verdict: "likely_human" });
  t.match(await forward(project, { ...https, "X-Forwarded-Uri": "/closed?x" }), { status: 403, action: "block" });
  const curl = { "User-Agent": "curl/8.5.0", Accept: "*/*", "X-Forwarded-Uri": "/open" };
  const judged = await forward(project, curl);
  t.match(judged, { status: 401, action: "challenge" });
  // Traefik passes a refusal on whole: it tells visitors no score.
  t.ok(Number.isNaN(judged.score), `score ${judged.score}`);
  const token = await project.person("forward0");
  const withSession = { ...https, "X-Forwarded-Uri": "/closed", Cookie: `service_session=${token}` };
  t.match(await forward(project, withSession), { status: 204, verdict: "likely_human" });
});

t.test("an empty header is a missing one, and the proxy's own lines are not the visitor's", async (t) => {
  const project = await fresh();
  await project.enable();
  const told = { "User-Agent": "curl/8.5.0", Accept: "*/*", "X-Forwarded-Host": "shop.example" };
  const plain = await forward(project, told);
  const empty = Object.fromEntries(Object.keys(visitor).map((name) => [name, ""]));
  t.same(await forward(project, { ...empty, ...told }), plain);
  const own = {
    "X-Forwarded-Port": "443",
    "X-Original-Uri": "/",
    Via: "1.1 a",
    Forwarded: "for=1",
    Authorization: "x",
  };
  t.same(await forward(project, { ...own, ...told }), plain);
});

t.test("requests of an address are counted here too, and blocked ones recorded without a session", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule("requests_per_minute > 2", "block");
  const from = { ...visitor, "X-Forwarded-For": "198.51.100.20" };
  t.equal((await forward(project, from)).status, 204);
  await project.judge({ ip: "198.51.100.20" });
  t.equal((await forward(project, from)).status, 403);
  t.equal((await forward(project, { ...from, "X-Forwarded-For": "198.51.100.21" })).status, 204);
  const found = async () => (await project.control("GET", "/blocks")).json.data;
  let rows = await found();
  for (let tries = 0; tries < 200 && rows.length === 0; tries++) rows = await found();
  t.match(rows, [{ session_token: null, count: 1 }]);
});

t.test("what each thread counted of a block is seen, whichever is asked", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('path == "/closed"', "block");
  const closed = { ...visitor, "X-Forwarded-For": "198.51.100.30", "X-Forwarded-Uri": "/closed" };
  const count = 40;
  for (let round = 0; round < count; round++) t.equal((await forward(project, closed)).status, 403);
  const counted = await askUntil(
    () => project.control("GET", "/blocks"),
    ({ json }) => json.data.reduce((sum: number, row: { count: number }) => sum + row.count, 0) === count,
  );
  t.ok(counted.json.data.length <= 2, "one record a minute, which may end in between");
});

t.test("JA4 is taken from the trusted proxy's header, and no other", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('ja4 == "t13d1516h2_8daaf6152771_e5627efa2ab1"', "block");
  const ja4 = "t13d1516h2_8daaf6152771_e5627efa2ab1";
  t.equal((await forward(project, { ...visitor, "CF-JA4": ja4 })).status, 403);
  t.equal((await forward(project, { ...visitor, "X-JA4": ja4 })).status, 204);
  t.equal((await project.judge({ headers: [["CF-JA4", ja4]] })).json.action, "allow");
});

/** Lines of a signed `GET https://shop.example/search?q=1`. */
function signedLines(more: Partial<SignOptions> = {}): Record<string, string> {
  const { agent, input, signature } = signatureFields({ key, nowMs: Date.now(), ...more });
  return { "User-Agent": "Agent/1.0", "Signature-Agent": agent, "Signature-Input": input, Signature: signature };
}

const target = { method: "GET", path: "/search?q=1", host: "shop.example", ip: "203.0.113.7" };
const proxied = {
  "X-Forwarded-Method": "GET",
  "X-Forwarded-Uri": "/search?q=1",
  "X-Forwarded-Host": "Shop.Example:443",
  "X-Forwarded-Proto": "https",
};
const listOf = (lines: Record<string, string>) => Object.entries(lines);

t.test("a signature made for another host is none of this site's, whatever Host the visitor sends", async (t) => {
  const project = await fresh();
  await project.enable({ hosts: ["shop.example"] });
  await project.rule('signature == "unverified"', "challenge");
  // A site that tells verdictd of its visitor's request as it came.
  const site = createServer(async (incoming, response) => {
    const headers = incoming.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1]]] : []));
    const { method, url: path } = incoming;
    const { json } = await project.judge({ method, path, host: incoming.headers.host, ip: "203.0.113.7", headers });
    response.end(`${json.verdict} ${json.action}`);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  t.teardown(() => site.close());
  const visit = async (host: string): Promise<string | undefined> => {
    const lines = signedLines({ values: { '"@authority"': host } });
    const written = listOf({ Host: host, ...lines }).map(([name, value]) => `${name}: ${value}`);
    const client = await RawClient.open((site.address() as AddressInfo).port);
    await client.write(["GET /search?q=1 HTTP/1.1", ...written, "", ""].join("\r\n"));
    const answer = await client.answer();
    client.leave();
    return answer?.body;
  };
  t.equal(await visit("shop.example"), "verified allow");
  t.match(await visit("evil.example"), /^(?!verified).* challenge$/);
  const lines = signedLines({ values: { '"@authority"': "evil.example" } });
  t.match(await forward(project, { ...proxied, "X-Forwarded-Host": "evil.example", ...lines }), { status: 401 });
});

t.test("a signed request is verified by both entrances, in both forms", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('signature == "verified" OR band == "verified"', "block");
  for (const form of ["string", "dictionary"] as const) {
    const lines = signedLines({ form });
    const { json } = await project.judge({ ...target, headers: listOf(lines) });
    t.match(json, {
      verdict: "verified",
      action: "allow",
      verified_bot_category: "ai_agent",
      subject: "request",
      signed_agent: { agent: "agent.example", category: "ai_agent" },
    });
    t.match(json.reason, /Agent.*signed agents are let through/);
    t.match(await forward(project, { ...proxied, ...lines }), { status: 204, verdict: "verified", action: "allow" });
  }
  const covered = ['"@method"', '"@target-uri"', '"@query"', '"signature-agent"'];
  const all = signedLines({ covered });
  t.equal((await project.judge({ ...target, headers: listOf(all) })).json.verdict, "verified");
  t.equal((await forward(project, { ...proxied, ...all })).verdict, "verified");
  const routed = { ...target, path: "/Routed", headers: listOf(all) };
  t.not((await project.judge(routed)).json.verdict, "verified", "a router's path is not what was signed");
  t.equal((await project.judge({ ...routed, target: target.path })).json.verdict, "verified", "but the target is");
  await project.enable({ signed_agents: "rules" });
  t.match((await project.judge({ ...target, headers: listOf(all) })).json, { verdict: "verified", action: "block" });
});

t.test("the console's recipe for signed agents lets them in above a rule that blocks everybody", async (t) => {
  const { expression, action } = ruleRecipes.find(({ name }) => name === "Let signed AI agents in")!;
  const project = await fresh();
  await project.enable({ signed_agents: "rules" });
  await project.rule(expression, action, { sort_order: -1 });
  await project.rule("NOT has_session", "block");
  const actionOf = async (lines: Record<string, string>) =>
    (await project.judge({ ...target, headers: listOf(lines) })).json.action;
  t.equal(await actionOf(signedLines()), "allow");
  t.equal(await actionOf({ "User-Agent": "Agent/1.0" }), "block");
  t.equal(await actionOf(signedLines({ key: newKey() })), "block", "an unknown key");
});

t.test("what a signature is worth is a rule field, and only a failing one is evidence", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('signature == "invalid"', "block", { sort_order: -3 });
  await project.rule('signature == "unverified"', "delay", { sort_order: -2 });
  await project.rule('signed_agent == "agent.example"', "challenge", { sort_order: -1 });
  const action = async (lines: Record<string, string>, more: object = {}) =>
    (await project.judge({ ...target, headers: listOf(lines), ...more })).json;
  t.equal((await action({ "User-Agent": "Agent/1.0" })).action, "allow");
  const stranger = newKey();
  t.equal((await action(signedLines({ key: stranger }))).action, "delay", "an unknown key");
  const expired = await action(signedLines({ params: { created: "1000", expires: "1600" } }));
  t.equal(expired.action, "block");
  t.ok(expired.score < 30 && expired.detection_ids.some((id: number) => id >= 400_000), "evidence of 4xxxxx");
  t.equal((await action(signedLines(), { host: "other.example" })).action, "block", "signed for another host");
  const covered = ['"@authority"', '"signature-agent"', '"x-more"'];
  const more = signedLines({ covered, values: { '"x-more"': "1" } });
  t.equal((await action(more)).action, "block", "as received, and a covered field is not there");
  t.equal((await project.judge({ ...target, headers: more })).json.action, "delay", "a choice of headers may lack it");
  t.match(await forward(project, { ...proxied, ...more }), { action: "delay" }, "and so may a proxy");
  const byPath = signedLines({ covered: ['"@authority"', '"@path"', '"signature-agent"'] });
  t.equal((await action(byPath, { path: undefined })).action, "delay", "not told");
});

t.test("a nonce counts once, whichever thread is asked, but for the same request within ten seconds", async (t) => {
  const project = await fresh();
  await project.enable();
  const lines = signedLines({ params: { nonce: '"once"' } });
  t.equal((await forward(project, { ...proxied, ...lines })).verdict, "verified");
  const again = await Promise.all(Array.from({ length: 16 }, () => forward(project, { ...proxied, ...lines })));
  t.same(new Set(again.map(({ verdict }) => verdict)), new Set(["verified"]), "a proxy and a middleware may both ask");
  t.equal((await project.judge({ ...target, headers: listOf(lines) })).json.verdict, "verified");
  const elsewhere = { ...proxied, ...lines, "X-Forwarded-For": "198.51.100.9" };
  const replayed = await Promise.all(Array.from({ length: 16 }, () => forward(project, elsewhere)));
  t.notOk(replayed.some(({ verdict }) => verdict === "verified"));
  t.equal((await project.judge({ ...target, path: "/other", headers: listOf(lines) })).json.signed_agent, undefined);
});

t.test("a proxy that leaves while a signature is verified leaves nothing behind", async (t) => {
  const project = await fresh();
  await project.enable();
  const lines = { "X-Service-Private-Key": project.privateKey, ...proxied };
  for (let round = 0; round < 20; round++) {
    const signed = { ...lines, ...signedLines({ params: { nonce: `"n${round}"` } }) };
    const client = await RawClient.open(server.port);
    const text = Object.entries(signed).map(([name, value]) => `${name}: ${value}\r\n`);
    client.write(`GET /v1/forward-auth HTTP/1.1\r\nHost: a\r\n${text.join("")}\r\n`);
    client.leave();
  }
  t.equal((await forward(project, { ...proxied, ...signedLines() })).verdict, "verified");
});
