/** The public catalogue of agents, and the import of marks, which a running server notices at once. */
import { join } from "node:path";
import t from "tap";
import { agentCertainties } from "../../src/contract/bots/agents.js";
import { command } from "../support/process.js";
import { startServer } from "../support/server.js";

const mark = {
  name: "Example agent",
  operator: "Example",
  category: "ai_agent",
  kind: "element",
  value: "example-agent-*",
  source: "https://example.com, 2026-11-26",
};

t.test("the catalogue has one row a name, and shows imported marks at once", async (t) => {
  const dir = t.testdir({
    "good.json": JSON.stringify({
      version: "mine-1",
      entries: [
        mark,
        { ...mark, kind: "global", value: "__example" },
        { ...mark, name: "chatgpt AGENT", value: "chatgpt-x" },
      ],
    }),
    "bad.json": JSON.stringify({ version: "1", entries: [{ ...mark, kind: "class" }] }),
    "broken.json": "{",
  });
  const server = await startServer(t, [], join(dir, "store"));
  const ask = () => server.ask("GET", "/v1/agents", {});
  const { status, json } = await ask();
  t.equal(status, 200);
  t.equal(json.meta.count, json.data.length);
  t.equal(json.meta.version, "2026-11-27");
  const names = json.data.map(({ name }: { name: string }) => name.toLowerCase());
  t.equal(new Set(names).size, names.length, "a name once");
  t.strictSame(names, [...names].sort());
  for (const row of json.data) {
    t.strictSame(Object.keys(row).sort(), ["category", "certainties", "marks", "name", "operator", "source"]);
    t.strictSame(
      row.certainties,
      agentCertainties.filter((each) => row.certainties.includes(each)),
      "the surest first",
    );
    t.equal(row.marks > 0, row.certainties.includes("marked"));
  }
  const rowOf = (data: { name: string }[], name: string) => data.find((each) => each.name === name);
  t.match(rowOf(json.data, "Claude in Chrome"), { operator: "Anthropic", certainties: ["marked"], marks: 5 });
  t.match(rowOf(json.data, "ChatGPT agent"), { category: "ai_agent", source: "https://chatgpt.com" });
  t.match(rowOf(json.data, "GPTBot"), { operator: "OpenAI", category: "ai_crawler" });

  for (const [file, expected] of [
    ["bad.json", /entries\[0\]\.kind must be one of element, attribute, global, stylesheet, event/],
    ["broken.json", /is not JSON/],
    ["missing.json", /can't read .*ENOENT/],
  ] as const) {
    const { code, stderr } = await command(["agent-marks", "import", join(dir, file), ...server.where]);
    t.equal(code, 1, file);
    t.match(stderr, expected);
  }
  t.same((await ask()).json, json, "a refused file changes nothing");
  const listed = await server.command("agent-marks", "list");
  t.match(listed, { source: "shipped", version: json.meta.version });
  t.match(await server.command("agent-marks", "import", join(dir, "good.json")), {
    version: "mine-1",
    count: 3,
    added: 3,
  });
  const after = (await ask()).json;
  t.equal(after.meta.version, "mine-1");
  t.strictSame(rowOf(after.data, "Example agent"), {
    name: "Example agent",
    operator: "Example",
    category: "ai_agent",
    certainties: ["marked"],
    marks: 2,
    source: mark.source,
  });
  t.match(rowOf(after.data, "ChatGPT agent"), { category: "ai_agent", marks: 1, source: mark.source });
  t.notOk(rowOf(after.data, "chatgpt AGENT"));
  t.notOk(rowOf(after.data, "Claude in Chrome"));
  t.match(await server.command("check"), { ok: true });
});
