/** What draft rules and changed settings would do to requests without a session and to sessions, against the rules and settings as they are. */
import t from "tap";
import { firstTenant, startServer } from "../support/server.js";
import { askingProject, navigation } from "./asking.js";

const server = await startServer(t, ["--verdict-ttl", "0"]);
const tenant = await firstTenant(server);
const project = await askingProject(server, tenant);
const curl = [["User-Agent", "curl/8.5.0"]];

await project.enable();
const bots = await project.rule("score < 30", "block");
for (const path of ["/a", "/a", "/style.css"]) await project.judge({ path, ip: "192.0.2.7", headers: curl });
const visitor = { path: "/b", ip: "198.51.100.4", headers: navigation };
const { score } = (await project.judge(visitor)).json;
const person = await project.person("effect0");
const scoreOfPerson = (await project.judge(visitor, person)).json.score;

const none = {
  newly_blocked: 0,
  newly_challenged: 0,
  newly_delayed: 0,
  newly_allowed: 0,
  likely_human: 0,
  logged_in: 0,
  marked_human: 0,
};
const testRule = async (draft: object) => (await project.control("POST", "/rules/test", draft)).json;
const testSettings = (body: object) => project.control("POST", "/scoring/settings/test", body);

t.test("a draft's effect on requests without a session, and which rules shadow it there", async (t) => {
  const letIn = { expression: 'agent == "curl" AND agent_certainty == "declared"', action: "allow" };
  const behind = await testRule(letIn);
  t.match(behind.requests, { evaluated: 4, matched: 3, weight: 3, effect: { ...none, unchanged: 4 } });
  t.match(behind.effect, { ...none, unchanged: 1, shadowed_by: [bots], shadows: [] });
  const before = await testRule({ ...letIn, sort_order: -1 });
  t.match(before.requests.effect, { ...none, newly_allowed: 3, unchanged: 1 });
  t.match(before.effect, { ...none, unchanged: 1, shadowed_by: [], shadows: [bots] });
  const people = await testRule({ expression: 'path == "/b"', action: "challenge" });
  t.match(people.requests.effect, { ...none, newly_challenged: 1, likely_human: 1, unchanged: 3 });
  const found = await project.control("GET", `/requests?expression=${encodeURIComponent('agent == "curl"')}`);
  t.equal(found.json.data.length, 3, "searches know the agent too");
  const agents = (await project.control("GET", "/traffic?group_by=agent")).json.data;
  t.match(agents, [{ value: "curl", count: 3 }]);
});

t.test("settings are tried on sessions and requests, and nothing is stored", async (t) => {
  const settings = async () => (await project.control("GET", "/scoring")).json;
  const before = await settings();
  const same = (await testSettings({})).json;
  t.match(same, {
    evaluated: 1,
    effect: { ...none, unchanged: 1, shadowed_by: [], shadows: [] },
    requests: { evaluated: 4, weight: 4, effect: { ...none, unchanged: 4 } },
  });
  t.notOk("is_sample" in same);
  // Static files are let in: one of the three.
  const open = (await testSettings({ protect_static: !before.bot_settings.protect_static })).json;
  const opened = before.bot_settings.protect_static ? { newly_allowed: 1 } : { newly_blocked: 1 };
  t.match(open.requests.effect, { ...none, ...opened, unchanged: 3 });
  t.match(open.effect, { ...none, unchanged: 1 });
  t.match((await testSettings({ likely_bot_threshold: 99, allow_verified: false, hours: 24 })).json, {
    is_sample: false,
    effect: { unchanged: 1 },
  });
  t.same(await settings(), before);
});

t.test("a threshold changes bands, and so what a rule on the band does", async (t) => {
  const rule = await project.rule('band != "likely_human"', "challenge");
  const strict = (await testSettings({ likely_bot_threshold: Math.max(score, scoreOfPerson) + 1 })).json;
  t.match(strict.effect, { ...none, newly_challenged: 1 }, "of the person");
  t.match(strict.requests.effect, { ...none, newly_challenged: 1, unchanged: 3 }, "of the browser's request");
  await server.ask("POST", `/v1/sessions/${person}/logged-in`, { token: project.privateKey });
  const known = { likely_bot_threshold: Math.max(score, scoreOfPerson) + 1, logged_in_policy: "whitelist" };
  const sheltered = (await testSettings(known)).json;
  const threshold = (await testSettings({ ...known, logged_in_policy: "observe" })).json;
  t.match(threshold.effect, { newly_challenged: 1, logged_in: 1 });
  t.match(sheltered.effect, { ...none, unchanged: 1 });
  await project.control("DELETE", `/rules/${rule}`);
});

t.test("bad bodies are refused as those of a change are", async (t) => {
  const bad = [
    { likely_bot_threshold: 0 },
    { likely_bot_threshold: 100 },
    { likely_bot_threshold: "30" },
    { allow_verified: 1 },
    { logged_in_policy: "never" },
    { block_definite: true },
    { challenge_likely: false },
    { limit: 0 },
    { hours: 169 },
  ];
  for (const body of bad) {
    const { status, json } = await testSettings(body);
    t.same([status, json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(body));
  }
});

t.test("a draft of an alert is tested on requests without a session, on sessions, or on both", async (t) => {
  // An alert is asked at the end of each minute: that of this one is still to come.
  const to = new Date(Date.now() + 120_000).toISOString();
  const tested = async (expression: string, count: number, subject: string) =>
    (await project.control("POST", "/alerts/test", { when: { expression, count, minutes: 60, subject }, to })).json;
  const bots = 'agent == "curl"';
  t.match(await tested(bots, 3, "request"), { fired_at: [/./], evaluated: 4 });
  t.match(await tested(bots, 4, "request"), { fired_at: [] });
  t.match(await tested(bots, 3, "session"), { fired_at: [], evaluated: 1 });
  t.match(await tested('band == "likely_human"', 2, "all"), { fired_at: [/./], evaluated: 5 });
  const days = { from: "2026-01-01", to: "2026-01-02" };
  t.match(await project.control("POST", "/alerts/test", { when: { incident: true }, ...days }), { status: 200 });
});
