/** `GET …/traffic`, `…/requests` and `…/crawlers` over HTTP: what was judged is counted and sampled, the present hour included. */
import t from "tap";
import { askRequests } from "../../src/console/pages/explore-requests.js";
import { trafficDimensions } from "../../src/contract/traffic/traffic.js";
import { firstTenant, startServer } from "../support/server.js";
import { askingProject, navigation } from "./asking.js";

const server = await startServer(t, []);
const tenant = await firstTenant(server);
const project = await askingProject(server, tenant);
const get = async (path: string) => project.control("GET", path);
const curl = [["User-Agent", "curl/8.5.0"]];
const fakeGoogle = [["User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"]];

await project.judge({ path: "/not-judged-yet" });
await project.enable();
await project.rule('path == "/closed"', "block");
for (let index = 0; index < 3; index++) {
  const path = `/orders/${4711 + index}?secret=query`;
  await project.judge({ path, method: "GET", host: "Shop.Example", ip: "192.0.2.7", headers: curl });
}
await project.judge({ path: "/closed", method: "POST", ip: "2001:db8:1:2::3", headers: navigation });
await project.judge({ path: "/u/anna@example.org", ip: "203.0.113.9", headers: fakeGoogle });
const person = await project.person("traffic0");
await project.judge({ path: "/", ip: "198.51.100.4", headers: navigation }, person);

t.test("counts by each dimension", async (t) => {
  const { status, json } = await get("/traffic?group_by=path");
  t.equal(status, 200);
  t.match(json.meta, { total: 6, other: 0, without: 0, error: 0 });
  t.match(json.data[0], { value: "/orders/*", count: 3 });
  t.strictSame(json.data.map(({ value }: { value: string }) => value).sort(), ["/", "/closed", "/orders/*", "/u/*"]);
  t.equal(Date.parse(json.meta.to) - Date.parse(json.meta.from), 24 * 3_600_000);
  t.ok(Date.parse(json.meta.to) >= Date.now(), "the present hour is included");
  for (const dimension of trafficDimensions) {
    const counts = (await get(`/traffic?group_by=${dimension}`)).json;
    t.equal(counts.meta.total, 6, dimension);
    const shown = counts.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    if (dimension !== "detection") t.equal(shown + counts.meta.other, 6, dimension);
  }
  t.match((await get("/traffic?group_by=network&limit=1")).json, {
    data: [{ value: "192.0.2.0/24", count: 3 }],
    meta: { other: 3 },
  });
  t.match((await get("/traffic?group_by=user_agent_family")).json.data[0], { value: "curl", count: 3 });
  t.match((await get("/traffic?group_by=rule")).json, {
    data: [{ count: 1, actions: { block: 1 } }],
    meta: { without: 5 },
  });
  t.match((await get("/traffic?group_by=path&subject=session")).json, {
    data: [{ value: "/", count: 1 }],
    meta: { total: 1 },
  });
  t.match((await get("/traffic?group_by=path&action=block")).json.data, [{ value: "/closed", count: 1 }]);
  const compared = (await get("/traffic?group_by=path&compare_from=2026-01-01&compare_to=2026-01-02")).json;
  t.match(compared.compare, {
    data: [],
    meta: { total: 0, from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z" },
  });
});

t.test("samples of requests without a session have no query, no token and no e-mail address", async (t) => {
  const { status, json } = await get("/requests");
  t.equal(status, 200);
  t.equal(json.data.length, 5);
  t.match(json.meta, { next_cursor: null });
  const first = json.data.at(-1);
  t.match(first, {
    method: "GET",
    path: "/orders/4711",
    host: "shop.example",
    ip: "192.0.2.7",
    user_agent: "curl/8.5.0",
    declared_bot: "curl",
    weight: 1,
  });
  t.equal(json.data[0].path, "/u/*");
  t.notMatch(JSON.stringify(json), /secret|anna|traffic0/);
  const { data } = (await get(`/requests?expression=${encodeURIComponent('path == "/closed" and action == "block"')}`))
    .json;
  t.match(data, [{ path: "/closed", method: "POST", ip: "2001:db8:1:2::3", action: "block" }]);
  t.ok(data[0].rule_id > 0);
  const byBot = (await get(`/requests?expression=${encodeURIComponent('declared_bot == "curl" and ja4 == "x"')}`)).json;
  t.match(byBot, { data: [], unavailable_fields: ["ja4"], evaluated_weight: 5 });
  const seen: string[] = [];
  let evaluated = 0;
  for (let cursor = ""; ; ) {
    const page = (await get(`/requests?limit=2${cursor}`)).json;
    seen.push(...page.data.map(({ at, path }: { at: string; path: string }) => at + path));
    evaluated += page.evaluated_weight;
    if (page.meta.next_cursor === null) break;
    cursor = `&cursor=${page.meta.next_cursor}`;
  }
  t.equal(new Set(seen).size, 5, "each once over the pages");
  t.equal(seen.length, 5);
  t.equal(evaluated, 5, "and each is counted once among those that were looked at");
});

t.test("an impostor is counted to the operator that it names", async (t) => {
  const { status, json } = await get("/crawlers");
  t.equal(status, 200);
  const google = json.data.find(({ operator }: { operator: string }) => operator === "Google");
  // Where DNS is not to be had, nobody is called an impostor.
  if (google !== undefined) t.match(google, { verified: 0, impostors: 1, paths: [] });
  t.equal(Date.parse(json.to) - Date.parse(json.from), 7 * 86_400_000);
});

t.test("a draft rule is tested on samples, and every count can be compared with another range", async (t) => {
  const draft = { expression: 'declared_bot == "curl" and path starts_with "/orders"', action: "block" };
  const compared = { compare_from: "2026-01-01", compare_to: "2026-01-02" };
  const tested = (await project.control("POST", "/rules/test", { ...draft, ...compared })).json;
  t.match(tested, {
    requests: { evaluated: 5, matched: 3, weight: 3 },
    compare: { evaluated: 0, matched: 0, is_sample: false, requests: { evaluated: 0, matched: 0, weight: 0 } },
  });
  t.notOk("compare" in (await project.control("POST", "/rules/test", draft)).json);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date(Date.now() + 3_600_000).toISOString();
  const now = { compare_from: from, compare_to: to };
  t.match((await project.control("POST", "/rules/test", { expression: "score < 100", action: "log", ...now })).json, {
    evaluated: 1,
    requests: { evaluated: 5, matched: 5 },
    compare: { evaluated: 1, matched: 1, by_band: { likely_human: 1 }, requests: { evaluated: 5 } },
  });
  const queried = (await project.control("POST", "/sessions/query", { from: "2026-01-01", to: "2026-01-02", ...now }))
    .json;
  t.match(queried, { matched: 0, compare: { matched: 1, data: [{ session_token: person }], groups: [] } });
  const stats = (
    await get("/stats?bucket=day&from=2026-01-01&to=2026-01-03&compare_from=2026-01-03&compare_to=2026-01-04")
  ).json;
  t.strictSame(
    [stats.data.length, stats.compare.data.length, stats.compare.data[0].at],
    [2, 1, "2026-01-03T00:00:00.000Z"],
  );
  for (const bad of [
    { compare_from: "2026-01-01" },
    { compare_from: "x", compare_to: "y" },
    { compare_from: to, compare_to: from },
  ]) {
    t.equal((await project.control("POST", "/rules/test", { ...draft, ...bad })).status, 422);
    t.equal((await project.control("POST", "/sessions/query", bad)).status, 422);
    t.equal((await get(`/stats?${new URLSearchParams(bad as Record<string, string>)}`)).status, 422);
  }
});

t.test("what is no question is refused", async (t) => {
  for (const path of [
    "/traffic",
    "/traffic?group_by=colour",
    "/traffic?group_by=path&limit=0",
    "/traffic?group_by=path&limit=201",
    "/traffic?group_by=path&subject=people",
    "/traffic?group_by=path&band=human",
    "/traffic?group_by=path&action=deny",
    "/traffic?group_by=path&from=yesterday",
    "/traffic?group_by=path&from=2026-02-02&to=2026-02-02",
    "/traffic?group_by=path&from=2026-01-01&to=2026-04-05",
    "/traffic?group_by=path&compare_from=2026-01-01",
    "/traffic?group_by=path&compare_from=2026-01-02&compare_to=2026-01-01",
    "/requests?limit=501",
    "/requests?cursor=x",
    "/requests?expression=path%20==",
    "/requests?from=2026-02-02&to=2026-02-01",
    "/crawlers?from=2026-02-02&to=2026-02-01",
  ]) {
    t.equal((await get(path)).status, 422, path);
  }
  const near = (await get("/traffic?group_by=paths")).json;
  t.match(JSON.stringify(near), /did you mean path/);
});

t.test("hits of rules by minute, of the last hour", async (t) => {
  const { status, json } = await get("/rules/hits");
  t.equal(status, 200);
  t.equal(json.data.length, 60);
  const [first, last] = [Date.parse(json.data[0].at), Date.parse(json.data[59].at)];
  t.equal(last - first, 59 * 60_000);
  t.ok(Date.now() - last < 120_000, "the present minute is included");
  const hits = json.data.flatMap(({ hits_by_rule }: { hits_by_rule: object }) => Object.values(hits_by_rule));
  t.strictSame(hits, [{ sessions: 0, requests: 1 }]);
});

t.test("a fixed time within an hour has the same share whenever it is opened", async (t) => {
  const answers = {
    requests: async (_: number, query: Record<string, string>) =>
      (await get(`/requests?${new URLSearchParams({ limit: "500", ...query })}`)).json,
    traffic: async (_: number, query: Record<string, string>) =>
      (await get(`/traffic?${new URLSearchParams(query)}`)).json,
  };
  const all = (await get("/requests")).json.data;
  const range = { from: all.at(-1).at, to: new Date(Date.parse(all[0].at) + 1).toISOString(), isCompared: false };
  const shown = async (expression: string) =>
    (await askRequests(answers, 0, expression, range, AbortSignal.timeout(60_000))).shown;
  const curl = 'declared_bot == "curl"';
  const matched = (await get(`/requests?${new URLSearchParams({ expression: curl })}`)).json.data.length;
  t.match(await shown(curl), { matched, total: 5 });
  t.match(await shown(""), { matched: 5, total: 5 });
  await project.judge({ path: "/later", ip: "192.0.2.7", headers: navigation });
  t.match(await shown(curl), { matched, total: 5 }, "what comes later in the hour is not in it");
  t.match(await shown(""), { matched: 5, total: 5 });
});
