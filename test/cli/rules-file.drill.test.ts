/** Rules as a file, by commands beside a running server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { command } from "../support/process.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("rules are exported, edited and applied; applying the same file again changes nothing", async (t) => {
  const server = await startServer(t);
  const one = await firstTenant(server);
  const flags = ["--project", String(one.projectId), "--data-dir", server.dataDir];
  const { stdout } = await command(["rules", "export", ...flags]);
  t.match(stdout, /band == "definite"/);
  const file = join(server.dataDir, "rules.yaml");
  writeFileSync(file, stdout);
  t.match(JSON.parse((await command(["rules", "apply", file, ...flags, "--json"])).stdout), {
    created: 0,
    removed: 0,
  });

  const edited = `rules:
  - name: Let the office in
    expression: ip == "198.51.100.0/24"
    action: allow
  - name: Block definite bots
    expression: band == "definite"
    action: block
    is_active: true
`;
  writeFileSync(file, edited);
  const before = await server.ask("GET", `/v1/projects/${one.projectId}/rules`, { token: one.token });
  const dry = await command(["rules", "apply", file, ...flags, "--dry-run"]);
  t.equal(
    dry.stdout,
    `+ Let the office in
    + expression: ip == "198.51.100.0/24"
    + action: allow
    + is_active: true
~ Block definite bots
    - is_active: false
    + is_active: true
    - sort_order: ${before.json[0].sort_order}
    + sort_order: 20
- Challenge likely bots
    - expression: band == "likely_automated"
    - action: challenge
    - is_active: false
1 created, 1 changed, 1 removed, 0 unchanged (dry run: nothing was changed)
`,
  );
  const untouched = await server.ask("GET", `/v1/projects/${one.projectId}/rules`, { token: one.token });
  t.same(untouched.json, before.json, "a dry run changes nothing");
  const first = await command(["rules", "apply", file, ...flags, "--json"]);
  t.same(JSON.parse(first.stdout), { created: 1, changed: 1, removed: 1, unchanged: 0 });
  const again = await command(["rules", "apply", file, ...flags, "--json"]);
  t.same(JSON.parse(again.stdout), { created: 0, changed: 0, removed: 0, unchanged: 2 });
  const { json } = await server.ask("GET", `/v1/projects/${one.projectId}/rules`, { token: one.token });
  t.same(
    json.map(({ name, is_active }: { name: string; is_active: boolean }) => [name, is_active]),
    [
      ["Let the office in", true],
      ["Block definite bots", true],
    ],
    "the running server has them in the order of the file",
  );

  writeFileSync(file, edited.replace("is_active: true", "is_active: false"));
  const without = await command(["rules", "apply", file, ...flags, "--dry-run", "--json"]);
  t.same(JSON.parse(without.stdout), { created: 0, changed: 1, removed: 0, unchanged: 1, unavailable_fields: [] });
  writeFileSync(file, edited.replace('band == "definite"', 'method == "POST" AND band == "definite"'));
  const lacking = await command(["rules", "apply", file, ...flags, "--dry-run"]);
  t.match(
    lacking.stdout,
    /^Stored sessions don't have method: in backtests and queries a comparison with it is false/m,
  );

  writeFileSync(file, edited.replace('band == "definite"', "band =="));
  const bad = await command(["rules", "apply", file, ...flags]);
  t.equal(bad.code, 2);
  t.match(bad.stderr, /"Block definite bots".*line 1, column \d+/);
  writeFileSync(file, edited.replace("action: block", "action: explode"));
  const odd = await command(["rules", "apply", file, ...flags]);
  t.equal(odd.code, 1);
  t.match(odd.stderr, /rules\[1\]\.action/);
  const after = await server.ask("GET", `/v1/projects/${one.projectId}/rules`, { token: one.token });
  t.same(after.json, json, "a refused file changes nothing");
});
