/** Who a visitor is, on a server: by its signature, address, user agent or marks, in each answer, in rules and in searches. */
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import t from "tap";
import { createAgentMarks } from "../../../src/bots/marks/agent-marks.js";
import { ruleRecipes } from "../../../src/console/rule-recipes.js";
import type { AgentMarkCatalogue } from "../../../src/contract/bots/agent-marks.js";
import { AgentMarkCatalogues } from "../../../src/control-plane/lists/agent-mark-catalogue.js";
import { limits } from "../../../src/limits.js";
import { openStore } from "../../../src/store/open-store.js";

import { askingProject, navigation } from "../../requests/asking.js";
import { browserHeaders, event } from "../../support/batches.js";
import { command } from "../../support/process.js";
import { firstTenant, startServer } from "../../support/server.js";

const server = await startServer(t, ["--trusted-proxies", "127.0.0.1", "--verdict-ttl", "0"]);
const tenant = await firstTenant(server);
type Project = Awaited<ReturnType<typeof askingProject>>;
const fresh = () => askingProject(server, tenant);
const claude = { name: "Claude in Chrome", category: "ai_agent", certainty: "marked" };
const mark = "element:claude-phantom-cursor*";

/** Addresses of operators, by the shipped catalogue. */
const openAi = "132.196.86.4";
const google = "192.178.16.9";

let sessions = 0;

/** A session of a browser that reported these marks, and then a press of the mouse with this payload, if any. */
async function session(
  project: Project,
  marks: string | string[] | boolean | number | undefined,
  headers: Record<string, string> = {},
  acts: Record<string, number | boolean> = {},
  press?: Record<string, number | string>,
): Promise<string> {
  const env = { ...event(`marks-env-${++sessions}0000`, { agent_marks: marks, ...acts }), type: "env" };
  const click = { ...event(`marks-click-${sessions}0000`, press), type: "click" };
  const events = [event(`marks-page-${sessions}0000`), env, ...(press === undefined ? [] : [click])];
  const { status, json } = await server.ask("POST", "/v1/events", {
    headers: { ...browserHeaders, ...headers, "X-Service-Site-Key": project.siteKey },
    body: { session_token: null, events },
  });
  if (status !== 202) throw new Error(JSON.stringify(json));
  return json.session_token;
}

async function judged(
  project: Project,
  sessionToken: string | null,
  headers: readonly (readonly [string, string])[] = navigation,
  path = "/",
  ip = "203.0.113.7",
  method = "GET",
) {
  const body = { session_token: sessionToken, request: { method, path, ip, headers } };
  const { json } = await server.ask("POST", "/v1/verdict", {
    headers: { "X-Service-Private-Key": project.privateKey },
    body,
  });
  return json;
}

function forward(
  project: Project,
  headers: Record<string, string>,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((done, failed) => {
    const all = {
      "X-Service-Private-Key": project.privateKey,
      "X-Forwarded-For": "203.0.113.7",
      "X-Forwarded-Uri": "/",
      ...headers,
    };
    const agent = new Agent({ keepAlive: false });
    request({ host: "127.0.0.1", port: server.port, path: "/v1/forward-auth", headers: all, agent }, (response) => {
      response.resume();
      response.on("end", () => done({ status: response.statusCode ?? 0, headers: response.headers }));
    })
      .on("error", failed)
      .end();
  });
}

const visitor = Object.fromEntries(navigation.filter(([name]) => name !== "Host" && name !== "Connection"));
const sessionAt = (project: Project, token: string) => `/v1/projects/${project.id}/sessions/${token}`;

t.test("a mark names the session's agent in every answer, and lowers no score", async (t) => {
  const project = await fresh();
  await project.enable();
  const plain = await session(project, undefined);
  const token = await session(project, [mark, "global:unheard"]);
  const ask = async (path: string) => (await server.ask("GET", path, { token: tenant.token })).json;
  const shown = await ask(sessionAt(project, token));
  t.strictSame(shown.agent, { ...claude, evidence: [mark, "global:unheard"], since: shown.last_seen_at });
  const before = await ask(sessionAt(project, plain));
  t.equal(before.agent, null);
  t.strictSame([shown.score, shown.verdict, shown.detection_ids], [before.score, before.verdict, before.detection_ids]);

  t.strictSame((await judged(project, token)).agent, claude);
  t.notOk("agent" in (await judged(project, plain)));
  t.notOk("agent" in (await judged(project, null)));
  const { status, headers } = await forward(project, { ...visitor, Cookie: `service_session=${token}` });
  t.equal(status, 204);
  t.equal(headers["x-verdict-agent"], "Claude in Chrome;ai_agent;marked");
  t.notOk((await forward(project, visitor)).headers["x-verdict-agent"]);

  const read = await server.ask("GET", `/v1/sessions/${token}/verdict`, {
    headers: { "X-Service-Private-Key": project.privateKey },
  });
  t.equal(read.status, 200);
  t.notOk("agent" in read.json, "the verdict read stays as it is");
});

t.test("the surest of what is known counts: a user agent before a mark; a spoofed name never", async (t) => {
  const project = await fresh();
  await project.enable();
  const token = await session(project, [mark], {
    "user-agent": "Mozilla/5.0 (compatible; ExampleCrawler/1.0; +https://example.com/bot)",
  });
  t.match((await server.ask("GET", sessionAt(project, token), { token: tenant.token })).json.agent, {
    certainty: "declared",
  });
  const named = (userAgent: string) =>
    judged(project, null, [
      ["Host", "shop.example"],
      ["User-Agent", userAgent],
    ]);
  t.strictSame((await named("curl/8.5.0")).agent, { name: "curl", category: "library", certainty: "declared" });
  const spoofed = await named("Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)");
  t.ok(spoofed.detection_ids.includes(400101), "the address is not its operator's");
  t.notOk("agent" in spoofed);
});

t.test(
  "of a verified operator's bots the user agent says which: rules, exceptions and the catalogue know it by that name",
  async (t) => {
    const project = await fresh();
    await project.enable();
    const named = (userAgent: string, ip: string, asking = project) =>
      judged(
        asking,
        null,
        [
          ["Host", "shop.example"],
          ["User-Agent", userAgent],
        ],
        "/",
        ip,
      );
    const gptBot = "Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    const chatGpt = "Mozilla/5.0 AppleWebKit/537.36 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)";
    const verified = { name: "GPTBot", category: "ai_crawler", certainty: "verified" };
    t.strictSame((await named(gptBot, openAi)).agent, verified);
    t.notOk("agent" in (await named(gptBot, "203.0.113.7")), "spoofed");
    t.strictSame((await named(chatGpt, openAi)).agent, { ...verified, name: "ChatGPT-User", category: "ai_assistant" });
    t.strictSame((await named(chatGpt, "203.0.113.7")).agent, {
      name: "ChatGPT-User",
      category: "ai_assistant",
      certainty: "declared",
    });
    t.strictSame((await named(visitor["User-Agent"]!, openAi)).agent, { ...verified, name: "OpenAI" });
    t.strictSame((await named(chatGpt, google)).agent, { name: "Google", category: "search", certainty: "verified" });

    const token = await session(project, undefined, { "user-agent": chatGpt, "x-forwarded-for": google });
    const { json } = await server.ask("GET", sessionAt(project, token), { token: tenant.token });
    t.strictSame(json.agent.evidence, [
      "address or host name of Google",
      `user agent: ${chatGpt}, which names ChatGPT-User of OpenAI`,
    ]);

    const rows: { name: string; certainties: string[] }[] = (await server.ask("GET", "/v1/agents", {})).json.data;
    const certainties = (name: string) => rows.find((row) => row.name === name)?.certainties;
    t.strictSame(certainties("GPTBot"), ["verified"]);
    t.strictSame(certainties("ChatGPT-User"), ["verified", "declared"]);
    t.strictSame(certainties("OpenAI"), ["verified"]);
    t.strictSame(certainties("Nova Act"), ["verified", "declared", "marked"]);
    t.strictSame(certainties("ChatGPT agent"), ["signed", "verified", "declared"]);
    const spelled = rows.map(({ name }) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
    t.equal(new Set(spelled).size, spelled.length, "one product, one spelling");

    const warningOf = async (agent: string) => {
      const { json: made } = await server.ask("POST", `/v1/projects/${project.id}/exceptions`, {
        token: tenant.token,
        body: { subject: { agent }, note: "let in", expires_at: new Date(Date.now() + 3_600_000).toISOString() },
      });
      return made.warning;
    };
    t.match(await warningOf("ChatGPT-User"), /Anybody can take this name/);
    t.equal(await warningOf("GPTBot"), undefined, "a false one is found out");
    t.equal(await warningOf("OpenAI"), undefined);
    await project.rule('agent == "GPTBot"', "block");
    await project.control("PUT", "/scoring/settings", { allow_verified: false });
    t.equal((await named(gptBot, openAi)).action, "allow", "by the exceptions");
    const other = await fresh();
    await other.enable();
    await other.control("PUT", "/scoring/settings", { allow_verified: false });
    await other.rule('agent == "GPTBot" AND agent_certainty == "verified" AND verified_bot', "block");
    t.equal((await named(gptBot, openAi, other)).action, "block");
    t.equal((await named(chatGpt, openAi, other)).action, "allow");
  },
);

t.test("while request scoring is off no answer names an agent, though rules know the session's", async (t) => {
  const project = await fresh();
  const token = await session(project, [mark]);
  t.notOk("agent" in (await judged(project, token)));
  t.notOk((await forward(project, { ...visitor, Cookie: `service_session=${token}` })).headers["x-verdict-agent"]);
  await project.rule(
    'agent == "Claude in Chrome" AND agent_category == "ai_agent" AND agent_certainty == "marked"',
    "block",
  );
  const read = await server.ask("GET", `/v1/sessions/${token}/verdict`, {
    headers: { "X-Service-Private-Key": project.privateKey },
  });
  t.equal(read.json.action, "block");
  const { status, headers } = await forward(project, { ...visitor, Cookie: `service_session=${token}` });
  t.equal(status, 403);
  t.notOk(headers["x-verdict-agent"], "a visitor is told nothing");
});

t.test("searches and backtests know the agent, and its fields are closed lists", async (t) => {
  const project = await fresh();
  const token = await session(project, [mark]);
  await session(project, undefined);
  const at = `/v1/projects/${project.id}`;
  const query = await server.ask("POST", `${at}/sessions/query`, {
    token: tenant.token,
    body: { expression: 'agent_certainty in {"signed", "marked"}', group_by: ["agent"] },
  });
  t.equal(query.status, 200, JSON.stringify(query.json));
  t.match(query.json, { matched: 1, unavailable_fields: [], data: [{ session_token: token }] });
  t.match(query.json.groups[0].values, [{ sessions: 1, condition: 'agent == "Claude in Chrome"' }]);
  const tested = await server.ask("POST", `${at}/rules/test`, {
    token: tenant.token,
    body: { expression: 'agent_category == "ai_agent"', action: "block" },
  });
  t.match(tested.json, { evaluated: 2, matched: 1, unavailable_fields: [], sample: [token] });
  for (const expression of ['agent_certainty == "sure"', 'agent_category == "agent"']) {
    const refused = await server.ask("POST", `${at}/rules`, {
      token: tenant.token,
      body: { name: "x", expression, action: "block" },
    });
    t.equal(refused.status, 422, expression);
  }
});

t.test("what is no mark is not kept, and a session keeps the first four", async (t) => {
  const project = await fresh();
  const marks = [
    "x",
    "class:abcdef",
    "element:",
    "element:a b",
    "global:one1",
    "global:one1",
    "global:two2",
    mark,
    "global:four",
    "global:five",
  ];
  const token = await session(project, marks);
  const { json } = await server.ask("GET", sessionAt(project, token), { token: tenant.token });
  t.match(json.agent, { ...claude, evidence: ["global:one1", "global:two2", mark, "global:four"] });
  for (const odd of ["", "element:codex-agent-overlay-root", []]) t.ok(await session(project, odd));
  t.match(await server.command("check"), { ok: true });
});

t.test("an unknown agent is named by how it acts; a mark names it better", async (t) => {
  const project = await fresh();
  await project.enable();
  const unknown = { name: "unknown agent", category: "ai_agent", certainty: "behavior" };
  const signs = { lone_activations: 2, shared_focus: 2, eval_length: 33 };
  const token = await session(project, undefined, {}, signs);
  t.strictSame((await judged(project, token)).agent, unknown);
  const { headers } = await forward(project, { ...visitor, Cookie: `service_session=${token}` });
  t.equal(headers["x-verdict-agent"], "unknown agent;ai_agent;behavior");
  const ask = async (each: string) => (await server.ask("GET", sessionAt(project, each), { token: tenant.token })).json;
  const shown = await ask(token);
  t.match(shown.agent, { ...unknown, evidence: ["activation-without-input", "two-tabs-focused"] });
  t.notOk("decided_by" in shown.detections[0] || "decidedBy" in shown.detections[0], "the detections stay as they are");
  const once = await session(project, undefined, {}, { lone_activations: 2, eval_length: 33 });
  t.notOk("agent" in (await judged(project, once)), "one sign is not enough");
  t.equal(shown.score, (await ask(once)).score, "no score is lower for it");
  t.strictSame((await judged(project, await session(project, [mark], {}, signs))).agent, claude);
  const found = await server.ask("POST", `/v1/projects/${project.id}/sessions/query`, {
    token: tenant.token,
    body: { expression: 'agent_certainty == "behavior"' },
  });
  t.match(found.json, { matched: 1, data: [{ session_token: token }] });
});

for (const { recipe, reads, acts, marked, unknown } of [
  {
    recipe: "Let marked AI agents read, not buy",
    reads: { path: "/shop", method: "GET" },
    acts: { path: "/checkout/pay", method: "GET" },
    marked: "block",
    unknown: "allow",
  },
  {
    recipe: "A challenge for unknown AI agents at the checkout",
    reads: { path: "/shop", method: "GET" },
    acts: { path: "/checkout/pay", method: "GET" },
    marked: "allow",
    unknown: "challenge",
  },
  {
    recipe: "Keep AI agents from sending forms",
    reads: { path: "/contact", method: "GET" },
    acts: { path: "/contact", method: "POST" },
    marked: "block",
    unknown: "block",
  },
]) {
  t.test(`of marked and unknown agents: the console's recipe "${recipe}"`, async (t) => {
    const { expression, action } = ruleRecipes.find(({ name }) => name === recipe)!;
    const project = await fresh();
    await project.enable();
    await project.rule(expression, action);
    const signs = { lone_activations: 2, shared_focus: 2, eval_length: 33 };
    const actionOf = async (token: string, { path, method }: typeof reads) =>
      (await judged(project, token, navigation, path, undefined, method)).action;
    for (const [token, expected] of [
      [await session(project, [mark]), marked],
      [await session(project, undefined, {}, signs), unknown],
      [await session(project, undefined), "allow"],
    ] as const) {
      t.equal(await actionOf(token, reads), "allow");
      t.equal(await actionOf(token, acts), expected);
    }
  });
}

t.test("blocks, the sessions' log and the reason say who was refused", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('agent_certainty in {"declared", "marked", "behavior"}', "block");
  const unknown = { name: "unknown agent", category: "ai_agent", certainty: "behavior" };
  const signs = { lone_activations: 2, shared_focus: 2, eval_length: 33 };
  const marked = await session(project, [mark]);
  const acting = await session(project, undefined, {}, signs);
  const driven = await session(project, undefined, {}, { ...signs, webdriver: true });
  const person = await session(project, undefined);
  const reason = async (token: string) => (await judged(project, token)).reason;
  t.equal(
    await reason(marked),
    'Likely human (score 60): no evidence of automation. The visitor is Claude in Chrome, by its mark. Blocked by rule "agent_certainty in {"declared", "marked", "behavior"}".',
  );
  const ofActing = await reason(acting);
  t.match(
    ofActing,
    /\. The visitor is an unknown agent, by its behavior: activation without input and two tabs focused\. Blocked by rule/,
  );
  const ofDriven = await reason(driven);
  t.match(ofDriven, /^Definitely automated/);
  t.notMatch(ofDriven, /acts as a program at work/, "what lowers no score is no cause of it");
  t.notMatch(await reason(person), /visitor is/);
  const curl = [
    ["Host", "shop.example"],
    ["User-Agent", "curl/8.5.0"],
  ] as const;
  const declared = await judged(project, null, curl);
  t.equal(declared.action, "block");
  t.match(declared.reason, /\. The visitor is curl, by its user agent\. Blocked by rule/);

  const { json: blocks } = await project.control("GET", "/blocks");
  const agents = blocks.data.map((row: { session_token: string | null; agent: unknown }) => [
    row.session_token,
    row.agent,
  ]);
  t.strictSame(agents, [
    [null, { name: "curl", category: "library", certainty: "declared" }],
    [driven, unknown],
    [acting, unknown],
    [marked, claude],
  ]);
  const { json: log } = await project.control("GET", "/sessions");
  const logged = log.data.map((row: { session_token: string; agent: unknown }) => [row.session_token, row.agent]);
  t.strictSame(
    new Map(logged),
    new Map<string, unknown>([
      [person, null],
      [driven, unknown],
      [acting, unknown],
      [marked, claude],
    ]),
  );
  const { json: found } = await project.control("POST", "/sessions/query", {
    expression: 'agent_certainty == "marked"',
  });
  t.match(found.data, [{ agent: claude.name, agent_certainty: "marked", reason: /Claude in Chrome, by its mark\./ }]);
  t.match(await server.command("check"), { ok: true });
});

t.test("the reason of an answer with an agent says who it is and by what, whatever was decided", async (t) => {
  const project = await fresh();
  await project.enable();
  const marked = await session(project, [mark]);
  const press = { x: 400, y: 300, pointer_type: "mouse", pressure: 0 };
  const acting = await session(project, undefined, {}, { lone_activations: 1, eval_length: 33 }, press);
  const person = await session(project, undefined);
  const reason = async (...asked: Parameters<typeof judged> extends [Project, ...infer Rest] ? Rest : never) =>
    (await judged(project, ...asked)).reason as string;
  const who = "The visitor is";
  t.equal(
    await reason(marked),
    `Likely human (score 60): no evidence of automation. ${who} Claude in Chrome, by its mark.`,
  );
  const signs = "activation without input and presses without pressure";
  t.match(await reason(acting), new RegExp(`\\. ${who} an unknown agent, by its behavior: ${signs}\\.$`));
  t.notMatch(await reason(person), who);
  t.notMatch(await reason(null), who);
  const named = (userAgent: string) => [["User-Agent", userAgent]] as const;
  const gptBot = named("Mozilla/5.0; compatible; GPTBot/1.2; +https://openai.com/gptbot");
  t.match(await reason(null, named("ChatGPT-User/1.0")), `${who} ChatGPT-User, by its user agent.`);
  t.match(await reason(null, gptBot, "/", openAi), `: OpenAI. ${who} GPTBot, by its address. Allowed: verified bots`);
  const unnamed = await reason(null, named("Mozilla/5.0"), "/", openAi);
  t.match(unnamed, ": OpenAI. Allowed: verified bots are let through.", "it says who it is already");

  await project.rule('agent_certainty == "marked"', "log");
  t.match(await reason(marked), /, by its mark\. Logged by rule "agent_certainty == "marked""\.$/);
  const { json } = await server.ask("GET", `/v1/sessions/${acting}/verdict`, {
    headers: { "X-Service-Private-Key": project.privateKey },
  });
  t.notMatch(json.reason, who, "the verdict read stays as it is");
  const off = await fresh();
  t.notMatch((await judged(off, await session(off, [mark]))).reason, who, "without request scoring, too");
});

t.test("a session tells since when its agent is known: by each means the first report that shows it", async (t) => {
  const project = await fresh();
  const token = await session(project, undefined);
  const report = async (payload: Record<string, unknown>) => {
    const headers = { ...browserHeaders, "X-Service-Site-Key": project.siteKey };
    const env = { ...event(`marks-since-${++sessions}0000`, payload), type: "env" };
    await server.ask("POST", "/v1/events", { headers, body: { session_token: token, events: [env] } });
    return (await server.ask("GET", sessionAt(project, token), { token: tenant.token })).json;
  };
  t.equal((await report({ eval_length: 33 })).agent, null);
  const acted = await report({ lone_activations: 2, shared_focus: 2 });
  t.match(acted.agent, { certainty: "behavior", since: acted.last_seen_at });
  t.ok(acted.agent.since > acted.first_seen_at);
  const later = await report({ lone_activations: 1 });
  t.match(later.agent, { certainty: "behavior", since: acted.last_seen_at });
  t.ok(later.last_seen_at > acted.last_seen_at);
  const marked = await report({ agent_marks: [mark] });
  t.match(marked.agent, { certainty: "marked", since: marked.last_seen_at });
  const more = await report({ agent_marks: [mark, "element:codex-agent-overlay-root"] });
  t.match(more.agent, { name: claude.name, since: marked.last_seen_at });
  const declared = await session(project, undefined, { "user-agent": "curl/8.5.0" });
  const { json } = await server.ask("GET", sessionAt(project, declared), { token: tenant.token });
  t.match(json.agent, { certainty: "declared", since: null }, "its last request says it");
});

t.test("a session keeps the agent that it was known by, whatever becomes of the list", async (t) => {
  const project = await fresh();
  const token = await session(project, [mark]);
  const agent = async (each = token) =>
    (await server.ask("GET", sessionAt(project, each), { token: tenant.token })).json.agent?.name;
  const { entries } = await server.command("agent-marks", "list");
  const mine = { ...entries[0], name: "Mine", kind: "global", value: "__mine" };
  const files = {
    mine: [mine],
    edited: entries.map((each: { value: string }) => ({ ...each, value: each.value.replace("cursor*", "cursor") })),
    none: [],
    other: [{ ...mine, name: "Other", value: "__other" }],
  };
  const dir = t.testdir(
    Object.fromEntries(
      Object.entries(files).map(([name, list]) => [name, JSON.stringify({ version: name, entries: list })]),
    ),
  );
  const take = (name: string, ...flags: string[]) => server.command("agent-marks", "import", join(dir, name), ...flags);

  t.match(await take("edited"), { version: "edited", added: 1, removed: 1 });
  t.equal(await agent(), claude.name, "the pattern was edited");
  t.match(await take("mine"), { count: 1, added: 1, removed: entries.length });
  t.equal(await agent(), claude.name, "the list has another product alone");
  const marked = await session(project, ["global:__mine"]);
  t.match(await take("other", "--merge"), { version: "other", count: 2, added: 1, removed: 0 });
  t.strictSame([await agent(), await agent(marked)], [claude.name, "Mine"]);
  t.match(await server.command("check"), { ok: true });

  const refused = await command(["agent-marks", "import", join(dir, "none"), ...server.where]);
  t.equal(refused.code, 1);
  t.match(refused.stderr, /has no entries.*--allow-empty/);
  t.match(await take("none", "--allow-empty"), { count: 0, removed: 2 });
  t.strictSame([await agent(), await agent(marked)], [claude.name, "Mine"]);
  t.match(await server.command("agent-marks", "reset"), { count: entries.length, added: entries.length, removed: 0 });
  t.match(await server.command("agent-marks", "list"), { source: "shipped", entries });
  t.strictSame([await agent(), await agent(marked)], [claude.name, "Mine"]);

  const { stdout } = await command(["agent-marks", "import", join(dir, "mine"), "--forget", ...server.where]);
  t.match(stdout, /removed: 39\n.*sessions that were known by it have lost their agent/);
  t.strictSame([await agent(), await agent(marked)], [undefined, "Mine"], "a mark that named people can be forgotten");
  await server.command("agent-marks", "reset");
  t.equal(await agent(), claude.name);
  t.match(await server.command("check"), { ok: true });
});

t.test("lists that were imported by earlier builds have retired the shipped one", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const agent = () => {
    const lists = new AgentMarkCatalogues(store);
    return createAgentMarks(lists.read(), lists.retired()).of(mark)?.name;
  };
  t.equal(agent(), claude.name);
  store.agentMarks.putSync("catalogue", { version: "1", entries: [] });
  t.equal(agent(), claude.name);
  const many = (from: number): AgentMarkCatalogue => ({
    version: "1",
    entries: Array.from({ length: 200 }, (_, index) => ({
      name: "Many",
      operator: "Many",
      category: "ai_agent",
      kind: "global",
      value: `__many_${from + index}`,
      source: "https://example.com",
    })),
  });
  const lists = new AgentMarkCatalogues(store);
  for (const from of [0, 200, 400, 600]) await lists.take(many(from), { isMerged: false, isForgetting: false });
  t.equal(lists.retired().length, limits.agentMarksRetiredMax);
  t.equal(lists.retired()[0]?.value, "__many_400", "the oldest go first");
  t.type(await lists.take(many(1), { isMerged: true, isForgetting: false }), "object");
  t.match(
    await lists.take(many(1000), { isMerged: true, isForgetting: false }),
    { at: "entries" },
    "too many together",
  );
});
