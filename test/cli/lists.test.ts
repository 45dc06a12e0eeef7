/** `account list` and `project list`, beside a running server: what the API makes is in them at once. */
import { join } from "node:path";
import t from "tap";
import { command, type FirstKeys, json, serve } from "../support/process.js";
import { threads } from "./ingest.js";

interface Listed {
  readonly data: readonly { readonly id: number; readonly name: string; readonly site_key: string | null }[];
}

t.test("a project that the API creates is listed, by account and among all", async (t) => {
  const dir = join(t.testdir(), "store");
  const first = await json<FirstKeys>(dir, "init");
  const serving = await serve(t, dir, { flags: [...threads] });
  const asked = { token: first.account_token, body: { name: "Shop" } };
  const made = await serving.ask("POST", "/v1/projects", asked);
  t.equal(made.status, 200);
  t.match(made.json, { name: "Shop", scoring_enabled: false });
  const rules = await serving.ask("GET", `/v1/projects/${made.json.id}/rules`, { token: first.account_token });
  t.match(rules.json, [
    { expression_source: 'band == "definite"', is_active: false },
    { expression_source: 'band == "likely_automated"', is_active: false },
  ]);
  const enabled = await serving.ask("POST", `/v1/projects/${made.json.id}/scoring`, { token: first.account_token });

  const other = await json<{ id: number }>(dir, "account", "create", "--name", "Other", "--slug", "other");
  await json(dir, "project", "create", "--account", String(other.id), "--name", "Theirs");
  const own = await json<Listed>(dir, "project", "list", "--account", String(first.account_id));
  t.match(own.data.at(-1), { id: made.json.id, name: "Shop", site_key: enabled.json.site_key });
  t.notOk(
    own.data.some(({ name }) => name === "Theirs"),
    "projects of other accounts are left out",
  );
  const all = await json<Listed>(dir, "project", "list");
  t.equal(all.data.length, own.data.length + 1);
  t.match(await json(dir, "account", "list"), {
    data: [
      { id: first.account_id, plan: "owner_lifetime" },
      { id: other.id, slug: "other", plan: "free" },
    ],
  });

  const shown = await command(["project", "list", "--data-dir", dir]);
  t.match(shown.stdout, /NAME[\s\S]*Shop[\s\S]*Theirs/);
  t.match(shown.stdout, "scoring is not enabled");
});
