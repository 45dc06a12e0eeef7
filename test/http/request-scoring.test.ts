/** The settings of request scoring over HTTP: defaults, partial changes, bad values, and what they leave alone. */
import t from "tap";
import { askerAs, firstTenant, newProject, startServer } from "../support/server.js";

const server = await startServer(t);
const tenant = await firstTenant(server);
const ask = askerAs(server, tenant.token);
const settingsOf = (id: number) => `/v1/projects/${id}/request-scoring`;

const badHosts = [
  null,
  "shop.example",
  [""],
  ["*"],
  ["*.*.example"],
  ["a b"],
  ["https://shop.example"],
  ["shop.example/x"],
  ["a..b"],
  [1],
  ["[::1]"],
  Array(101).fill("a"),
];

/** The settings of a new project. */
const initial = { enabled: false, signed_agents: "allow", skip_paths: [], hosts: [], issue_tokens: false };

t.test("request scoring is off and allows signed agents until that is changed, member by member", async (t) => {
  const path = settingsOf(await newProject(server, tenant.accountId));
  t.strictSame((await ask("GET", path)).json, initial);
  for (const body of [{}, undefined, { unknown: 1 }]) {
    const { status, json } = await ask("PUT", path, body);
    t.equal(status, 200);
    t.strictSame(json, initial);
  }
  t.strictSame((await ask("PUT", path, { enabled: true })).json, { ...initial, enabled: true });
  t.strictSame((await ask("PUT", path, { signed_agents: "rules" })).json, {
    ...initial,
    enabled: true,
    signed_agents: "rules",
  });
  t.strictSame((await ask("PUT", path, { enabled: false })).json, { ...initial, signed_agents: "rules" });
  t.strictSame((await ask("PUT", path, { signed_agents: "allow" })).json, initial);
});

t.test("a bad value is 422 and changes nothing, the good ones beside it included", async (t) => {
  const path = settingsOf(await newProject(server, tenant.accountId));
  const bad = {
    enabled: [null, 0, 1, "true", [], {}],
    signed_agents: [null, "", "deny", "Allow", true, ["rules"]],
    hosts: badHosts,
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const { status, json } = await ask("PUT", path, { enabled: true, signed_agents: "rules", [name]: value });
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], `${name}: ${JSON.stringify(value)}`);
      t.match(json.message, name, "the message names the field");
    }
  }
  for (const body of ["{", "[]", "null", '"x"']) t.equal((await ask("PUT", path, body)).status, 422, body);
  t.strictSame((await ask("GET", path)).json, initial);
});

t.test(
  "paths to skip are kept as they were given, up to 50 of 200 characters, and none that could never match",
  async (t) => {
    const path = settingsOf(await newProject(server, tenant.accountId));
    const most = Array.from({ length: 50 }, (_, index) => `/${index}/`.padEnd(200, "x"));
    for (const patterns of [["/webhooks/*", "*.xml", "/café", "/caf%C3%A9"], most, ["*"], []]) {
      t.same((await ask("PUT", path, { skip_paths: patterns })).json.skip_paths, patterns);
      t.same((await ask("GET", path)).json.skip_paths, patterns);
    }
    await ask("PUT", path, { skip_paths: ["/health"] });
    const bad: unknown[] = [
      null,
      "/health",
      {},
      [1],
      [null],
      [""],
      [["/a"]],
      [...most, "/more"],
      [`/${"x".repeat(200)}`],
    ];
    bad.push(
      ["webhooks/*"],
      ["/a", "https://shop.example/a"],
      ["/a?b=1"],
      ["/a#b"],
      ["/a;b"],
      ["/a%2fb"],
      ["/a%3Bb"],
      ["/%25"],
    );
    for (const patterns of bad) {
      const { status, json } = await ask("PUT", path, { enabled: true, skip_paths: patterns });
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(patterns).slice(0, 80));
      t.match(json.message, "skip_paths");
    }
    t.match((await ask("PUT", path, { skip_paths: ["/a", "b"] })).json.message, "skip_paths[1]");
    t.strictSame((await ask("GET", path)).json, {
      enabled: false,
      signed_agents: "allow",
      skip_paths: ["/health"],
      hosts: [],
      issue_tokens: false,
    });
    const { json } = await ask("GET", "/v1/audit?limit=1");
    t.match(
      json.data[0],
      { before: { skip_paths: [] }, after: { skip_paths: ["/health"] } },
      "the log of changes has them",
    );
  },
);

t.test(
  "a change raises the settings revision, by which verdicts notice it, and no other answer shows it",
  async (t) => {
    const project = await newProject(server, tenant.accountId);
    const revision = () => server.store.projects.get(project)!.settingsRevision;
    const [before, scoring] = [revision(), (await ask("GET", `/v1/projects/${project}/scoring`)).json];
    await ask("PUT", settingsOf(project), {});
    t.equal(revision(), before, "nothing was changed");
    await ask("PUT", settingsOf(project), { enabled: true });
    t.equal(revision(), before + 1);
    t.strictSame((await ask("GET", `/v1/projects/${project}/scoring`)).json, scoring);
    await ask("PUT", `/v1/projects/${project}/scoring/settings`, { protect_static: false });
    t.same((await ask("GET", settingsOf(project))).json.enabled, true, "other settings leave it as it is");
  },
);

t.test("a project's own hosts are kept in their one spelling", async (t) => {
  const path = settingsOf(await newProject(server, tenant.accountId));
  const sent = ["Shop.Example.:8443", "*.Müller.example", "shop.example"];
  const { status, json } = await ask("PUT", path, { hosts: sent });
  t.equal(status, 200);
  t.same(json.hosts, ["shop.example", "*.xn--mller-kva.example"]);
  t.same((await ask("PUT", path, { hosts: [] })).json.hosts, []);
});
