/** `POST /v1/verdict` over HTTP: what may be sent, what it answers with and without a session, what is counted and recorded of it. */
import t, { type Test } from "tap";
import { ruleRecipes } from "../../src/console/rule-recipes.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";
import { storeScoredSession } from "../support/stored-session.js";
import { askingProject, navigation, type Told } from "./asking.js";

const server = await startServer(t, ["--ja4-header", "cf-ja4"]);
const tenant = await firstTenant(server);
const fresh = () => askingProject(server, tenant);
const failOpen = { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], subject: "request" };
const agentHeaders = (agent: string) => [["User-Agent", agent]];

t.test("while request scoring is off, the answer is that of the verdict read, with its subject", async (t) => {
  const project = await fresh();
  await project.rule("has_session == false", "block");
  await project.rule("score < 30", "block");
  const bot = await project.bot("disabled");
  const { status, json } = await project.judge({ path: "/a" }, bot);
  t.equal(status, 200);
  t.strictSame(json, { ...(await project.read(bot, "?path=/a")).json, subject: "session" });
  t.equal(json.action, "block");
  for (const token of [undefined, null, "sess_unknown", 5, {}]) {
    t.match((await project.judge({ headers: navigation }, token)).json, failOpen, `${token}`);
  }
});

t.test("once it is on, every request has a verdict at once, with or without a session", async (t) => {
  const project = await fresh();
  t.match((await project.judge({ headers: navigation })).json, failOpen);
  await project.enable();
  const { json } = await project.judge({ headers: navigation });
  t.match(json, { verdict: "likely_human", score: 60, action: "allow", detection_ids: [], subject: "request" });
  t.match(json.reason, /no evidence of automation/);
  t.strictSame(Object.keys(json), ["verdict", "score", "action", "detection_ids", "reason", "subject"]);
  t.match(
    (await project.judge({})).json,
    { verdict: "likely_human", subject: "request" },
    "nothing told is no evidence",
  );
  const person = await project.person("enabled0");
  const own = (await project.read(person)).json;
  t.match((await project.judge({ headers: navigation }, person)).json, {
    verdict: "likely_human",
    score: Math.min(own.score, 60),
    subject: "session",
  });
  const bot = await project.bot("enabled1");
  const botOwn = (await project.read(bot)).json;
  const judged = (await project.judge({ headers: navigation }, bot)).json;
  t.match(judged, { verdict: botOwn.verdict, score: botOwn.score, subject: "session" }, "the lower score counts");
  for (const id of botOwn.detection_ids) t.ok(judged.detection_ids.includes(id));
  t.match((await project.judge({ headers: navigation }, "sess_unknown")).json, { score: 60, subject: "request" });
});

t.test("a session of another project is none", async (t) => {
  const [project, other] = [await fresh(), await fresh()];
  await project.enable();
  await project.rule("has_session", "delay");
  const bot = await other.bot("foreign0");
  t.match((await project.judge({ headers: navigation }, bot)).json, { action: "allow", subject: "request" });
});

t.test("a body that is none of this call is 422, and the credential is asked for first", async (t) => {
  const project = await fresh();
  const send = (body: unknown, token = project.privateKey) => server.ask("POST", "/v1/verdict", { token, body });
  const large = (bytes: number) => {
    const body = { request: { path: "/a" }, padding: "" };
    body.padding = "x".repeat(bytes - JSON.stringify(body).length);
    return body;
  };
  const bodies = ["", "{", "null", "[]", "5", '"x"', {}, { request: null }, { request: [] }, { request: "GET" }];
  const bad = [...bodies, { __proto__: null, session_token: null }, new Uint8Array([0x7b, 0xff, 0x7d]), large(65_537)];
  for (const isOn of [false, true]) {
    if (isOn) await project.enable();
    for (const body of bad) {
      const { status, json } = await send(body);
      t.same([status, json?.code], [422, "INVALID_PAYLOAD"], JSON.stringify(body).slice(0, 40));
    }
    t.equal((await send(large(65_536))).status, 200, "64 KiB are fine");
    t.equal((await send("{", project.siteKey)).status, 401);
    t.equal((await send('{"__proto__": {"request": {}}}')).status, 422);
  }
});

t.test("nothing that a visitor wrote makes the call fail: values are cut, wrong types are missing", async (t) => {
  const project = await fresh();
  await project.enable();
  const token = await project.person("hostile0");
  const long = "x".repeat(16_384);
  const nested = { a: [[[[{}]]]] };
  const hundreds = Array.from({ length: 400 }, (_, index) => [`X-${index}`, "1"]);
  const raw = Buffer.from('{"request":{"headers":[["User-Agent","curl/8 ?"]],"path":"/?"}}').map((byte) =>
    byte === 63 ? 0xff : byte,
  );
  const { status, json } = await server.ask("POST", "/v1/verdict", { token: project.privateKey, body: raw });
  t.match([status, json], [200, { verdict: "definite" }], "bytes that a backend copied into its JSON as they came");
  const requests: Record<string, unknown>[] = [
    { method: 5, path: {}, host: [], ip: true, headers: "x", http_version: 2, ja4: null },
    { method: long, path: long, host: long },
    { ip: long, http_version: long, ja4: long },
    { path: "*", method: "G T", ip: "999.1.1.1", http_version: "9" },
    { headers: [["Accept", long], [long, "*/*"], ["", "x"], ["a"], ["a", 5], ["a", "b", "c"], null, 7, nested] },
    { headers: { accept: long, [long]: "x", a: nested, b: ["c", 5, null], "": "x" } },
    { headers: hundreds },
    { headers: Object.fromEntries(hundreds as [string, string][]) },
    {
      headers: [
        ["Accept", "\u0000\r\nX: y"],
        ["A\r\nB", "\ud800"],
        ["User-Agent", "é🤖"],
      ],
    },
    {
      headers: [
        ["Cookie", "a"],
        ["cookie", "b"],
        ["Host", ""],
        ["User-Agent", ""],
        ["User-Agent", "a"],
      ],
    },
    { headers: JSON.parse('{"__proto__": "x", "constructor": ["a"], "toString": 5}') },
    {
      headers: [
        ["__proto__", "x"],
        ["constructor", "y"],
      ],
      nested,
      __proto__: null,
    },
  ];
  for (const request of requests) {
    const { status, json } = await project.judge(request, token);
    t.equal(status, 200);
    t.not(json.verdict, "not_computed", JSON.stringify(request).slice(0, 60));
  }
});

t.test("what was not taken as it came is counted", async (t) => {
  const project = await fresh();
  const read = async (result: string) => (await server.metrics()).sum("verdictd_requests_trimmed_total", { result });
  const before = { cut: await read("cut"), dropped: await read("dropped"), ignored: await read("ignored") };
  await project.judge({ headers: [["Accept", "x".repeat(513)]] });
  await project.judge({ headers: Array.from({ length: 101 }, () => ["A", "b"]) });
  await project.judge({ method: 5 });
  await project.judge({
    headers: [
      ["Signature", "x".repeat(4096)],
      ["Accept", "x".repeat(512)],
    ],
  });
  for (const [result, count] of Object.entries(before)) t.equal(await read(result), count + 1, result);
});

t.test("the first 100 headers count, as a list and as an object, and no entry that is no pair is one", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('user_agent == "late"', "delay");
  const many = Array.from({ length: 99 }, (_, index) => [`X-${index}`, "1"]);
  const action = async (headers: unknown) => (await project.judge({ headers })).json.action;
  t.equal(await action([...many, ["User-Agent", "late"]]), "delay");
  t.equal(await action([...many, ["x", 5], null, ["User-Agent", "late"]]), "delay", "what is skipped takes no place");
  t.equal(await action([...many, ["X-99", "1"], ["User-Agent", "late"]]), "allow");
  const named = Object.fromEntries(many as [string, string][]);
  t.equal(await action({ ...named, "User-Agent": "late" }), "delay");
  t.equal(await action({ ...named, "x-more": ["1", "2"], "User-Agent": "late" }), "allow");
});

t.test("the context is that of the verdict read; what is missing is what the session last reported", async (t) => {
  const project = await fresh();
  await project.enable();
  const told = { method: "get", path: "/a/../b?c=1", host: "Shop.Example", ip: "::ffff:203.0.113.7" };
  const expressions = ['method == "GET"', 'path == "/b"', 'host == "shop.example"', 'ip == "203.0.113.7"'];
  await project.rule(expressions.join(" AND "), "delay", { sort_order: -2 });
  await project.rule('user_agent == "Stored/1.0"', "challenge", { sort_order: -1 });
  t.equal((await project.judge(told)).json.action, "delay");
  t.equal((await project.judge({ ...told, ip: "203.0.113.7:4711" })).json.action, "delay");
  t.equal((await project.judge({ ...told, ip: "[::ffff:203.0.113.7]:80" })).json.action, "delay");
  t.equal((await project.judge({ ...told, path: undefined })).json.action, "allow");
  const stored = await storeScoredSession(server.store, project.id, Date.now() - 5000, 1, "Stored/1.0");
  t.equal((await project.judge({}, stored)).json.action, "challenge");
  t.equal((await project.judge({ headers: [["Accept", "*/*"]] }, stored)).json.action, "challenge");
  t.equal((await project.judge({ headers: { "user-agent": ["Another/1.0"] } }, stored)).json.action, "allow");
  t.equal((await project.judge({ headers: { host: "shop.example" }, ...told, host: undefined })).json.action, "delay");
});

t.test("http_version is read in its spellings, ja4 as it is told, and neither from the headers", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule('http_version == "2"', "delay");
  await project.rule('ja4 starts_with "t13d"', "challenge");
  const action = async (request: Record<string, unknown>) => (await project.judge(request)).json.action;
  for (const version of ["2", "2.0", "HTTP/2", "HTTP/2.0", "http/2"])
    t.equal(await action({ http_version: version }), "delay");
  for (const version of ["1.1", "3", "HTTP/1.1", "", "22", 2, "2.1"])
    t.equal(await action({ http_version: version }), "allow");
  t.equal(await action({ ja4: "t13d1516h2_8daaf6152771_e5627efa2ab1" }), "challenge");
  const proxied = { "x-service-private-key": project.privateKey, "cf-ja4": "t13d1516h2", ...agentOf(navigation) };
  const { status, headers } = await server.ask("GET", "/v1/forward-auth", { headers: proxied });
  t.same([status, headers.get("x-verdict-action")], [204, "allow"], "nor from a proxy that is not trusted");
  t.equal(
    await action({
      headers: [
        ["CF-JA4", "t13d1516h2"],
        ["ja4", "t13d1516h2"],
      ],
    }),
    "allow",
  );
});

t.test(
  "rules read the absence of a session and the rate of an address, guards and policies hold as on the read",
  async (t) => {
    const project = await fresh();
    await project.enable();
    await project.rule("NOT has_session AND requests_per_minute > 3", "block", { sort_order: -2 });
    await project.rule("event_count >= 0 OR session_age >= 0", "delay", { sort_order: -1 });
    const ask = async (ip: string, token?: string) => (await project.judge({ ip, path: "/x.css" }, token)).json.action;
    for (let round = 0; round < 3; round++) t.equal(await ask("198.51.100.1"), "allow");
    t.equal(await ask("198.51.100.1"), "block");
    t.equal(await ask("198.51.100.2"), "allow");
    for (let round = 0; round < 3; round++) t.equal(await ask(`2001:db8:1:2::${round}`), "allow");
    t.equal(await ask("2001:db8:1:2:ffff::1"), "block", "an IPv6 network counts as one");
    t.equal((await project.judge({})).json.action, "allow", "no address, no rate");
    const person = await project.person("policies");
    t.equal(await ask("198.51.100.1", person), "delay");
    await project.control("PUT", "/scoring/settings", { protect_static: false });
    t.match((await project.judge({ ip: "198.51.100.1", path: "/x.css" })).json, { action: "allow", reason: /static/ });
    await project.control("PUT", "/scoring/settings", { logged_in_policy: "whitelist" });
    await server.ask("POST", `/v1/sessions/${person}/logged-in`, { token: project.privateKey });
    t.match((await project.judge({ path: "/a" }, person)).json, { action: "allow", reason: /Softened/ });
  },
);

t.test("a verdict is computed each time, and the read beside it is not", async (t) => {
  const project = await fresh();
  await project.enable();
  const token = await project.person("computed");
  t.equal((await project.judge({ path: "/a" }, token)).json.action, "allow");
  t.equal((await project.read(token, "?path=/a")).json.action, "allow");
  await project.rule('path == "/a"', "challenge");
  t.equal((await project.judge({ path: "/a" }, token)).json.action, "challenge");
  t.equal((await project.read(token, "?path=/a")).json.action, "allow", "until its TTL ends");
});

t.test("an address of the verified-bot list is verified without a session", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule("score < 100", "block");
  const { json } = await project.judge({ ip: "66.249.66.1", headers: agentHeaders("Googlebot/2.1") });
  t.match(json, { verdict: "verified", action: "allow", verified_bot_category: "search", subject: "request" });
  t.match(json.reason, /Google.*let through/);
  await project.control("PUT", "/scoring/settings", { allow_verified: false });
  t.match((await project.judge({ ip: "66.249.66.1" })).json, { verdict: "verified", action: "block" });
});

t.test(
  "blocks without a session are recorded once a rule, address and minute, those of sessions as always",
  async (t) => {
    const project = await fresh();
    await project.enable();
    await project.rule('path starts_with "/closed"', "block");
    const blocks = async () => (await project.control("GET", "/blocks?limit=100")).json.data;
    for (let round = 0; round < 30; round++) await project.judge({ ip: "198.51.100.7", path: `/closed/${round}` });
    await project.judge({ ip: "198.51.100.8", path: "/closed" });
    await project.judge({ path: "/closed" });
    for (let round = 0; round < 30; round++) await project.judge({ ip: `2001:db8:0:7:${round}::1`, path: "/closed" });
    const token = await project.person("blocked0");
    for (let round = 0; round < 3; round++) await project.judge({ ip: "198.51.100.7", path: "/closed" }, token);
    const rows = await blocks();
    const alone = rows.filter((row: { session_token: string | null }) => row.session_token === null);
    const counts = alone.map((row: { count: number }) => row.count).sort((a: number, b: number) => b - a);
    t.equal(
      counts.reduce((sum: number, count: number) => sum + count, 0),
      62,
    );
    t.ok(alone.length >= 4 && alone.length <= 8, "a minute may end in between, and an IPv6 network counts as one");
    t.equal(rows.length - alone.length, 3);
    const first = { source: "rule", verdict: "likely_human", score: 60, path: "/closed/0", ip: "198.51.100.7" };
    t.match(alone.at(-1), { ...first, detection_ids: [] });
    for (const { session_token, ip } of rows) if (session_token !== null) t.equal(ip, null, "a session has its own");
  },
);

t.test("statistics and metrics tell sessions and requests apart", async (t) => {
  const project = await fresh();
  await project.judge({ path: "/" });
  await project.enable();
  await project.rule('path == "/closed"', "block");
  const token = await project.person("counted0");
  const metric = async () => (await server.metrics()).sum("verdictd_request_verdicts_total");
  const before = await metric();
  await project.judge({ path: "/closed" });
  await project.judge({ path: "/open" });
  await project.judge({ path: "/closed" }, token);
  t.equal(await metric(), before + 2);
  const { json } = await askUntil(
    () => project.control("GET", "/stats"),
    ({ json: { data } }) =>
      data.at(-1).verdicts.likely_human >= 3 && data.some(({ events }: { events: number }) => events > 0),
  );
  const row = json.data.reduce((last: { events: number }, each: { events: number }) => (each.events > 0 ? each : last));
  t.match(row.verdicts, { likely_human: 3, not_computed: 1 });
  t.match(row.actions, { block: 2, allow: 2 });
  t.match(row.requests, { verdicts: { likely_human: 2, not_computed: 0 }, actions: { block: 1, allow: 1 } });
});

t.test(
  "rules of the new fields can be saved while request scoring is off, and rules/test replays what it can",
  async (t) => {
    const project = await fresh();
    await server.command("ip-list", "import", "office", await listFile(t, "127.0.0.0/8\n"));
    const sources = [
      "request_score < 30",
      "requests_per_minute > 120",
      'country in {"DE", "FR"}',
      "asn == 4294967295",
      'as_name contains "Host"',
      'ip_lists contains "office"',
      'ja4 == "x"',
      'http_version == "1.1"',
      'declared_bot == "curl"',
      'declared_bot_category in {"ai_crawler", "library"}',
      'signed_agent == "chatgpt.com"',
      'signature == "invalid"',
      "cleared",
      "has_session",
    ];
    for (const source of sources) await project.rule(source, "log");
    const token = await project.person("replayed");
    const matched = async (expression: string) =>
      (await project.control("POST", "/rules/test", { expression, action: "block" })).json.matched;
    t.equal(await matched("has_session"), 1);
    t.equal(await matched('ip_lists contains "office"'), 1);
    t.equal(await matched('country != "XX" OR asn != 1'), 0, "a private address has neither");
    for (const missing of [
      'signature != "none"',
      'http_version != "3"',
      "requests_per_minute > 0",
      "request_score > 0",
    ]) {
      t.equal(await matched(missing), 0, missing);
    }
    await project.rule('ip_lists contains "office" AND has_session AND NOT cleared', "challenge", { sort_order: -1 });
    t.equal((await project.read(token)).json.action, "challenge", "the verdict read knows these fields");
  },
);

t.test("country, network and lists of the address are known, with and without a session", async (t) => {
  const project = await fresh();
  await project.enable();
  await server.command("ip-list", "import", "partners", await listFile(t, "8.8.8.0/24\nAS13335\n"), "--as");
  await project.rule('country == "us" AND asn == 15169 AND as_name wildcard "*google*"', "delay", { sort_order: -2 });
  await project.rule('ip_lists contains "partners"', "challenge", { sort_order: -1 });
  t.equal((await project.judge({ ip: "8.8.8.8" })).json.action, "delay");
  t.equal((await project.judge({ ip: "1.1.1.1" })).json.action, "challenge");
  t.equal((await project.judge({ ip: "192.0.2.1" })).json.action, "allow");
  const token = await project.person("networks");
  t.equal((await project.read(token, "?ip=8.8.8.8")).json.action, "delay");
});

const stripe = "Stripe/1.0 (+https://stripe.com/docs/webhooks)";

/** Of each recipe of the console: requests that it takes, and others that it leaves alone. */
const recipeRequests: Readonly<Record<string, { readonly taken: readonly Told[]; readonly left: readonly Told[] }>> = {
  "No AI crawlers": {
    taken: [{ headers: agentHeaders("Mozilla/5.0 (compatible; GPTBot/1.2)") }],
    left: [{ headers: agentHeaders("ChatGPT-User/1.0") }, { headers: navigation }],
  },
  "Allow people’s AI agents, block AI crawlers": {
    taken: [{ headers: agentHeaders("GPTBot/1.2") }, { headers: agentHeaders("ChatGPT-User/1.0") }],
    left: [{ headers: navigation }, { headers: agentHeaders("curl/8.5.0") }],
  },
  // These four take sessions with a mark or signs of an agent, and signed requests: what they do there is tested in `bots/marks/visitors` and
  // `forward-auth`, here only whom they leave alone.
  "Let marked AI agents read, not buy": {
    taken: [],
    left: [{ path: "/checkout", headers: navigation }],
  },
  "A challenge for unknown AI agents at the checkout": {
    taken: [],
    left: [{ path: "/checkout", headers: navigation }],
  },
  "Keep AI agents from sending forms": {
    taken: [],
    left: [{ method: "POST", path: "/contact", headers: navigation }],
  },
  "Let signed AI agents in": {
    taken: [],
    left: [{ headers: agentHeaders("ChatGPT-User/1.0") }],
  },
  "Name all other AI agents in the log": {
    taken: [{ headers: agentHeaders("Devin/1.0") }],
    left: [{ headers: navigation }],
  },
  "No HTTP libraries outside /api": {
    taken: [{ path: "/shop", headers: agentHeaders("python-requests/2.32.3") }],
    left: [
      { path: "/api/items", headers: agentHeaders("python-requests/2.32.3") },
      { path: "/shop", headers: navigation },
    ],
  },
  "A challenge for visitors without a session on /search": {
    taken: [{ path: "/search?q=a", headers: navigation }],
    left: [{ path: "/shop", headers: navigation }],
  },
  "A challenge for forms and fast reading without a session": {
    taken: [{ method: "POST", path: "/contact", ip: "198.51.100.31", headers: navigation }],
    left: [{ method: "GET", path: "/contact", ip: "198.51.100.32", headers: navigation }],
  },
  "A challenge for calls of /api without a session": {
    taken: [{ path: "/api/prices", headers: navigation }],
    left: [{ path: "/prices", headers: navigation }],
  },
  // Four pages older than 5 s: the field has tests of its own.
  "A challenge for visits whose pages run no script": {
    taken: [],
    left: [{ headers: navigation }],
  },
  "A challenge for visits that keep no cookie": {
    taken: [],
    left: [{ ip: "198.51.100.33", headers: navigation }],
  },
  "A challenge for probable bots": {
    taken: [{ headers: agentHeaders("GPTBot/1.2") }],
    left: [{ headers: navigation }],
  },
  "More than 120 requests a minute from an address": {
    taken: [],
    left: [{ ip: "198.51.100.120" }],
  },
  "Only from these countries on /admin": {
    taken: [{ path: "/admin", ip: "8.8.8.8" }, { path: "/admin/users" }],
    left: [
      { path: "/admin", ip: "2a01:4f8::1" },
      { path: "/shop", ip: "8.8.8.8" },
    ],
  },
  "A hosting network with a browser’s user agent": {
    taken: [{ ip: "203.0.113.5", headers: navigation }],
    left: [
      { ip: "198.51.100.5", headers: navigation },
      { ip: "203.0.113.5", headers: agentHeaders("curl/8.5.0") },
    ],
  },
  "Let webhooks in by path": {
    taken: [{ method: "POST", path: "/webhooks/stripe", headers: agentHeaders(stripe) }],
    left: [
      { method: "POST", path: "/checkout", headers: agentHeaders(stripe) },
      { method: "POST", path: "/webhooks/stripe", headers: agentHeaders("curl/8.5.0") },
    ],
  },
  "Let webhooks in by the addresses that their sender publishes": {
    taken: [{ method: "POST", path: "/webhooks/stripe", ip: "203.0.113.99", headers: agentHeaders("curl/8.5.0") }],
    left: [{ method: "POST", path: "/webhooks/stripe", ip: "198.51.100.5", headers: agentHeaders(stripe) }],
  },
  "Let probes and uptime monitors in on /health": {
    taken: [
      { path: "/health", headers: agentHeaders("kube-probe/1.33") },
      { path: "/health", headers: agentHeaders("Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)") },
    ],
    left: [
      { path: "/", headers: agentHeaders("kube-probe/1.33") },
      { path: "/health", headers: agentHeaders("curl/8.5.0") },
    ],
  },
  "Let link previews and feed readers read public pages": {
    taken: [{ method: "GET", path: "/news", headers: agentHeaders("TelegramBot (like TwitterBot)") }],
    left: [
      { method: "GET", path: "/account/orders", headers: agentHeaders("TelegramBot (like TwitterBot)") },
      { method: "POST", path: "/news", headers: agentHeaders("TelegramBot (like TwitterBot)") },
    ],
  },
};

t.test("the console's recipes take the requests that they are for, and leave others alone", async (t) => {
  await server.command("ip-list", "import", "hosting", await listFile(t, "203.0.113.0/24\n"));
  await server.command("ip-list", "import", "webhooks", await listFile(t, "203.0.113.99\n"));
  t.same(
    ruleRecipes.map(({ name }) => name),
    Object.keys(recipeRequests),
  );
  for (const { name, expression, action } of ruleRecipes) {
    const project = await fresh();
    await project.enable();
    await project.rule(expression, action);
    // What is allowed shows only above a rule that blocks.
    const otherwise = action === "allow" ? "block" : "allow";
    if (action === "allow") await project.rule("score < 100", "block", { sort_order: 1 });
    const { taken, left } = recipeRequests[name]!;
    for (const request of taken) t.equal((await project.judge(request)).json.action, action, name);
    for (const request of left) t.equal((await project.judge(request)).json.action, otherwise, name);
    if (name.includes("fast reading")) {
      for (let request = 2; request <= 5; request++) await project.judge(left[0]!);
      t.equal((await project.judge(left[0]!)).json.action, action, "the sixth of a minute");
    }
    if (name.includes("no cookie")) {
      const body = { request: { ip: "198.51.100.34", headers: navigation }, issue_token: true };
      const page = async () =>
        (await server.ask("POST", "/v1/verdict", { token: project.privateKey, body })).json.action;
      for (let before = 1; before <= 5; before++) t.equal(await page(), otherwise);
      t.equal(await page(), action, "the sixth page");
    }
    if (!name.includes("120")) continue;
    const before = Array.from({ length: 119 }, () => project.judge(left[0]!));
    for (const { json } of await Promise.all(before)) t.equal(json.action, "allow");
    t.equal((await project.judge(left[0]!)).json.action, action, "the 121st");
  }
});

function agentOf(lines: typeof navigation): Record<string, string> {
  return { "user-agent": lines.find(([name]) => name === "User-Agent")?.[1] ?? "" };
}

/** A file with this text. */
async function listFile(t: Test, text: string): Promise<string> {
  return `${t.testdir({ "list.txt": text })}/list.txt`;
}
