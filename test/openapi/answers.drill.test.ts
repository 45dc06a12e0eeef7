/**
 * Real answers of every endpoint against the document: each operation is asked until every status it lists was seen, and each
 * answer must fit the schema that the document gives for it.
 */

import t, { type Test } from "tap";
import { putRow } from "../../src/alerting/alerting-rows.js";
import { sessionDimensions } from "../../src/contract/sessions/session-query.js";
import { limits } from "../../src/limits.js";
import { putProject, putToken } from "../../src/store/account-rows.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import type { Store } from "../../src/store/store.js";
import { tryLock } from "../../src/store/thread-lock.js";
import { type Answer, type Ask, good, type Service, startService, type Tenant, toolHeaders } from "../http/service.js";
import { automatedBatch, batch, browserHeaders, event } from "../support/batches.js";
import { solutionOf } from "../support/challenges.js";
import { storeMarks } from "../support/stored-session.js";
import { waitUntil } from "../support/wait-until.js";
import { mistakesOf, type Schema } from "./json-schema.js";

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, "method" | "path">>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Files, which the document describes as texts. */
const jsonFiles: readonly string[] = ["/openapi.json", "/docs/search.json"];

/** Statuses that a healthy and idle server can't be made to answer. */
const unreachable = (status: string, operation: string): boolean =>
  status === "500" || operation === "get /readyz 503" || operation === "post /v1/events 204";

class Checker {
  readonly #document: Document;
  readonly #service: Service;
  readonly #t: Test;
  readonly seen = new Set<string>();

  constructor(t: Test, service: Service, document: Document) {
    this.#t = t;
    this.#service = service;
    this.#document = document;
  }

  get expected(): string[] {
    return Object.entries(this.#document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, { responses }]) =>
          Object.keys(responses).map((status) => ({ status, name: `${method} ${path} ${status}` })),
        ),
      )
      .filter(({ status, name }) => !unreachable(status, name))
      .map(({ name }) => name)
      .sort();
  }

  /** Asks, and holds the answer against the operation of that template. */
  async ask(status: number, method: string, template: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.#service.ask(method.toUpperCase(), path, ask);
    const name = `${method} ${template} ${answer.status}`;
    this.#t.equal(answer.status, status, `${method} ${path} answers ${status}`);
    this.#t.ok(answer.headers.get("x-request-id"), `${name} carries X-Request-Id`);
    const response = this.#document.paths[template]?.[method]?.responses[String(answer.status)];
    if (response === undefined) {
      this.#t.fail(`${name} is not in the document`);
      return answer;
    }
    this.seen.add(name);
    const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
    if (content === undefined) this.#t.equal(answer.json, undefined, `${name} has no body`);
    else {
      this.#t.equal(answer.headers.get("content-type")?.split(";")[0], type, `${name} comes as ${type}`);
      const { schemas: components } = this.#document.components;
      const mistakes =
        type === "application/json" && !jsonFiles.includes(template)
          ? mistakesOf(answer.json, content.schema, { components, closed: true })
          : [];
      this.#t.same(mistakes, [], `${name} fits its schema`);
    }
    return answer;
  }
}

type AskProject = (status: number, method: string, path: string, template?: string, body?: object) => Promise<Answer>;

async function askAlerting(asked: AskProject, store: Store, { project }: Tenant): Promise<void> {
  const channel = (
    await asked(201, "post", "/channels", "/channels", { kind: "webhook", url: "https://192.0.2.256.example/hook" })
  ).json;
  await asked(422, "post", "/channels", "/channels", { kind: "webhook", url: "http://127.0.0.1/hook" });
  await asked(200, "get", "/channels");
  await asked(200, "post", `/channels/${channel.id}/test`, "/channels/{channel}/test");
  await asked(404, "post", "/channels/9999/test", "/channels/{channel}/test");
  await asked(200, "get", `/channels/${channel.id}/deliveries`, "/channels/{channel}/deliveries");
  await asked(404, "get", "/channels/9999/deliveries", "/channels/{channel}/deliveries");
  const when = { expression: 'path == "/login"', count: 5, minutes: 5, subject: "all" };
  const draft = { name: "a", when, channel_ids: [channel.id] };
  const alert = (await asked(201, "post", "/alerts", "/alerts", draft)).json;
  await asked(422, "post", "/alerts", "/alerts", { ...draft, when: { ...when, expression: "path" } });
  await asked(200, "get", "/alerts");
  await asked(200, "patch", `/alerts/${alert.id}`, "/alerts/{alert}", { when: { incident: true } });
  await asked(422, "patch", `/alerts/${alert.id}`, "/alerts/{alert}", { channel_ids: [9999] });
  await asked(404, "patch", "/alerts/9999", "/alerts/{alert}", {});
  await asked(200, "post", "/alerts/test", "/alerts/test", { when });
  await asked(422, "post", "/alerts/test", "/alerts/test", { when, from: "yesterday" });
  await asked(204, "delete", `/alerts/${alert.id}`, "/alerts/{alert}");
  await asked(404, "delete", `/alerts/${alert.id}`, "/alerts/{alert}");
  await asked(204, "delete", `/channels/${channel.id}`, "/channels/{channel}");
  await asked(404, "delete", `/channels/${channel.id}`, "/channels/{channel}");
  const at = new Date().toISOString();
  await recordControlPlane(store, () =>
    putRow(store, "incident", {
      id: 1,
      projectId: project.id,
      startedAt: at,
      endedAt: null,
      seenAt: at,
      what: { path: "/login" },
      count: 60,
      baseline: 0,
      peakPerMinute: 60,
      bands: { definite: 60 },
      actions: { allow: 60 },
      expression: 'path == "/login"',
      ruleWould: { newly_blocked: 60, likely_human: 0, logged_in: 0 },
    }),
  );
  await asked(200, "get", "/incidents?state=open", "/incidents");
  await asked(422, "get", "/incidents?state=shut", "/incidents");
  await asked(200, "post", "/incidents/1/mute", "/incidents/{incident}/mute", { hours: 1 });
  await asked(422, "post", "/incidents/1/mute", "/incidents/{incident}/mute", { hours: 721 });
  await asked(404, "post", "/incidents/2/mute", "/incidents/{incident}/mute", { hours: 1 });
}

const P = "/v1/projects/{project}";
const draft = { name: "r", expression: 'band == "definite" AND NOT path starts_with "/x"', action: "block" };

t.test("every endpoint answers what the document says, in every status it lists", async (t) => {
  const service = await startService(t, { "strict-abilities": "true", "verdict-ttl": "0", demo: "true" });
  const document: Document = (await service.ask("GET", "/openapi.json")).json;
  const checker = new Checker(t, service, document);
  const one = await service.tenant("one");
  const foreign = await service.tenant("two");
  const viewer = await service.tenant("viewer", { role: "viewer" });
  const unable = await service.tenant("unable", { abilities: ["content:read"] });
  const poor = await service.tenant("poor", { plan: "pro" });
  const lapsed = await service.tenant("lapsed");
  good(await service.server.accounts.changeAccount(lapsed.account.id, { subscription: "inactive" }));
  const left = await service.tenant("left");
  good(await service.server.accounts.removeMember(left.account.id, left.user.id));

  const { ask } = { ask: checker.ask.bind(checker) };
  await askDataPlane(ask, one, lapsed);
  await askChallenges(ask, service, one, lapsed);
  await askPowers(ask, { one, poor, unable, lapsed, left });
  await askProject(ask, service, one);
  await askEveryProjectRoute(ask, document, one, foreign, unable);
  const docs = Object.keys(document.paths).filter((path) => path.startsWith("/docs") && path !== "/docs/");
  const files = [
    "/healthz",
    "/readyz",
    "/sdk.js",
    "/sdk-probes.js",
    "/sdk-agents.js",
    "/challenge.js",
    "/verdictd-client.tgz",
    "/clients/verdictd.py",
    "/clients/verdictd.php",
    "/clients/verdictd.go",
    "/openapi.json",
    "/demo",
    "/demo/demo.js",
    "/demo/demo.css",
  ];
  for (const path of [...files, ...docs]) {
    await ask(200, "get", path, path);
  }
  await askAccount(ask, service, one, viewer, left);
  await askMembers(ask, one, viewer);
  for (const path of ["/console", "/console/console.js", "/console/console.css"]) await ask(200, "get", path, path);
  await ask(302, "get", "/", "/");
  await ask(302, "get", "/docs/", "/docs/");
  await ask(200, "get", "/demo/verdict", "/demo/verdict?session=sess_nobody");
  await ask(200, "get", "/v1/detections", "/v1/detections");
  await ask(200, "get", "/v1/declared-bots", "/v1/declared-bots");
  await ask(200, "get", "/v1/agents", "/v1/agents");
  await ask(200, "get", "/v1/signed-agents", "/v1/signed-agents");

  t.same([...checker.seen].sort(), checker.expected, "every status of every operation was seen");
});

type AskOperation = Checker["ask"];

async function askDataPlane(ask: AskOperation, one: Tenant, lapsed: Tenant): Promise<void> {
  const ingest = "/v1/events";
  const site = (key: string) => ({ headers: { ...browserHeaders, "x-service-site-key": key } });
  const first = await ask(202, "post", ingest, ingest, {
    headers: { ...site(one.siteKey).headers, ...toolHeaders },
    body: batch("openapi1"),
  });
  await ask(202, "post", ingest, ingest, { ...site(one.siteKey), body: batch("openapi2", 3) });
  await ask(401, "post", ingest, ingest, { ...site("pk_wrong"), body: batch("openapi3") });
  await ask(402, "post", ingest, ingest, { ...site(lapsed.siteKey), body: batch("openapi4") });
  await ask(422, "post", ingest, ingest, { ...site(one.siteKey), body: { session_token: null, events: [] } });
  await ask(204, "options", ingest, ingest);

  const tickets = "/v1/start-tickets";
  await ask(200, "post", tickets, tickets, site(one.siteKey));
  await ask(401, "post", tickets, tickets, site("pk_wrong"));
  await ask(402, "post", tickets, tickets, site(lapsed.siteKey));
  await ask(204, "options", tickets, tickets);

  const token: string = first.json.session_token;
  const verdict = "/v1/sessions/{session_token}/verdict";
  const verdictOf = (session: string) => `/v1/sessions/${session}/verdict?path=/a`;
  await ask(200, "get", verdict, verdictOf(token), { as: one.privateKey });
  await ask(200, "get", verdict, verdictOf("nobody"), { as: one.privateKey });
  await ask(401, "get", verdict, verdictOf(token), { as: one.siteKey });
  await ask(402, "get", verdict, verdictOf(token), { as: lapsed.privateKey });

  const judge = "/v1/verdict";
  const question = { session_token: token, request: { path: "/a", headers: [["Accept", "*/*"]] } };
  await ask(200, "post", judge, judge, { as: one.privateKey, body: question });
  await ask(200, "post", judge, judge, { as: one.privateKey, body: { request: {} } });
  await ask(401, "post", judge, judge, { as: one.siteKey, body: question });
  await ask(402, "post", judge, judge, { as: lapsed.privateKey, body: question });
  await ask(422, "post", judge, judge, { as: one.privateKey, body: {} });

  const page = "/v1/challenge-page";
  await ask(200, "post", page, page, { as: one.privateKey, body: question });
  await ask(401, "post", page, page, { as: one.siteKey, body: question });
  await ask(402, "post", page, page, { as: lapsed.privateKey, body: question });
  await ask(422, "post", page, page, { as: one.privateKey, body: { ...question, action: "allow" } });

  const loggedIn = "/v1/sessions/{session_token}/logged-in";
  const loggedInOf = (session: string) => `/v1/sessions/${session}/logged-in`;
  await ask(200, "post", loggedIn, loggedInOf(token), { as: one.privateKey });
  await ask(401, "post", loggedIn, loggedInOf(token));
  await ask(402, "post", loggedIn, loggedInOf(token), { as: lapsed.privateKey });
  await ask(404, "post", loggedIn, loggedInOf("sess_nobody"), { as: one.privateKey });
  await ask(422, "post", loggedIn, loggedInOf("nobody"), { as: one.privateKey });
}

async function askChallenges(ask: AskOperation, service: Service, one: Tenant, lapsed: Tenant): Promise<void> {
  const site = (key: string) => ({ headers: { ...browserHeaders, "x-service-site-key": key } });
  const begin = (body: object) => service.ask("POST", "/v1/events", { ...site(one.siteKey), body });
  const environment = { ...event("openapi5", { webdriver: false }), type: "env" };
  const sent = await begin({ session_token: null, events: [environment] });
  const driven = await begin(automatedBatch("openapi6"));
  const body = { session_token: sent.json.session_token, solution: "e30=" };
  const challenges = "/v1/challenges";
  const solution = "/v1/challenges/solution";
  for (const path of [challenges, solution]) {
    await ask(409, "post", path, path, { ...site(one.siteKey), body });
    await ask(401, "post", path, path, { ...site("pk_wrong"), body });
    await ask(402, "post", path, path, { ...site(lapsed.siteKey), body });
    await ask(404, "post", path, path, { ...site(one.siteKey), body: { session_token: "sess_nobody" } });
    await ask(422, "post", path, path, { ...site(one.siteKey), body: {} });
    await ask(204, "options", path, path);
  }
  good(await service.server.projects.changeChallenge(one.project.id, { enabled: true }));
  const issued = await ask(200, "post", challenges, challenges, { ...site(one.siteKey), body });
  const solved = { ...body, solution: await solutionOf(issued.json) };
  await ask(200, "post", solution, solution, { ...site(one.siteKey), body: solved });
  await ask(409, "post", solution, solution, { ...site(one.siteKey), body: solved });
  // A program is refused when it has solved its challenge, and for a while after that.
  const refused = { session_token: driven.json.session_token };
  const made = await ask(200, "post", challenges, challenges, { ...site(one.siteKey), body: refused });
  const tried = { ...refused, solution: await solutionOf(made.json) };
  await ask(403, "post", solution, solution, { ...site(one.siteKey), body: tried });
  await ask(403, "post", challenges, challenges, { ...site(one.siteKey), body: refused });
}

/** The rule with this id matches every session that scores below 30; it blocks when this is called, and again afterwards. */
async function askForwardAuth(
  ask: AskOperation,
  asked: (status: number, method: string, path: string, template?: string, body?: object) => Promise<unknown>,
  one: Tenant,
  rule: number,
  sessions: readonly { readonly session_token: string }[],
): Promise<void> {
  const visit = (key: string, token: string) => ({
    as: key,
    headers: { accept: "text/html", cookie: `service_session=${token}` },
  });
  const bot = sessions.at(-1)!.session_token;
  const base = "/v1/forward-auth";
  for (const path of [base, `${base}/x-original`, `${base}/x-original-url`, `${base}/envoy`]) {
    await ask(403, "get", path, path, visit(one.privateKey, bot));
    await asked(200, "patch", `/rules/${rule}`, "/rules/{rule}", { action: "challenge" });
    await ask(401, "get", path, path, visit(one.privateKey, bot));
    await asked(200, "patch", `/rules/${rule}`, "/rules/{rule}", { action: "block" });
    await ask(path.endsWith("/envoy") ? 200 : 204, "get", path, path, visit("sk_wrong", bot));
  }
}

async function askPowers(
  ask: AskOperation,
  { one, poor, unable, lapsed, left }: Readonly<Record<"one" | "poor" | "unable" | "lapsed" | "left", Tenant>>,
): Promise<void> {
  await ask(200, "get", "/v1/account", "/v1/account", { as: one.token });
  await ask(401, "get", "/v1/account", "/v1/account", { as: "wrong" });
  await ask(403, "get", "/v1/account", "/v1/account", { as: left.token });
  await ask(200, "get", "/user", "/user", { as: one.token });
  await ask(401, "get", "/user", "/user");
  const lists = "/v1/ip-lists";
  await ask(200, "get", lists, lists, { as: one.token });
  await ask(401, "get", lists, lists);
  for (const { token } of [unable, left]) await ask(403, "get", lists, lists, { as: token });
  const bots = "/v1/verified-bots/export";
  await ask(200, "get", bots, bots, { as: one.token });
  await ask(401, "get", bots, bots);
  await ask(402, "get", bots, bots, { as: lapsed.token });
  for (const { token } of [poor, unable, left]) await ask(403, "get", bots, bots, { as: token });
}

/** Projects, usage and tokens of the account. */
async function askAccount(ask: AskOperation, service: Service, one: Tenant, viewer: Tenant, left: Tenant) {
  for (const path of ["/v1/projects", "/v1/usage", "/v1/tokens", "/v1/members", "/v1/audit"]) {
    await ask(200, "get", path, path, { as: one.token });
    await ask(401, "get", path, path, { as: "wrong" });
    await ask(403, "get", path, path, { as: left.token });
  }
  const projects = "/v1/projects";
  const shop = { name: "Shop" };
  await ask(200, "post", projects, projects, { as: one.token, body: shop });
  await ask(401, "post", projects, projects, { body: shop });
  for (const { token } of [viewer, left]) await ask(403, "post", projects, projects, { as: token, body: shop });
  for (const name of [undefined, 3, "", "  ", "n".repeat(256)])
    await ask(422, "post", projects, projects, { as: one.token, body: { name } });
  const tokens = "/v1/tokens";
  const body = { abilities: ["projects:read"] };
  const { id } = (await ask(200, "post", tokens, tokens, { as: one.token, body })).json;
  await ask(401, "post", tokens, tokens, { body });
  for (const { token } of [viewer, left]) await ask(403, "post", tokens, tokens, { as: token, body });
  await ask(422, "post", tokens, tokens, { as: one.token, body: { abilities: ["everything"] } });
  const busy = await service.tenant("busy");
  const { accounts, store } = service.server;
  const spare = good(
    await accounts.createToken({ accountId: busy.account.id, userId: busy.user.id, abilities: ["*"] }),
  ).token;
  // Records of the real form, written at once: making them one by one takes seconds.
  await recordControlPlane(store, () => {
    for (let each = 0; each < limits.tokensPerAccountMax; each++) {
      putToken(store, { ...spare, id: 100_000 + each, hash: `none-${each}` });
    }
  });
  await ask(409, "post", tokens, tokens, { as: busy.token, body });
  await recordControlPlane(store, () => {
    for (let each = 0; each < limits.projectsPerAccountMax; each++)
      putProject(store, { ...busy.project, id: 100_000 + each });
  });
  await ask(409, "post", projects, projects, { as: busy.token, body: shop });
  const template = "/v1/tokens/{token}";
  await ask(422, "get", tokens, `${tokens}?limit=0`, { as: one.token });
  await ask(404, "delete", template, `${tokens}/${spare.id}`, { as: one.token });
  await ask(401, "delete", template, `${tokens}/${id}`);
  await ask(403, "delete", template, `${tokens}/${id}`, { as: viewer.token });
  await ask(200, "delete", template, `${tokens}/${id}`, { as: one.token });
}

/** Members of the account. */
async function askMembers(ask: AskOperation, one: Tenant & { user: { id: number } }, viewer: Tenant): Promise<void> {
  const path = "/v1/members";
  const body = { name: "Ada", email: "ada@example.com", role: "admin" };
  const { json } = await ask(200, "post", path, path, { as: one.token, body });
  await ask(409, "post", path, path, { as: one.token, body });
  await ask(401, "post", path, path, { body });
  await ask(403, "post", path, path, { as: viewer.token, body });
  await ask(422, "post", path, path, { as: one.token, body: { name: "Nobody" } });
  await ask(422, "get", path, `${path}?cursor=x`, { as: one.token });
  const template = `${path}/{user}`;
  const own = `${path}/${one.user.id}`;
  for (const [method, body] of [
    ["patch", { role: "viewer" }],
    ["delete", undefined],
  ] as const) {
    const asked = (status: number, at: string, as?: string) =>
      ask(status, method, template, at, { ...(as !== undefined && { as }), body });
    await asked(409, own, one.token);
    await asked(401, own);
    await asked(403, own, json.account_token);
    await asked(404, `${path}/999999`, one.token);
    await asked(200, `${path}/${json.user.id}`, one.token);
    if (method === "patch") await ask(422, method, template, own, { as: one.token, body: { role: "king" } });
  }
}

/** The successes of a project's routes and the refusals that belong to one route only. */
async function askProject(ask: AskOperation, service: Service, one: Tenant): Promise<void> {
  const at = (path: string) => `/v1/projects/${one.project.id}${path}`;
  const asked = (status: number, method: string, path: string, template = path, body?: unknown) =>
    ask(status, method, P + template, at(path), { as: one.token, body });
  await asked(200, "get", "/scoring");
  await asked(200, "post", "/scoring");
  await asked(200, "put", "/scoring/settings", "/scoring/settings", { likely_bot_threshold: 40 });
  await asked(422, "put", "/scoring/settings", "/scoring/settings", { likely_bot_threshold: 0 });

  await asked(200, "post", "/scoring/end-old-keys", "/scoring/end-old-keys", { type: "site" });
  await asked(422, "post", "/scoring/end-old-keys", "/scoring/end-old-keys", { type: "all" });
  const nobody = { expression: "score < 0", from: "2026-01-01" };
  await asked(200, "post", "/sessions/delete", "/sessions/delete", nobody);
  await asked(422, "post", "/sessions/delete", "/sessions/delete", { ...nobody, expression: "" });

  await asked(200, "get", "/request-scoring");
  await asked(200, "put", "/request-scoring", "/request-scoring", { enabled: false, signed_agents: "rules" });
  await asked(422, "put", "/request-scoring", "/request-scoring", { enabled: "yes" });

  await asked(200, "get", "/challenge");
  await asked(200, "put", "/challenge", "/challenge", { difficulty: "low" });
  await asked(422, "put", "/challenge", "/challenge", { difficulty: "hard" });

  await asked(422, "post", "/rules", "/rules", { ...draft, expression: "score <" });
  const { id } = (await asked(201, "post", "/rules", "/rules", draft)).json;
  await asked(200, "get", "/rules");
  for (const method of ["patch", "put"]) {
    await asked(200, method, `/rules/${id}`, "/rules/{rule}", { expression: "score in {1, 2} OR NOT verified_bot" });
    await asked(422, method, `/rules/${id}`, "/rules/{rule}", { action: "explode" });
  }
  await asked(200, "post", "/rules/test", "/rules/test", { expression: "score < 30", action: "block" });
  await asked(422, "post", "/rules/test", "/rules/test", { expression: "score <", action: "block" });
  const unlock = tryLock(service.server.store, `backtest:${one.account.id}`);
  await asked(409, "post", "/rules/test", "/rules/test", { expression: "score < 30", action: "block" });
  await asked(409, "post", "/scoring/settings/test", "/scoring/settings/test", {});
  unlock?.();
  await asked(200, "post", "/scoring/settings/test", "/scoring/settings/test", { likely_bot_threshold: 40 });
  await asked(422, "post", "/scoring/settings/test", "/scoring/settings/test", { likely_bot_threshold: 0 });
  const letting = { subject: { ip: "192.0.2.1" }, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const exception = (await asked(201, "post", "/exceptions", "/exceptions", letting)).json;
  await asked(422, "post", "/exceptions", "/exceptions", { ...letting, expires_at: "soon" });
  await asked(200, "get", "/exceptions");
  await asked(422, "get", "/exceptions?limit=0", "/exceptions");
  await fillExceptions(service, one.project.id, exception.id);
  await asked(409, "post", "/exceptions", "/exceptions", letting);
  await asked(204, "delete", `/exceptions/${exception.id}`, "/exceptions/{exception}");
  await asked(404, "delete", `/exceptions/${exception.id}`, "/exceptions/{exception}");
  const query = "/sessions/query";
  await asked(200, "post", query, query, { expression: "score < 30", group_by: [...sessionDimensions], limit: 1 });
  await asked(422, "post", query, query, { expression: "score <" });
  const unlockQuery = tryLock(service.server.store, `query:${one.account.id}`);
  await asked(409, "post", query, query, {});
  await asked(409, "post", "/sessions/delete", "/sessions/delete", nobody);
  unlockQuery?.();
  await asked(200, "patch", `/rules/${id}`, "/rules/{rule}", { expression: "score < 30" });
  const sessions: { session_token: string }[] = (await asked(200, "get", "/sessions")).json.data;
  for (const { session_token: token } of sessions) {
    await asked(200, "get", `/sessions/${token}`, "/sessions/{session_token}");
    await asked(200, "get", `/sessions/${token}/trail`, "/sessions/{session_token}/trail");
    await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey });
  }
  const mark = "/sessions/{session_token}/mark";
  const marked = `/sessions/${sessions[0]!.session_token}/mark`;
  await asked(200, "put", marked, mark, { as: "person" });
  await asked(422, "put", marked, mark, { as: "cat" });
  await asked(404, "put", "/sessions/sess_nobody/mark", mark, { as: "bot" });
  await asked(200, "get", `/sessions/${sessions[0]!.session_token}`, "/sessions/{session_token}");
  await asked(200, "get", "/marks");
  await ask(422, "get", "/v1/audit", "/v1/audit?limit=0", { as: one.token });
  await asked(422, "get", "/marks?limit=0", "/marks");
  await asked(204, "delete", marked, mark);
  await asked(404, "delete", marked, mark);
  const { store } = service.server;
  const fill = await storeMarks(store, one.project.id, limits.marksPerProjectMax);
  await asked(409, "put", marked, mark, { as: "person" });
  await fill.remove();
  await askAlerting(asked, store, one);
  await askForwardAuth(ask, asked, one, id, sessions);
  await asked(404, "get", "/sessions/sess_nobody", "/sessions/{session_token}");
  await asked(404, "get", "/sessions/sess_nobody/trail", "/sessions/{session_token}/trail");
  // Blocks are stored behind the verdict's back.
  await waitUntil(
    () => store.recorded.blocks.before(one.project.id, Number.MAX_SAFE_INTEGER, 1),
    (found) => found.length > 0,
  );
  const blocks = (await asked(200, "get", "/blocks")).json.data;
  if (sessions.length === 0 || blocks.length === 0)
    throw new Error(`the logs hold nothing to check: ${JSON.stringify([sessions, blocks])}`);
  await asked(200, "get", "/stats");
  await asked(200, "get", "/traffic?group_by=path&compare_from=2026-01-01&compare_to=2026-01-02", "/traffic");
  for (const path of ["/requests", "/crawlers", "/rules/hits"]) await asked(200, "get", path);
  for (const path of ["/traffic", "/requests", "/crawlers"]) await asked(422, "get", `${path}?from=never`, path);
  for (const log of ["/sessions", "/blocks"]) await asked(422, "get", `${log}?limit=0`, log);
  await asked(422, "get", "/stats?bucket=week", "/stats");
  const last = `/sessions/${sessions.at(-1)!.session_token}`;
  await asked(204, "delete", last, "/sessions/{session_token}");
  await asked(404, "get", last, "/sessions/{session_token}");
  await asked(204, "delete", `/rules/${id}`, "/rules/{rule}");

  await asked(422, "post", "/scoring/rotate", "/scoring/rotate", { type: "both" });
  await asked(200, "post", "/scoring/rotate", "/scoring/rotate", { type: "site" });
  const disabled = good(await service.server.projects.create(one.account.id, "not enabled"));
  const rotate = `/v1/projects/${disabled.id}/scoring/rotate`;
  await ask(409, "post", `${P}/scoring/rotate`, rotate, { as: one.token, body: { type: "site" } });
  await ask(200, "get", `${P}/scoring`, `/v1/projects/${disabled.id}/scoring`, { as: one.token });
}

/** As many exceptions as a project may have, like this one. */
async function fillExceptions({ server: { store } }: Service, projectId: number, like: number): Promise<void> {
  await recordControlPlane(store, () => {
    const row = store.exceptions.get([projectId, like])!;
    for (let id = 2; id <= limits.exceptionsPerProjectMax; id++) {
      store.exceptions.putSync([projectId, 100_000 + id], { ...row, id: 100_000 + id });
    }
  });
}

/** The refusals that every route of a project has. */
async function askEveryProjectRoute(
  ask: AskOperation,
  document: Document,
  one: Tenant,
  foreign: Tenant,
  viewer: Tenant,
): Promise<void> {
  for (const [template, methods] of Object.entries(document.paths)) {
    if (!template.startsWith(P)) continue;
    const of = (project: string | number) =>
      template.replace("{project}", String(project)).replace("{rule}", "1").replace("{session_token}", "sess_a");
    for (const [method, { responses }] of Object.entries(methods)) {
      await ask(401, method, template, of(one.project.id));
      await ask(403, method, template, of(foreign.project.id), { as: one.token });
      await ask(404, method, template, of("x"), { as: one.token });
      const { schema } = Object.values(responses["403"]!.content!)[0]!;
      const asksAbility = JSON.stringify(schema).includes("INSUFFICIENT_TOKEN_ABILITY");
      if (asksAbility) await ask(403, method, template, of(viewer.project.id), { as: viewer.token });
    }
  }
}
