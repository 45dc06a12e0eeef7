/** What visitors and members write never reaches a terminal or a log as characters that a terminal obeys, and is not lost either. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import fc from "fast-check";
import t from "tap";
import { parseYaml, yamlText } from "../../src/config/yaml-file.js";
import { isPrintable, printableJson, printableLine } from "../../src/runtime/printable.js";
import { automatedBatch, event } from "../support/batches.js";
import { command, start } from "../support/process.js";
import { anyCharacter, holds } from "../support/property.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
/** Every character that must not come through: C0, DEL and C1, bidirectional controls, separators of lines and paragraphs. */
const forbidden = [
  ...[range(0, 0x1f), range(0x7f, 0x9f), [0x61c], range(0x200e, 0x200f), range(0x2028, 0x202e), range(0x2066, 0x2069)],
]
  .flat()
  .map((code) => String.fromCharCode(code));
const nasty = `<${forbidden.join("")}>`;
/** Those that an HTTP header may carry. */
const nastyHeader = `Mozilla/5.0 ${range(0x80, 0x9f)
  .map((code) => String.fromCharCode(code))
  .join("")}`;

function found(output: string): string[] {
  return forbidden.filter((character) => character !== "\n" && output.includes(character));
}

t.test("no command prints what a terminal obeys; its JSON and YAML hold the text all the same", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const { siteKey, privateKey, projectId, token, accountId } = await firstTenant(server);
  const dataDir = ["--data-dir", server.dataDir];
  const rule = { name: nasty, expression: `score < 99 AND\n\tpath != "${"\u202e\u0085\u2028"}"`, action: "block" };
  t.equal((await server.ask("POST", `/v1/projects/${projectId}/rules`, { token, body: rule })).status, 201);
  const follower = start(["tail", ...dataDir]);
  t.teardown(() => follower.kill("SIGKILL"));
  const err = createInterface({ input: follower.stderr })[Symbol.asyncIterator]();
  const out = createInterface({ input: follower.stdout })[Symbol.asyncIterator]();
  t.equal((await err.next()).value, "following");

  const { session_token: none, events } = automatedBatch("printable") as { session_token: null; events: object[] };
  const { json: sent } = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": siteKey, "user-agent": nastyHeader },
    body: { session_token: none, events: [...events, event("printable-2", { path: `/${nasty}`, host: nasty })] },
  });
  const asked = await server.ask("GET", `/v1/sessions/${sent.session_token}/verdict`, {
    token: privateKey,
    headers: { "x-service-request-path": `/${nastyHeader}` },
  });
  t.equal(asked.json.action, "block");
  await askUntil(
    () => server.ask("GET", `/v1/projects/${projectId}/blocks`, { token }),
    ({ json }) => json?.data?.length === 1,
  );
  t.same(found(String((await out.next()).value)), [], "tail");

  const show = ["session", "show", sent.session_token, ...dataDir];
  const { stdout: lines } = await command(show);
  t.same(found(lines), [], "session show");
  t.match(lines, /\nhost: <\\u0000\\u0001/, "the text is told");
  t.ok(
    lines.split("\n").every((line) => /^[a-z_]+: |^$/.test(line)),
    "no value makes lines of its own",
  );
  const { stdout: whole } = await command([...show, "--json"]);
  t.same(found(whole), [], "session show --json");
  t.equal(JSON.parse(whole).host, nasty, "is JSON of the very text");

  const { stdout: yaml } = await command(["rules", "export", "--project", String(projectId), ...dataDir]);
  t.same(found(yaml), [], "rules export");
  const file = join(server.dataDir, "rules.yaml");
  writeFileSync(file, yaml);
  const rules = async () => {
    const { json } = await server.ask("GET", `/v1/projects/${projectId}/rules`, { token });
    return json.map(({ name, expression }: { name: string; expression: string }) => ({ name, expression }));
  };
  const before = await rules();
  const applied = await command(["rules", "apply", file, "--project", String(projectId), ...dataDir, "--json"]);
  t.match(JSON.parse(applied.stdout), { created: 0, removed: 0 });
  t.same(await rules(), before, "it reads back as it was");
  const again = await command(["rules", "apply", file, "--project", String(projectId), ...dataDir, "--json"]);
  t.match(JSON.parse(again.stdout), { created: 0, changed: 0, removed: 0, unchanged: 3 });

  const bots = join(server.dataDir, "bots.json");
  const entry = { name: nasty, category: "seo", match_method: "ip_cidr", match_value: "192.0.2.0/24" };
  writeFileSync(bots, JSON.stringify({ version: "1", entries: [entry] }));
  const imported = await command(["verified-bots", "import", bots, ...dataDir]);
  t.same(found(imported.stdout + imported.stderr), [], "verified-bots import");
  t.same(found((await command(["verified-bots", "list", ...dataDir])).stdout), [], "verified-bots list");
  const made = ["project", "create", "--account", String(accountId), "--name", nasty.replaceAll("\0", ""), ...dataDir];
  t.same(found((await command(made)).stdout), [], "project create");
  const { stderr } = await command([
    "rules",
    "apply",
    `${server.dataDir}/\u009b2J\u202e`,
    "--project",
    "1",
    ...dataDir,
  ]);
  t.same(found(stderr), [], "what went wrong");
});

t.test("lines of the log have no such characters, and are JSON of the very text", async (t) => {
  const log = new URL("../../src/runtime/log.js", import.meta.url).href;
  const code = `import { createLog } from ${JSON.stringify(log)};
    createLog("info").warn({ err: new Error(process.argv[1]), path: process.argv[1] }, process.argv[1]);`;
  const text = nasty.replaceAll("\0", "");
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code, text], {
    env: {},
  });
  t.same(found(stdout), []);
  const { msg, path, err } = JSON.parse(stdout);
  t.same([msg, path, err.message], [text, text, text]);
});

t.test("any text is printed on one line, and reads back from JSON and YAML as it was", async (t) => {
  const character = fc.oneof(
    fc.constantFrom(...forbidden),
    fc.string({ minLength: 1, maxLength: 3, unit: anyCharacter }),
  );
  const text = fc.array(character, { maxLength: 30 }).map((each) => each.join(""));
  holds(
    t,
    fc.property(text, (given) => {
      const [line, yaml, json] = [printableLine(given), yamlText({ rules: [{ name: given }] }), printableJson([given])];
      if (!isPrintable(line) || found(yaml).length > 0 || found(json).length > 0) return false;
      const read = parseYaml(yaml);
      if (!("value" in read)) return false;
      return (
        JSON.stringify(read.value) === JSON.stringify({ rules: [{ name: given }] }) && JSON.parse(json)[0] === given
      );
    }),
  );
  t.equal(printableLine("Ünïcode 漢字 👩‍💻 ok"), "Ünïcode 漢字 👩‍💻 ok", "what people write stays");
});
