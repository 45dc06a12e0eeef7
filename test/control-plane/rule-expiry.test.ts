/** Rules that expire: inactive from their time on, in evaluation and in answers, and the same in a file of rules. */
import t from "tap";
import { parseYaml, yamlText } from "../../src/config/yaml-file.js";
import type { RulesFile } from "../../src/contract/configuration/rules-file.js";
import { Rules } from "../../src/control-plane/rules/rules.js";
import { applyRules, exportRules } from "../../src/control-plane/rules/rules-file.js";
import { good, startService } from "../http/service.js";
import { automatedBatch } from "../support/batches.js";

const service = await startService(t);
const future = "2100-01-01T00:00:00.000Z";
const past = "2020-02-29T12:30:00.000Z";

t.test("a rule takes part in verdicts until it expires", async (t) => {
  const { project } = await service.tenant("clock");
  let nowMs = Date.parse("2026-05-01T00:00:00Z");
  const rules = new Rules(service.server.store, () => nowMs);
  const rule = { expressionSource: "score > 0", action: "block", isActive: true, sortOrder: 0 } as const;
  good(await rules.create(project.id, { ...rule, name: "ends", expiresAt: "2026-05-01T01:00:00.000Z" }));
  good(await rules.create(project.id, { ...rule, name: "stays" }));
  const { rulesRevision } = service.server.store.projects.get(project.id)!;
  const names = () => rules.ready({ id: project.id, rulesRevision }).map(({ name }) => name);
  t.same(names(), ["ends", "stays"]);
  nowMs += 3_599_999;
  t.same(names(), ["ends", "stays"]);
  nowMs += 1;
  t.same(names(), ["stays"], "without any change of the rules");
});

t.test("answers show when a rule expires, and an expired one as inactive", async (t) => {
  const one = await service.tenant("answers");
  const at = `/v1/projects/${one.project.id}/rules`;
  const body = { name: "r", expression: 'band == "definite"', action: "block" };
  const send = (method: string, path: string, more: object) =>
    service.ask(method, path, { as: one.token, body: { ...body, ...more } });
  const plain = await send("POST", at, {});
  t.notOk("expires_at" in plain.json, "only where it is set");
  const tokens = [
    await service.ingest(one, automatedBatch("expiry01")),
    await service.ingest(one, automatedBatch("expiry02")),
  ];
  const actionOf = async (token: string) =>
    (await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey })).json.action;
  await service.ask("DELETE", `${at}/${plain.json.id}`, { as: one.token });
  const made = await send("POST", at, { expires_at: "2100-01-01T01:00:00+01:00" });
  t.match(made, { status: 201, json: { is_active: true, expires_at: future } });
  t.equal(await actionOf(tokens[0]!), "block");
  const ended = await send("PATCH", `${at}/${made.json.id}`, { expires_at: past });
  t.match(ended, { status: 200, json: { is_active: false, expires_at: past } });
  t.equal(await actionOf(tokens[1]!), "allow", "an expired rule is inactive");
  const { json: listed } = await service.ask("GET", at, { as: one.token });
  t.match(
    listed.find(({ id }: { id: number }) => id === made.json.id),
    { id: made.json.id, is_active: false, expires_at: past },
  );
  const kept = await service.ask("PATCH", `${at}/${made.json.id}`, { as: one.token, body: { name: "other" } });
  t.match(kept.json, { name: "other", expires_at: past }, "a change of something else keeps it");
  const back = await send("PATCH", `${at}/${made.json.id}`, { expires_at: null });
  t.match(back.json, { is_active: true });
  t.notOk("expires_at" in back.json);
  for (const expires_at of ["tomorrow", "2026-02-30T00:00:00Z", "", 5, {}]) {
    t.match(await send("POST", at, { expires_at }), { status: 422, json: { code: "INVALID_PAYLOAD" } });
    t.equal((await send("PATCH", `${at}/${made.json.id}`, { expires_at })).status, 422, `${expires_at}`);
  }
  const log = await service.ask("GET", `/v1/audit?project=${one.project.id}`, { as: one.token });
  t.ok(JSON.stringify(log.json).includes(past), "the log of changes has it");
});

t.test("a cached verdict ends with the rule that decided it", async (t) => {
  const one = await service.tenant("cached");
  const token = await service.ingest(one, automatedBatch("expiry03"));
  const body = { name: "r", expression: "score > 0", action: "block" };
  const expires_at = new Date(Date.now() + 2000).toISOString();
  await service.ask("POST", `/v1/projects/${one.project.id}/rules`, { as: one.token, body: { ...body, expires_at } });
  // The cache keeps answers for a minute: the test would run out of time if this one were kept so long.
  let action = "";
  do {
    action = (await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey })).json.action;
  } while (action !== "allow" && Date.now() < Date.parse(expires_at) + 20_000);
  t.equal(action, "allow");
});

t.test("a file of rules keeps the times, and applying it again changes nothing", async (t) => {
  const { project } = await service.tenant("file");
  const rules = new Rules(service.server.store, Date.now);
  const source = `rules:
  - name: Tonight
    expression: score < 10
    action: block
    expires_at: ${past}
`;
  const read = parseYaml(source);
  const file = (read as { value: RulesFile }).value;
  t.equal(typeof file.rules[0]!.expires_at, "string");
  good(await applyRules(rules, project.id, file));
  t.match(rules.list(project.id), [{ name: "Tonight", expiresAt: past }]);
  const exported = (parseYaml(yamlText(exportRules(rules, project.id))) as { value: RulesFile }).value;
  t.equal(exported.rules[0]!.expires_at, past);
  t.match(good(await applyRules(rules, project.id, exported)), [{ change: "unchanged" }]);
  const [{ expires_at: _, ...without }] = exported.rules as [RulesFile["rules"][number]];
  t.match(good(await applyRules(rules, project.id, { rules: [without] })), [{ change: "changed" }]);
  t.notOk("expiresAt" in rules.list(project.id)[0]!);
  t.match(await applyRules(rules, project.id, { rules: [{ ...without, expires_at: "soon" }] }), {
    message: /Tonight.*expires_at/,
  });
});
