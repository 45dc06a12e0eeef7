/** A site behind a real proxy: an application that echoes what reaches it, a proxy run from its recipe, and what both have to do. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { freePort } from "../support/process.js";
import { trafficThroughOutage } from "./claims.js";
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
}

/** Starts the proxy from its recipe; gives when it listens. Ends it with the test. */
export type StartProxy = (t: Test, addresses: Addresses) => Promise<void>;

/** For machines that are busy with other tests: an answer that comes too late for the recipe is let in, as it should be. */
export const patience: readonly (readonly [from: string, to: string])[] = [
  ["150ms", "600ms"],
  ["100ms", "600ms"],
];

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
      // Not listening yet: connecting fails at once, so this is a poll and not a wait.
      await new Promise((done) => setImmediate(done));
    }
  }
}

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers 200 with what reached it; /app-401, /app-403 and /app-500 with that status; /drop cuts the connection. Counts its requests. */
async function application(t: Test): Promise<{ address: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === "/drop") return void request.socket.destroy();
    const status = Number(/^\/app-(\d+)/.exec(request.url ?? "")?.[1] ?? 200);
    let body = "";
    request.on("data", (bytes: Buffer) => {
      body += bytes.toString("utf8");
    });
    request.on("end", () => {
      const { method, url, headers } = request;
      response.writeHead(status).end(JSON.stringify({ method, url, headers, body }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export async function checkProxy(t: Test, start: StartProxy): Promise<void> {
  const verdictd = await startVerdictd(t);
  const app = await application(t);
  const behind = async (privateKey: string): Promise<string> => {
    const sitePort = await freePort();
    // Beside verdictd's store in the test's folder, which another testdir() would empty.
    const folder = join(t.testdirName, `proxy-${sitePort}`);
    mkdirSync(folder);
    await start(t, { verdictd: verdictd.baseUrl.slice(7), privateKey, application: app.address, sitePort, folder });
    return `http://127.0.0.1:${sitePort}`;
  };
  const site = await behind(verdictd.privateKey);
  await t.test("acts", (t) => checkActing(t, site, verdictd));
  await t.test("can't be told lies", (t) => checkLies(t, site, verdictd));
  await t.test("leaves the application's own answers alone", (t) => checkApplication(t, site, verdictd, app.requests));
  await t.test("a wrong private key lets everybody in", async (t) => {
    const open = await behind("sk_wrong");
    t.equal((await fetch(`${open}/block`, { headers: sessionOf(verdictd) })).status, 200);
  });
  await t.test("no visitor gets an error while verdictd is killed, started and frozen", async (t) => {
    const { answered, failures, byPhase } = await trafficThroughOutage(site, sessionOf(verdictd), verdictd);
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
    ["/challenge", 401],
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
