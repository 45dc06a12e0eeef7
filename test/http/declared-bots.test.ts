/** The list of declared bots over HTTP, and a running server that notices an import at once. */
import { join } from "node:path";
import t from "tap";
import { command } from "../support/process.js";
import { startServer } from "../support/server.js";

t.test("the list is public, and another is in force as soon as it is imported", async (t) => {
  const dir = t.testdir({
    "good.json": JSON.stringify({
      version: "mine-1",
      entries: [{ name: "Mine", operator: "Me", category: "other", token: "MineBot" }],
    }),
    "bad.json": JSON.stringify({
      version: "1",
      entries: [{ name: "x", operator: "x", category: "bot", token: "xxx" }],
    }),
    "broken.json": "{",
  });
  const server = await startServer(t, [], join(dir, "store"));
  const ask = () => server.ask("GET", "/v1/declared-bots", {});
  const { status, json } = await ask();
  t.equal(status, 200);
  t.same(Object.keys(json), ["data", "meta"]);
  t.equal(json.meta.count, json.data.length);
  t.ok(json.data.length > 1000);
  t.match(json.meta.version, /^\d{4}-/);
  t.same(Object.keys(json.data[0]).sort(), ["category", "name", "operator", "token"]);
  const listed = await server.command("declared-bots", "list");
  t.match(listed, { source: "shipped", count: json.data.length, version: json.meta.version });
  t.same(listed.entries, json.data);

  for (const [file, expected] of [
    ["bad.json", /entries\[0\]\.category must be one of/],
    ["broken.json", /is not JSON/],
    ["missing.json", /can't read .*ENOENT/],
  ] as const) {
    const { code, stderr } = await command(["declared-bots", "import", join(dir, file), ...server.where]);
    t.equal(code, 1, file);
    t.match(stderr, expected);
    t.equal(stderr.trim().split("\n").length, 1, "one line");
  }
  t.same((await ask()).json, json, "a refused file changes nothing");

  t.same(await server.command("declared-bots", "import", join(dir, "good.json")), {
    version: "mine-1",
    count: 1,
    added: 1,
    removed: json.data.length,
  });
  t.same((await ask()).json, {
    data: [{ name: "Mine", operator: "Me", category: "other", token: "MineBot" }],
    meta: { count: 1, version: "mine-1" },
  });
  t.same(await server.command("declared-bots", "reset"), {
    version: json.meta.version,
    count: json.data.length,
    added: json.data.length,
    removed: 1,
  });
  t.same((await ask()).json, json, "the shipped list is in force again, at once");
  t.match(await server.command("declared-bots", "list"), { source: "shipped" });
  t.match(await server.command("check"), { ok: true });
});
