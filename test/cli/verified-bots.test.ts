/** The catalogue of verified bots on the command line. */
import { join } from "node:path";
import t from "tap";
import { json } from "../support/process.js";

t.test("the catalogue of verified bots is listed, replaced, added to and brought back", async (t) => {
  const dir = join(
    t.testdir({ "one.json": catalogue("1", "192.0.2.0/24"), "two.json": catalogue("2", "198.51.100.0/24") }),
  );
  const store = join(dir, "store");
  await json(store, "init");
  const list = () =>
    json<{ source: string; version: string; count: number; entries: object[]; script_runners: string[] }>(
      store,
      "verified-bots",
      "list",
    );
  const shipped = await list();
  t.equal(shipped.source, "shipped");
  t.equal(shipped.count, shipped.entries.length);
  const one = await json(store, "verified-bots", "import", join(dir, "one.json"));
  t.same(one, { version: "1", count: 1, added: 1, removed: shipped.count });
  const two = await json(store, "verified-bots", "import", join(dir, "two.json"), "--merge");
  t.same(two, { version: "2", count: 2, added: 1, removed: 0 });
  t.same(await list(), {
    version: "2",
    source: "imported",
    count: 2,
    entries: [entry("192.0.2.0/24"), entry("198.51.100.0/24")],
    script_runners: shipped.script_runners,
  });
  const { version, count } = shipped;
  t.same(await json(store, "verified-bots", "reset"), { version, count, added: count, removed: 2 });
  t.same(await list(), shipped);
  t.match(await json(store, "check"), { ok: true });
});

function entry(match_value: string) {
  return { name: "Example", category: "search", match_method: "ip_cidr", match_value };
}

function catalogue(version: string, range: string): string {
  return JSON.stringify({ version, entries: [entry(range)] });
}
