/** The log of the real process: every endpoint is driven with secrets and addresses, then the whole log is searched for them. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import t from "tap";
import { isNewerRelease } from "../../src/http/uws.js";
import { createLog, loggedNetwork, scrubbed } from "../../src/runtime/log.js";
import type { Ask } from "../support/ask.js";
import { batch, browserHeaders } from "../support/batches.js";
import type { Owner } from "../support/owner.js";
import { type Served, serve } from "../support/process.js";
import { client, tenantOf } from "./traffic.js";

const visitor = "203.0.113.77";
const visitorV6 = "2001:db8:77:88::99";

/** Requests to every endpoint, right and wrong, that carry credentials wherever a client might put them. */
async function driveEverything(server: Served, tenant: Owner): Promise<string[]> {
  const { ask, ingest } = client(server, tenant);
  const wrong = ["sk_", "pk_", "vat_"].map((prefix) => prefix + randomBytes(24).toString("base64url"));
  const [wrongPrivate, wrongSite, wrongToken] = wrong as [string, string, string];
  const cookie = "service_session=sess_abcdefghijklmnopqrstuvwxyz";
  const forwarded = { "x-forwarded-for": `${visitor}, 10.0.0.1`, cookie };
  const first = await ingest(batch("logged-first"), forwarded);
  await ingest(batch("logged-second"), { "x-forwarded-for": visitorV6, "user-agent": "Googlebot/2.1" });
  const session: string = first.json.session_token;
  const project = `/v1/projects/${tenant.projectId}`;
  const context = `?ip=${visitor}&path=/account/${wrongPrivate}`;
  const paths: [method: string, path: string, body?: object][] = [
    ["POST", "/v1/events", { session_token: session, site_key: wrongSite, events: [] }],
    ["GET", `/v1/sessions/${session}/verdict${context}`],
    ["POST", `/v1/sessions/${session}/logged-in`],
    ["POST", `${project}/scoring`],
    ["GET", `${project}/scoring`],
    ["PUT", `${project}/scoring/settings`, { allow_verified: wrongPrivate }],
    ["POST", `${project}/scoring/rotate`, { type: wrongPrivate }],
    ["GET", `${project}/rules`],
    ["POST", `${project}/rules`, { name: wrongPrivate, expression: `ip == "${visitor}" AND`, action: "block" }],
    ["PATCH", `${project}/rules/1`, { name: wrongToken }],
    ["DELETE", `${project}/rules/999`],
    ["GET", `${project}/sessions/${session}`],
    ["GET", `${project}/blocks`],
    ["GET", `${project}/stats`],
    ["GET", "/v1/account"],
    ["GET", "/user"],
    ["GET", "/v1/verified-bots/export"],
    ["GET", `/v1/forward-auth?ip=${visitor}&key=${wrongPrivate}`],
    ["GET", `${project}/sessions`],
    ["POST", `${project}/rules/test`, { expression: `ip == "${visitor}"`, action: wrongPrivate }],
    ["OPTIONS", "/v1/events"],
    ["GET", "/openapi.json"],
    ["GET", "/v1/detections"],
    ["GET", "/sdk.js"],
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", `/nowhere/${session}?token=${tenant.token}`],
    ["DELETE", `/v1/sessions/${session}/verdict`],
  ];
  // Side by side, because wrong credentials are answered late.
  const asked = paths.flatMap(([method, path, body]) => {
    const options: Ask = { headers: { ...browserHeaders, ...forwarded }, body };
    const tokens = [tenant.token, tenant.privateKey, tenant.siteKey, ...wrong, ""];
    return tokens.map((token) => ask(method, path, token === "" ? options : { ...options, token }));
  });
  await Promise.all(asked);
  await server.admin(`/metrics?token=${tenant.token}`, { headers: { authorization: `Bearer ${tenant.token}` } });
  const { token, siteKey, privateKey } = tenant;
  return [token, siteKey, privateKey, session, ...wrong];
}

t.test("nothing that a client sends as a secret is logged, at any level", async (t) => {
  const server = await serve(t, t.testdir(), {
    flags: ["--log-level", "trace", "--trusted-proxies", "127.0.0.1", "--http-threads", "2"],
  });
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/account`);
  const requestId = answer.headers.get("x-request-id");
  t.match(await server.logged("request"), { requestId, route: "/v1/account", method: "GET", status: 401 });
  const secrets = await driveEverything(server, await tenantOf(server));
  t.equal(await server.end("SIGTERM"), 0);
  const log = server.lines.join("\n");
  for (const secret of secrets) t.notOk(log.includes(secret), `${secret.slice(0, 5)}… is not in the log`);
  for (const prefix of ["sk_", "pk_", "vat_", "sess_"]) t.notOk(log.includes(prefix), `nothing with ${prefix}`);
  for (const address of [visitor, visitorV6, "10.0.0.1"])
    t.notOk(log.includes(address), `${address} is not in the log`);
  const requests = server.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
  t.ok(requests.length > 150, "each request has its line at debug");
  for (const { requestId, method, route, status, level, durationMs } of requests) {
    if (!(requestId && method && route.startsWith("/") && status >= 200 && level === "debug" && durationMs >= 0)) {
      t.fail(`a line lacks something: ${JSON.stringify({ requestId, method, route, status })}`);
    }
  }
  t.equal(new Set(requests.map(({ requestId }) => requestId)).size, requests.length, "each has an id of its own");
});

t.test("at info requests have no lines", async (t) => {
  const server = await serve(t, join(t.testdir(), "store"), { flags: ["--strict-abilities"] });
  const { ask, ingest } = client(server, await tenantOf(server));
  await ingest(batch("quiet"));
  await ask("GET", "/v1/account");
  await server.end("SIGTERM");
  // What a cluster lacks is said at every start.
  const messages = server.lines.map((line) => JSON.parse(line).msg).filter((message) => message !== "the cluster");
  const empty = /^there is no account yet.*: create the first one with `verdictd init --(store URL|data-dir .*store)`$/;
  const start = [/^HTTP parser/, "admin listening", /^private memory/, "listening", empty];
  t.equal(messages.length, start.length + 2);
  t.match(messages, [...start, "stopping", "stopped"]);
});

t.test("the start says once which release of the HTTP parser runs", async (t) => {
  const server = await serve(t, join(t.testdir(), "store"), { flags: ["--http-threads", "2"] });
  const parsers = server.log.flatMap((line) => line["parser"] ?? []);
  t.same(parsers, [isNewerRelease ? "newer" : "older"]);
});

t.test("an address is shortened to its network", async (t) => {
  const cases = {
    "203.0.113.77": "203.0.113.0/24",
    "::ffff:203.0.113.77": "203.0.113.0/24",
    "0000:0000:0000:0000:0000:ffff:203.0.113.77": "203.0.113.0/24",
    "2001:db8:77:88::99": "2001:db8:77::/48",
    "2001:0db8:0077:0088:0000:0000:0000:0099": "2001:db8:77::/48",
    "2001::99": "2001::/48",
    "fe80::1": "fe80::/48",
    "::1": "::1",
    "0000:0000:0000:0000:0000:0000:0000:0001": "::1",
    "127.0.0.1": "127.0.0.1",
    nonsense: "",
    "": "",
  };
  for (const [address, network] of Object.entries(cases)) t.equal(loggedNetwork(address), network, address);
});

t.test("errors are scrubbed wherever they come from", async (t) => {
  const text = "no sk_abcdefgh, Bearer abc.def, for 203.0.113.77:443 and 2001:db8:1:2::3 in file:///srv/main.js:12:34";
  t.equal(
    scrubbed(text),
    "no sk_[secret], Bearer [secret], for 203.0.113.0/24:443 and 2001:db8:1::/48 in file:///srv/main.js:12:34",
  );
  t.equal(scrubbed("at 10:12:14 of node:internal/process:1:2"), "at 10:12:14 of node:internal/process:1:2");
  t.equal(createLog("silent").level, "silent");
});
