/** A site behind a real proxy: an application that echoes what reaches it, a proxy run from its recipe, and what both have to do. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { agentUrl, newKey, signatureFields } from "../bots/signed/signer.js";
import { browserHeaders, event } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { trafficThroughOutage } from "./claims.js";
import type { Echo } from "./echo.js";
import { checkHostile } from "./hostile.js";
import { checkTokens } from "./issued-tokens-proxy.js";
import { startVerdictd, type VerdictdProcess } from "./verdictd-process.js";

const recipes = join(resolve(dirname(fileURLToPath(import.meta.url)), "../../.."), "src/middleware/recipes");

/** Undefined when the program is there; else why its test can't run. */
export function missing(program: string): string | undefined {
  return spawnSync(program, ["--help"]).error === undefined ? undefined : `no ${program}: it is not installed`;
}

export interface Addresses {
  readonly verdictd: string;
  readonly privateKey: string;
  readonly application: string;
  readonly sitePort: number;
  /** An empty folder for the proxy's files. */
  readonly folder: string;
  /**
   * How long verdictd may take in place of the recipe's 100 and 150 ms. Whose answer comes later is let in, as it should be, and on a machine
   * that is busy with other tests some do.
   */
  readonly answerMs: number;
}

/** Starts the proxy from its recipe; gives when it listens. Ends it with the test. */
export type StartProxy = (t: Test, addresses: Addresses) => Promise<void>;

/** A recipe's text with its addresses, port and key replaced; each must be in it. */
export function recipe(name: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(join(recipes, name), "utf8");
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${name} has no "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Runs a proxy in the foreground until the test ends; resolves once the site answers anything. */
export async function runProxy(
  t: Test,
  command: readonly [string, ...string[]],
  env: Record<string, string>,
  sitePort: number,
): Promise<void> {
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  child.stderr.on("data", (bytes: Buffer) => {
    said += bytes.toString("utf8");
  });
  const exited = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${said}`);
    try {
      await (await fetch(`http://127.0.0.1:${sitePort}/ready`)).arrayBuffer();
      return;
    } catch {
      // Not listening yet.
      await delay(5);
    }
  }
}

/** Answers 200 with what reached it; /app-401, /app-403 and /app-500 with that status; /drop cuts the connection. Counts its requests. */
async function application(t: Test): Promise<{ address: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === "/drop") return void request.socket.destroy();
    const caching = /^\/caching-(.*)$/.exec(request.url ?? "")?.[1];
    if (caching !== undefined) response.setHeader("Cache-Control", decodeURIComponent(caching));
    const status = Number(/^\/app-(\d+)/.exec(request.url ?? "")?.[1] ?? 200);
    let body = "";
    request.on("data", (bytes: Buffer) => {
      body += bytes.toString("utf8");
    });
    request.on("end", () => {
      const { method, url, headers } = request;
      response.writeHead(status).end(JSON.stringify({ method, url, headers, body }));
    });
  });
  return { address: await listening(t, server), requests };
}

/** What reaches the application says how verdictd judged the request. */
async function checkRequests(t: Test, site: string, verdictd: VerdictdProcess): Promise<void> {
  const key = newKey();
  const keys = join(t.testdirName, "keys.json");
  mkdirSync(t.testdirName, { recursive: true });
  writeFileSync(keys, JSON.stringify({ keys: [key.jwk] }));
  t.teardown(() => rmSync(keys, { force: true }));
  await verdictd.command("agents", "add", agentUrl, "--name", "Agent", "--category", "ai_agent");
  await verdictd.command("agents", "import", keys, "--url", agentUrl);
  await verdictd.judgeRequests(true);
  const ask = async (target: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${site}${target}`, { headers });
  const verdictOf = async (target: string, headers: Record<string, string>): Promise<unknown> =>
    ((await (await ask(target, headers)).json()) as Echo).headers["x-verdict"];
  const browser = {
    "User-Agent": browserHeaders["user-agent"],
    Accept: "text/html,*/*;q=0.8",
    "Accept-Language": "en",
  };
  t.equal(await verdictOf("/judged", browser), "likely_human");
  t.match(await verdictOf("/judged", { "User-Agent": "curl/8.5.0" }), /automated|definite/);
  t.equal((await ask("/block", browser)).status, 403, "rules are asked without a session");
  const host = new URL(site).host;
  const signed = (target: string): Record<string, string> => {
    const covered = ['"@target-uri"', '"@authority"', '"@method"', '"signature-agent"'];
    const values = { '"@authority"': host, '"@target-uri"': `https://${host}${target}` };
    const { agent, input, signature } = signatureFields({ key, nowMs: Date.now(), covered, values });
    return { "Signature-Agent": agent, "Signature-Input": input, Signature: signature };
  };
  t.equal(await verdictOf("/judged?q=1&r=%20", signed("/judged?q=1&r=%20")), "verified", "the query is passed on");
  t.not(await verdictOf("/judged?q=2", signed("/judged?q=1")), "verified");
  const long = `/judged?q=${"x".repeat(2500)}`;
  const unsigned = await verdictOf(long, {});
  t.equal(
    await verdictOf(long, signed(long)),
    unsigned,
    "a query too long to be passed on leaves no signature to fail",
  );
  await verdictd.judgeRequests(false);
  t.equal(await verdictOf("/judged", browser), "not_computed");
}

export async function checkProxy(t: Test, start: StartProxy, { speaksHttp2 }: { speaksHttp2: boolean }): Promise<void> {
  // Its default, named: the proxies are on loopback.
  const verdictd = await startVerdictd(t, ["--trusted-proxies", "127.0.0.1"]);
  const app = await application(t);
  const behind = async (privateKey: string, answerMs = 10_000): Promise<string> => {
    const sitePort = await freePort();
    // Beside verdictd's store in the test's folder, which another testdir() would empty.
    const folder = join(t.testdirName, `proxy-${sitePort}`);
    mkdirSync(folder);
    const addresses = {
      verdictd: verdictd.baseUrl.slice(7),
      privateKey,
      application: app.address,
      sitePort,
      folder,
      answerMs,
    };
    await start(t, addresses);
    return `http://127.0.0.1:${sitePort}`;
  };
  const site = await behind(verdictd.privateKey);
  await t.test("whatever a blocked session sends, it stays outside", (t) =>
    checkHostile(t, site, verdictd.sessionToken, app.requests, speaksHttp2),
  );
  await t.test("serves the SDK and its reports", (t) => checkReports(t, site, verdictd, app.requests));
  await t.test("acts", (t) => checkActing(t, site, verdictd));
  await t.test("can't be told lies", (t) => checkLies(t, site, verdictd));
  await t.test("leaves the application's own answers alone", (t) => checkApplication(t, site, verdictd, app.requests));
  await t.test("judges requests without a session, signed ones too", (t) => checkRequests(t, site, verdictd));
  await t.test("passes the cookie with a fresh token on", (t) => checkTokens(t, site, verdictd));
  await t.test("a wrong private key lets everybody in", async (t) => {
    const open = await behind("sk_wrong");
    t.equal((await fetch(`${open}/block`, { headers: sessionOf(verdictd) })).status, 200);
  });
  await t.test("no visitor gets an error while verdictd is killed, started and frozen", async (t) => {
    const hasty = await behind(verdictd.privateKey, 600);
    const { answered, failures, byPhase } = await trafficThroughOutage(hasty, sessionOf(verdictd), verdictd);
    t.same(failures, [], `no visitor of ${answered} got an error`);
    t.match(byPhase, {
      before: { 403: Number },
      killed: { 200: Number },
      after: { 403: Number },
      frozen: { 200: Number },
    });
  });
  await t.test("without verdictd requests arrive whole", async (t) => {
    await verdictd.kill();
    const posted = await fetch(`${site}/block/form?a=b`, {
      method: "POST",
      body: "the body",
      headers: { ...sessionOf(verdictd), "X-Verdict": "forged", "X-Verdict-Action": "forged" },
    });
    t.equal(posted.status, 200);
    const echo = (await posted.json()) as Echo;
    t.match(echo, { method: "POST", url: "/block/form?a=b", body: "the body" });
    t.notMatch(JSON.stringify(echo.headers), "forged");
  });
}

function sessionOf(verdictd: VerdictdProcess): Record<string, string> {
  return { Cookie: `other=${"x".repeat(5000)}; service_session=${verdictd.sessionToken}` };
}

async function checkActing(t: Test, site: string, verdictd: VerdictdProcess): Promise<void> {
  const get = (path: string, headers: Record<string, string> = sessionOf(verdictd)): Promise<Response> =>
    fetch(site + path, { headers: { Accept: "text/html", ...headers } });
  const allowed = await get("/ok?a=b");
  const echo = (await allowed.json()) as Echo;
  t.equal(echo.url, "/ok?a=b");
  t.match(echo.headers, { "x-verdict": /^[a-z_]+$/, "x-verdict-score": /^[1-9]\d?$/, "x-verdict-action": "allow" });
  t.equal(((await (await get("/delay")).json()) as Echo).headers["x-verdict-action"], "delay");
  for (const [path, status] of [
    ["/block?x", 403],
    ["/challenge", 403],
  ] as const) {
    const denied = await get(path);
    const id = denied.headers.get("x-verdict-id") ?? "";
    t.equal(denied.status, status, path);
    t.match(denied.headers.get("content-type"), /^text\/html/);
    t.ok(id !== "" && (await denied.text()).includes(id), "the page shows the verdict's id");
    t.equal(denied.headers.get("x-verdict-score"), null, "and the answer does not tell the score");
  }
  t.equal((await get("/block", { "X-Service-Session": verdictd.sessionToken })).status, 403, "the session by header");
  t.equal((await get("/block", {})).status, 200, "no session");
  t.equal((await get("/block", { Cookie: "service_session=sess_unknown" })).status, 200, "an unknown session");
  t.equal((await get("/by-agent", { ...sessionOf(verdictd), "User-Agent": "curly/8" })).status, 403);
  const deleted = await fetch(`${site}/by-method`, { method: "DELETE", headers: sessionOf(verdictd) });
  t.equal(deleted.status, 403);
  const posted = await fetch(`${site}/ok`, { method: "POST", body: "the body", headers: sessionOf(verdictd) });
  t.match((await posted.json()) as Echo, { method: "POST", body: "the body" });
}

/** What a visitor sends in the headers between proxy and verdictd, or proxy and application, counts for nothing. */
async function checkLies(t: Test, site: string, verdictd: VerdictdProcess): Promise<void> {
  const statusOf = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(site + path, { headers: { ...sessionOf(verdictd), ...headers } })).status;
  t.equal(await statusOf("/block", { "X-Forwarded-Uri": "/ok", "X-Original-URI": "/ok" }), 403, "the path");
  t.equal(await statusOf("/by-ip", { "X-Forwarded-For": "203.0.113.9" }), 200, "the address");
  t.equal(await statusOf("/block", { Authorization: "Bearer sk_mine" }), 403, "the key");
  t.equal(await statusOf("/block", { "X-Service-Private-Key": "sk_mine" }), 403, "the key in the other header");
  const forged = await fetch(`${site}/ok`, { headers: { "X-Verdict": "forged", "X-Verdict-Action": "forged" } });
  t.notMatch(JSON.stringify(((await forged.json()) as Echo).headers), "forged");
}

/** The SDK and what it reports are reached on the site's own domain, and nothing else of verdictd. */
async function checkReports(t: Test, site: string, verdictd: VerdictdProcess, requests: string[]): Promise<void> {
  requests.length = 0;
  for (const encoding of ["gzip", "identity"]) {
    const sdk = await fetch(`${site}/sdk.js?x=${"y".repeat(7000)}`, { headers: { "Accept-Encoding": encoding } });
    t.equal(sdk.status, 200);
    t.match(sdk.headers.get("content-type"), /javascript/);
    t.match(await sdk.text(), /\/v1\/events/);
    const cached = { "Accept-Encoding": encoding, "If-None-Match": sdk.headers.get("etag") ?? "" };
    t.equal((await fetch(`${site}/sdk.js`, { headers: cached })).status, 304);
  }
  const report = async (bytes: number, headers: Record<string, string> = {}): Promise<Response> => {
    const events = [event("through-the-proxy-1", { path: "//a/./b" })];
    const body = JSON.stringify({ session_token: null, events });
    return fetch(`${site}/v1/events?x=y`, {
      method: "POST",
      // A browser sends the site's own cookies along, and verdictd gets none of them.
      headers: { "X-Service-Site-Key": verdictd.siteKey, Cookie: "a".repeat(6000), ...headers },
      body: body + " ".repeat(Math.max(0, bytes - body.length)),
    });
  };
  const long = { Referer: `${site}/${"r".repeat(7000)}`, "User-Agent": "u".repeat(3000) };
  for (const [bytes, headers] of [
    [0, {}],
    [0, long],
    [256 * 1024, {}],
  ] as const) {
    const answer = await report(bytes, headers);
    t.equal(answer.status, 202, `${bytes}: ${await answer.clone().text()}`);
    t.match(((await answer.json()) as { session_token: string }).session_token, /^sess_/);
  }
  const key = { "Idempotency-Key": "of-this-test" };
  const tokens = [await report(0, key), await report(0, key)].map(async (answer) => (await answer.json()) as object);
  t.same(await tokens[0], { ...((await tokens[1]) as object), accepted: 1, duplicates: 0 }, "the key is passed on");
  // nginx by its length; Caddy 2.6 once it has read as much.
  t.match(String((await report(256 * 1024 + 1)).status), /^(413|502)$/, "more is refused by the proxy");
  t.same(requests, [], "nothing of it reaches the application");
  await fetch(`${site}/v1/sessions/${verdictd.sessionToken}/verdict`);
  t.equal(requests.length, 1, "and nothing else reaches verdictd");
}

async function checkApplication(t: Test, site: string, verdictd: VerdictdProcess, requests: string[]): Promise<void> {
  for (const status of [401, 403, 500]) {
    const response = await fetch(`${site}/app-${status}`, { headers: sessionOf(verdictd) });
    t.equal(response.status, status);
    t.match((await response.json()) as Echo, { url: `/app-${status}` });
  }
  requests.length = 0;
  const response = await fetch(`${site}/drop`, { method: "POST", body: "pay", headers: sessionOf(verdictd) });
  t.equal(response.status, 502);
  t.same(requests, ["/drop"], "a request that the application dropped is not sent to it again");
}
