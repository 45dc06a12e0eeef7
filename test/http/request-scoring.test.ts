/** The settings of request scoring over HTTP: defaults, partial changes, bad values, and what they leave alone. */
import t from "tap";
import { firstTenant, newProject, startServer } from "../support/server.js";

const server = await startServer(t);
const tenant = await firstTenant(server);
const ask = (method: string, path: string, body?: unknown) =>
  server.ask(method, path, { token: tenant.token, ...(body !== undefined && { body }) });
const settingsOf = (id: number) => `/v1/projects/${id}/request-scoring`;

t.test("request scoring is off and allows signed agents until that is changed, member by member", async (t) => {
  const path = settingsOf(await newProject(server, tenant.accountId));
  t.strictSame((await ask("GET", path)).json, { enabled: false, signed_agents: "allow" });
  for (const body of [{}, undefined, { unknown: 1 }]) {
    const { status, json } = await ask("PUT", path, body);
    t.equal(status, 200);
    t.strictSame(json, { enabled: false, signed_agents: "allow" });
  }
  t.strictSame((await ask("PUT", path, { enabled: true })).json, { enabled: true, signed_agents: "allow" });
  t.strictSame((await ask("PUT", path, { signed_agents: "rules" })).json, { enabled: true, signed_agents: "rules" });
  t.strictSame((await ask("PUT", path, { enabled: false })).json, { enabled: false, signed_agents: "rules" });
  t.strictSame((await ask("PUT", path, { signed_agents: "allow" })).json, { enabled: false, signed_agents: "allow" });
});

t.test("a bad value is 422 and changes nothing, the good ones beside it included", async (t) => {
  const path = settingsOf(await newProject(server, tenant.accountId));
  const bad = { enabled: [null, 0, 1, "true", [], {}], signed_agents: [null, "", "deny", "Allow", true, ["rules"]] };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const { status, json } = await ask("PUT", path, { enabled: true, signed_agents: "rules", [name]: value });
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], `${name}: ${JSON.stringify(value)}`);
      t.match(json.message, name, "the message names the field");
    }
  }
  for (const body of ["{", "[]", "null", '"x"']) t.equal((await ask("PUT", path, body)).status, 422, body);
  t.strictSame((await ask("GET", path)).json, { enabled: false, signed_agents: "allow" });
});

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
