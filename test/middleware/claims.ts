/**
 * What every middleware has to do, checked against the real framework and a real verdictd. A framework's test says how an application
 * with the middleware is started; the application answers 200 with its `Seen` on every path, and POST /login reports the login.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Test } from "tap";
import { type ClientFailure, createClient, type LoggedIn, type VerdictClient } from "../../src/client/client.js";
import type { DenialPages } from "../../src/middleware/denial-page.js";
import type { RouterIgnores, Visit } from "../../src/middleware/guard.js";
import { RawClient } from "../support/raw-socket.js";
import type { VerdictdProcess } from "./verdictd-process.js";

/** What the application got to see. */
interface Seen {
  readonly path: string;
  readonly visit: Pick<Visit, "verdict" | "sessionToken" | "context"> | null;
}

export interface AppOptions {
  readonly client: VerdictClient;
  /** `own`: a hook that answers 418 with the text "prove it"; `passes`: one that lets in; `throws`: one that throws. */
  readonly challenge?: "allow" | "page" | "own" | "passes" | "throws";
  readonly skipStatic?: boolean;
  readonly routerIgnores?: readonly RouterIgnores[];
  readonly delayMs?: number;
  readonly pages?: DenialPages;
  /** `throws`: hooks for the address and for skipping that throw. */
  readonly hooks?: "throws";
  readonly onVerdict?: (visit: Visit) => void;
}

/** Starts the application on a port of loopback; gives its address. Stops it with the test. */
export type StartApp = (t: Test, options: AppOptions) => Promise<string>;

/** A visit as an application answers it. */
export function seenOf(path: string, visit: Visit | null | undefined): Seen {
  if (!visit) return { path, visit: null };
  const { verdict, sessionToken, context } = visit;
  return { path, visit: { verdict, sessionToken, context } };
}

interface Rig {
  readonly verdictd: VerdictdProcess;
  readonly failures: ClientFailure[];
  readonly client: (mode?: "monitor" | "enforce") => VerdictClient;
}

export async function checkMiddleware(t: Test, start: StartApp, verdictd: VerdictdProcess): Promise<void> {
  const failures: ClientFailure[] = [];
  const client: Rig["client"] = (mode = "enforce") =>
    createClient({
      baseUrl: verdictd.baseUrl,
      privateKey: verdictd.privateKey,
      // Two shared cores: what is tested here is not the time limit.
      timeoutMs: 10_000,
      mode,
      onError: (failure) => failures.push(failure),
    });
  const rig = { verdictd, failures, client };
  await t.test("attaches", (t) => checkAttaching(t, start, rig));
  await t.test("acts", (t) => checkActing(t, start, rig));
  await t.test("challenges", (t) => checkChallenging(t, start, rig));
  await t.test("can't be told lies", (t) => checkLies(t, start, rig));
  await t.test("never breaks the page", (t) => checkSafety(t, start, rig));
}

async function checkAttaching(t: Test, start: StartApp, { verdictd, client }: Rig): Promise<void> {
  const { sessionToken } = verdictd;
  const asked: Visit[] = [];
  const app = await start(t, { client: client(), skipStatic: true, onVerdict: (visit) => asked.push(visit) });
  const cookie = { Cookie: `a=b; service_session=${sessionToken}` };

  const plain = await seen(app, "/ok?secret=1", { ...cookie, "User-Agent": "agent/1" });
  t.match(plain.visit, {
    sessionToken,
    verdict: { verdict: /human|automated|definite/, action: "allow", failed: null, requestId: /./ },
    context: { path: "/ok", method: "GET", host: new URL(app).host, ip: /127\.0\.0\.1$/, userAgent: "agent/1" },
  });
  t.match((await seen(app, "/ok", { "X-Service-Session": sessionToken })).visit, { sessionToken }, "by header");
  t.match((await seen(app, "/ok", {})).visit, { sessionToken: null, verdict: { action: "allow", failed: null } });
  t.match((await seen(app, "/ok", { Cookie: "service_session=sess_unknown" })).visit, {
    verdict: { verdict: "not_computed", action: "allow", failed: null, requestId: /./ },
  });
  const askedBefore = asked.length;
  t.match((await seen(app, "/block/logo.png", cookie)).visit, {
    verdict: { verdict: "not_computed", requestId: null },
  });
  t.equal(asked.length, askedBefore, "a static resource is not asked about");
  await checkSkippedParts(t, start, client(), cookie);

  const login = await fetch(`${app}/login`, { method: "POST", headers: cookie });
  t.match((await login.json()) as LoggedIn, { ok: true, assertedAt: /^\d{4}-/ });
}

/** By default pictures, styles, scripts and fonts are not asked about; what people come for is, and so is a POST. */
async function checkSkippedParts(
  t: Test,
  start: StartApp,
  client: VerdictClient,
  cookie: Record<string, string>,
): Promise<void> {
  const paths: string[] = [];
  const onVerdict = ({ context }: Visit) => paths.push(`${context.method} ${context.path}`);
  const app = await start(t, { client, onVerdict });
  for (const path of ["/a.png", "/a.css", "/a.js?v=1", "/a.woff2", "/list.pdf", "/feed.xml"])
    await seen(app, path, cookie);
  await (await fetch(`${app}/login.css`, { method: "POST", headers: cookie })).arrayBuffer();
  t.same(paths, ["GET /list.pdf", "GET /feed.xml", "POST /login.css"]);
  paths.length = 0;
  const strict = await start(t, { client, skipStatic: false, onVerdict });
  await seen(strict, "/a.png", cookie);
  t.same(paths, ["GET /a.png"], "unless nothing is to be skipped");
}

async function checkActing(t: Test, start: StartApp, { verdictd, client }: Rig): Promise<void> {
  const session = { Cookie: `service_session=${verdictd.sessionToken}` };
  const app = await start(t, { client: client(), delayMs: 300, pages: { block: { contact: "<Call> us" } } });

  const page = await fetch(`${app}/block`, { headers: { ...session, Accept: "text/html,*/*" } });
  const html = await page.text();
  t.equal(page.status, 403);
  t.match(page.headers.get("content-type"), /^text\/html/);
  t.match(page.headers.get("content-security-policy"), /default-src 'none'/);
  t.equal(page.headers.get("cache-control"), "no-store");
  const id = page.headers.get("x-verdict-id") ?? "";
  t.match(id, /^[\w-]{8,}$/);
  t.ok(html.includes(`<code>${id}</code>`), "the page shows the verdict's id");
  t.ok(html.includes("&lt;Call&gt; us"), "the customer's words are escaped");
  t.notOk(html.includes(verdictd.privateKey) || html.includes(verdictd.sessionToken));

  const api = await fetch(`${app}/block`, { headers: { ...session, Accept: "application/json" } });
  t.equal(api.status, 403);
  t.same(await api.json(), {
    error: "Access denied",
    message: "This request looks automated, so it was not let through.",
    code: "REQUEST_BLOCKED",
    verdict_id: api.headers.get("x-verdict-id"),
  });
  t.equal((await fetch(`${app}/bl%6Fck`, { headers: session })).status, 403, "an encoded path is no way around");
  t.equal((await fetch(`${app}/block`)).status, 200, "no session, no block");

  const order: string[] = [];
  await Promise.all([
    seen(app, "/delay", session).then(({ visit }) => order.push(visit?.verdict.action ?? "")),
    seen(app, "/ok", session).then(({ visit }) => order.push(visit?.verdict.action ?? "")),
  ]);
  t.same(order, ["allow", "delay"], "the delayed visitor is overtaken, and let in");

  const monitoring = await start(t, { client: client("monitor"), challenge: "page" });
  for (const action of ["block", "challenge", "delay"]) {
    const { visit } = await seen(monitoring, `/${action}`, session);
    t.match(visit?.verdict, { action: "allow", resolvedAction: action }, `monitor mode attaches ${action} and lets in`);
  }
}

/** Over raw sockets: whatever a blocked session sends, it is blocked, or the server refuses it, and the next visitor is served. */
async function checkLies(t: Test, start: StartApp, { verdictd, client, failures }: Rig): Promise<void> {
  const token = verdictd.sessionToken;
  const cookie = `Cookie: service_session=${token}\r\n`;
  const app = await start(t, { client: client(), skipStatic: true });
  const ask = async (base: string, target: string, lines: string): Promise<number> => {
    const raw = await RawClient.open(Number(new URL(base).port));
    raw.write(
      Buffer.from(`GET ${target} HTTP/1.1\r\nHost: shop.example\r\n${lines}Connection: close\r\n\r\n`, "latin1"),
    );
    const status = (await raw.answer())?.status ?? 0;
    raw.leave();
    return status;
  };
  failures.length = 0;
  for (const target of [
    "//block",
    "/./block",
    "/x/../block",
    "/%62lock",
    "http://shop.example/block",
    "/block;x.css",
    "/block/;.css",
    "/x.css/../block",
    "/block%2F.css",
    "/block/x.css.",
    `/${"x/../".repeat(1500)}block`,
    `/block?${"q".repeat(8000)}.css`,
  ]) {
    t.equal(await ask(app, target, cookie), 403, target.slice(0, 60));
  }
  for (const [what, lines] of [
    ["a long user agent", `${cookie}User-Agent: ${"u".repeat(8000)}\r\n`],
    ["bytes that are no text", `${cookie}User-Agent: \xff\xfe\xc3 \x80\r\n`],
    ["a tab", `${cookie}User-Agent: a\tb\r\n`],
    ["many headers", `${cookie}${Array.from({ length: 500 }, (_, index) => `X${index}: y\r\n`).join("")}`],
    ["a context of the visitor's own", `${cookie}X-Service-Request-Path: /ok\r\nX-Service-Client-IP: 1.1.1.1\r\n`],
    ["an address that the application does not trust", `${cookie}X-Forwarded-For: x, ${"1".repeat(5000)}\r\n`],
    ["the session twice", `Cookie: service_session=x; service_session=${token}\r\n${cookie}`],
    ["the session by a header sent twice", `X-Service-Session: ${token}\r\nX-Service-Session: ${token}\r\n`],
    ["a broken header and a good cookie", `X-Service-Session: x\r\n${cookie}`],
    [
      "a header that says another session than the cookie",
      `X-Service-Session: ${token}\r\nCookie: service_session=sess_x\r\n`,
    ],
  ] as const) {
    t.equal(await ask(app, "/block", lines), 403, what);
  }
  for (const lines of [`${cookie}User-Agent: a\x01b\r\n`, `${cookie}User-Agent: a\x00b\r\n`]) {
    t.match(String(await ask(app, "/block", lines)), /^(?:403|400|0)$/, "control characters");
  }
  t.equal(await ask(app, "/by-ip", `${cookie}X-Forwarded-For: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\n`), 200);
  t.same(failures, [], "none of it fails at verdictd");
  t.equal(await ask(app, "/ok", cookie), 200, "an honest request passes");

  const exact = await start(t, { client: client(), routerIgnores: [] });
  t.equal(await ask(exact, "/BLOCK", cookie), 200, "case is kept");
  const folding = await start(t, { client: client(), routerIgnores: ["case", "trailing-slash", "path-parameters"] });
  for (const target of ["/BLOCK", "/%42lock", "/Block/", "//BLOCK;x/", "/x/..;y/bLoCK;z?Q", "/;a/block"]) {
    t.equal(await ask(folding, target, cookie), 403, target);
  }
  t.match(await seen(folding, "/A;b/C%2fd/?X", {}), { visit: { context: { path: "/a/c%2fd" } } });
}

async function checkChallenging(t: Test, start: StartApp, { verdictd, client, failures }: Rig): Promise<void> {
  const session = { Cookie: `service_session=${verdictd.sessionToken}` };
  const challenged = async (challenge?: AppOptions["challenge"]): Promise<Response> => {
    const app = await start(t, { client: client(), ...(challenge !== undefined && { challenge }) });
    await fetch(`${app}/challenge`, { headers: session });
    return fetch(`${app}/challenge`, { headers: session });
  };
  const reasons = (): string[] => failures.splice(0).map(({ reason }) => reason);
  reasons();

  t.equal((await challenged()).status, 200, "without a hook visitors are let in");
  t.same(reasons(), ["challenge_unhandled"], "and that is told once");
  const page = await challenged("page");
  t.equal(page.status, 403);
  t.match(await page.json(), { code: "CHALLENGE_REQUIRED", verdict_id: page.headers.get("x-verdict-id") });
  const own = await challenged("own");
  t.same([own.status, await own.text()], [418, "prove it"]);
  t.equal((await challenged("passes")).status, 200);
  t.same(reasons(), []);
  t.equal((await challenged("throws")).status, 200, "a hook that throws lets in");
  t.same(reasons(), ["hook_threw", "hook_threw"]);
}

async function checkSafety(t: Test, start: StartApp, { verdictd, client, failures }: Rig): Promise<void> {
  const session = { Cookie: `service_session=${verdictd.sessionToken}` };
  failures.length = 0;
  const throwing = await start(t, { client: client(), hooks: "throws" });
  t.equal((await fetch(`${throwing}/block`, { headers: session })).status, 200);
  t.match(failures, [{ reason: "hook_threw" }]);

  const wrongKey = createClient({
    baseUrl: verdictd.baseUrl,
    privateKey: "sk_wrong",
    timeoutMs: 10_000,
    onError: () => undefined,
  });
  const app = await start(t, { client: wrongKey });
  t.match((await seen(app, "/block", session)).visit, { verdict: { action: "allow", failed: "unauthenticated" } });
}

/** No visitor gets an error while verdictd is killed, started again and frozen. It runs again at the end. */
export async function checkOutage(t: Test, start: StartApp, verdictd: VerdictdProcess): Promise<void> {
  const session = { Cookie: `service_session=${verdictd.sessionToken}` };
  const enforcing = await start(t, {
    client: createClient({
      baseUrl: verdictd.baseUrl,
      privateKey: verdictd.privateKey,
      timeoutMs: 400,
      // Closed again at once, so that every phase is asked about.
      breaker: { openMs: 20, openMsMax: 20 },
      onError: () => undefined,
    }),
  });
  const { answered, failures: errors, byPhase } = await trafficThroughOutage(enforcing, session, verdictd);
  t.same(errors, [], `no visitor of ${answered} got an error`);
  t.match(byPhase, { before: { 403: Number }, killed: { 200: Number }, after: { 403: Number } });
}

async function seen(app: string, path: string, headers: Record<string, string>): Promise<Seen> {
  const response = await fetch(app + path, { headers });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Seen;
}

interface Outage {
  readonly answered: number;
  /** Visitors of /ok who got anything but 200, and of /block anything but 200 or 403. */
  readonly failures: readonly string[];
  /** Statuses of /block by what verdictd was doing when the answer came. */
  readonly byPhase: Readonly<Record<string, Readonly<Record<number, number>>>>;
}

/**
 * Keeps four visitors asking the site while verdictd is killed, started again, frozen and thawed. Every phase lasts until it has
 * seen its share of answers begun in it; the one after the restart, of blocks.
 */
export async function trafficThroughOutage(
  site: string,
  headers: Record<string, string>,
  verdictd: VerdictdProcess,
): Promise<Outage> {
  const failures: string[] = [];
  const byPhase: Record<string, Record<number, number>> = {};
  const waiting: { phase: string; left: number; done: () => void }[] = [];
  let phase = "before";
  let answered = 0;
  let stopped = false;
  const visit = async (path: "/ok" | "/block"): Promise<void> => {
    const began = phase;
    let status = 0;
    try {
      const response = await fetch(site + path, { headers });
      await response.arrayBuffer();
      status = response.status;
    } catch (error) {
      failures.push(`${began} ${path}: ${String(error)}`);
    }
    answered++;
    if (status !== 200 && !(path === "/block" && status === 403)) failures.push(`${began} ${path}: ${status}`);
    if (path !== "/block" || began !== phase) return;
    byPhase[phase] ??= {};
    byPhase[phase]![status] = (byPhase[phase]![status] ?? 0) + 1;
    for (const each of waiting) {
      if (each.phase === phase && (phase !== "after" || status === 403) && --each.left === 0) each.done();
    }
  };
  const visitor = async (): Promise<void> => {
    while (!stopped) {
      await visit("/ok");
      await visit("/block");
      // What starts needs the processor more than visitors who are let in at once.
      if (phase === "starting") await delay(20);
    }
  };
  const lasts = (name: string, answers: number): Promise<void> => {
    phase = name;
    return new Promise((done) => waiting.push({ phase: name, left: answers, done }));
  };
  const visitors = Array.from({ length: 4 }, visitor);
  try {
    await lasts("before", 40);
    phase = "killing";
    await verdictd.kill();
    await lasts("killed", 80);
    phase = "starting";
    await verdictd.restart();
    await lasts("after", 40);
    phase = "freezing";
    verdictd.freeze();
    await lasts("frozen", 8);
    phase = "thawing";
    verdictd.thaw();
  } finally {
    stopped = true;
  }
  await Promise.all(visitors);
  return { answered, failures, byPhase };
}
