/** The catalogue of detections, the export of verified bots, and the tenants of every additive endpoint. */
import t from "tap";
import { activeEntries, VerifiedBotCatalogues } from "../../src/control-plane/lists/verified-bot-catalogue.js";
import { detections } from "../../src/detections/catalogue.js";
import { batch } from "../support/batches.js";
import { good, startService } from "./service.js";

/** One server for all tests but those that want flags of their own; each has tenants of its own. */
const service = await startService(t);

t.test("the catalogue of detections is public, whole and cacheable", async (t) => {
  const { status, headers, json } = await service.ask("GET", "/v1/detections");
  t.equal(status, 200);
  t.match(headers.get("cache-control"), /public, max-age=\d+/);
  t.ok(headers.get("etag"));
  t.equal(json.meta.count, detections.length);
  t.same(
    json.data.map((each: { id: number }) => each.id),
    detections.map((each) => each.id).sort((one, other) => one - other),
  );
  for (const row of json.data) t.same(Object.keys(row), ["id", "slug", "engine", "severity", "state", "meaning"]);
});

t.test("the export is what verifies of the catalogue in force, also after an import", async (t) => {
  const one = await service.tenant("one");
  const catalogues = new VerifiedBotCatalogues(service.server.store);
  const exported = () => service.ask("GET", "/v1/verified-bots/export", { as: one.token });
  const { json } = await exported();
  t.same(json.data, activeEntries(catalogues.read()));
  const operators = new Set(json.data.map(({ name }: { name: string }) => name));
  t.same(
    [operators.has("UptimeRobot"), operators.has("Checkly")],
    [true, false],
    "addresses of anybody's scripts are left out",
  );
  t.equal(json.meta.count, json.data.length);
  t.ok(json.meta.count > 1000);
  const entries = [
    { name: "Us", category: "monitoring", match_method: "ip_cidr", match_value: "192.0.2.0/24" },
    { name: "Us", category: "monitoring", match_method: "rdns_suffix", match_value: ".bots.example" },
  ] as const;
  await catalogues.replace({ version: "1", entries });
  t.same((await exported()).json, { data: entries, meta: { count: 2 } });
  await catalogues.replace({ version: "2", entries, script_runners: ["Us"] });
  t.same((await exported()).json, { data: [], meta: { count: 0 } });
});

t.test("the export asks for binding, subscription, feature and ability, in this order", async (t) => {
  const { accounts } = service.server;
  const ask = async (token?: string) => {
    const { status, json } = await service.ask(
      "GET",
      "/v1/verified-bots/export",
      token === undefined ? {} : { as: token },
    );
    return [status, json.code];
  };
  t.same(await ask(), [401, "UNAUTHENTICATED"]);
  t.same(await ask("vat_wrong"), [401, "UNAUTHENTICATED"]);
  const worst = await service.tenant("worst", { plan: "free", abilities: ["content:read"] });
  t.same(await ask(worst.siteKey), [401, "UNAUTHENTICATED"]);
  good(await accounts.changeAccount(worst.account.id, { subscription: "inactive" }));
  t.same(await ask(worst.token), [402, "NO_ACTIVE_SUBSCRIPTION"]);
  good(await accounts.changeAccount(worst.account.id, { subscription: "active" }));
  t.same(await ask(worst.token), [403, "FEATURE_NOT_AVAILABLE"]);
  good(await accounts.changeAccount(worst.account.id, { plan: "business" }));
  t.same(await ask(worst.token), [403, "INSUFFICIENT_TOKEN_ABILITY"]);
  good(await accounts.changeAccount(worst.account.id, { subscription: "inactive" }));
  good(await accounts.removeMember(worst.account.id, worst.user.id));
  t.same(await ask(worst.token), [403, undefined], "of no account that it could pay for");

  for (const plan of ["business", "owner_lifetime"]) {
    for (const [role, abilities, status] of [
      ["viewer", ["projects:read"], 200],
      ["viewer", ["*"], 200],
      ["member", ["projects:read"], 200],
      ["owner", ["projects:write"], 403],
    ] as const) {
      const slug = `${plan.replace("_", "-")}-${role}-${abilities[0].replace(/\W/g, "")}`.replace(/-$/, "");
      const { token } = await service.tenant(slug, { plan, role, abilities });
      t.equal((await ask(token))[0], status, `${plan} ${role} ${abilities}`);
    }
  }
});

t.test("of another account's project nothing is told, not even whether there is one", async (t) => {
  const one = await service.tenant("one");
  const two = await service.tenant("two");
  const token = await service.ingest(two, batch("secret"));
  for (const [method, path, body] of [
    ["GET", "/sessions"],
    ["GET", "/sessions?limit=0"],
    ["GET", `/sessions/${token}`],
    ["GET", "/blocks"],
    ["GET", "/stats"],
    ["POST", "/rules/test", { expression: "score < 99", action: "block" }],
    ["POST", "/rules/test", {}],
  ] as const) {
    const of = (project: number, as: string) => service.ask(method, `/v1/projects/${project}${path}`, { as, body });
    const foreign = await of(two.project.id, one.token);
    const missing = await of(999_999, one.token);
    t.equal(foreign.status, 403, path);
    t.notOk("code" in foreign.json);
    t.same([missing.status, missing.json], [foreign.status, foreign.json], `${path}: a missing project answers alike`);
    t.equal((await of(two.project.id, two.privateKey)).status, 401, `${path}: a private key is no account token`);
    t.equal((await of(two.project.id, two.siteKey)).status, 401);
  }
});
