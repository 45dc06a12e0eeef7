/** Whatever the program makes is its owner's alone, under the usual umask, and a folder that is open to others is said at start. */

import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openStore } from "../../src/store/open-store.js";
import { currentSchema } from "../../src/store/upgrades.js";
import { serve, verdictd } from "../support/process.js";

/** As shells and service managers start programs. */
const usual = ["sh", "-c", 'umask 022; exec "$@"', "sh"];

/** Mode of everything below the folder, itself as "."; names that are made up lose their digits. */
function modes(folder: string): Record<string, string> {
  const names = [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  const rows = names.map((name) => {
    const mode = (statSync(join(folder, name)).mode & 0o777).toString(8);
    return [name.replace(/[0-9a-f]{12}\.sock$/, "N.sock"), mode] as const;
  });
  return Object.fromEntries(rows);
}

t.test("store, lock files, sockets and backups are made for their owner", async (t) => {
  const folder = t.testdir({ there: {} });
  const dataDir = join(folder, "new/store");
  const made = await verdictd(["init", "--data-dir", dataDir], {}, usual);
  t.same([made.code, made.stderr], [0, ""]);
  const server = await serve(t, dataDir, { under: usual, flags: ["--scoring-threads", "2"] });
  const { "live/N.sock": socket, live, ...store } = modes(dataDir);
  t.same([live, socket], ["700", "600"]);
  const files = ["verdictd.mdb", "verdictd.mdb-lock"];
  t.same(store, { ".": "700", ...Object.fromEntries(files.map((name) => [name, "600"])) });
  t.equal(statSync(join(folder, "new")).mode & 0o777, 0o700, "also what is made above it");
  for (const name of ["there", "fresh/copy"]) {
    const copy = join(folder, name);
    t.equal((await verdictd(["backup", copy, "--data-dir", dataDir], {}, usual)).code, 0);
    const { ".": _, ...copies } = modes(copy);
    t.same(copies, { "verdictd.mdb": "600" }, name);
  }
  t.equal(await server.end("SIGTERM"), 0);
  t.notOk(
    server.log.some(({ msg }) => /data folder/.test(String(msg))),
    "nothing to warn of",
  );
});

t.test("a folder that others may enter is said at start, with what they may use in it", async (t) => {
  const dataDir = t.testdir({ store: {} });
  await openStore(dataDir).close();
  chmodSync(dataDir, 0o755);
  chmodSync(join(dataDir, "verdictd.mdb"), 0o644);
  mkdirSync(join(dataDir, "live"), { mode: 0o700 });
  const server = await serve(t, dataDir, { under: usual });
  const warning = await server.logged("users other than the owner can enter the data folder: run chmod 700 on it");
  t.match(warning, { level: "warn", dataDir, mode: "755" });
  const names = warning["names"] as string[];
  t.ok(names.includes("verdictd.mdb"));
  t.notOk(names.includes("live"));
  t.equal((await fetch(`${server.address}/readyz`)).status, 200, "it serves all the same");
  t.equal(await server.end("SIGTERM"), 0);
});

t.test("the copy before an upgrade is its owner's, whatever the store was", async (t) => {
  const dataDir = t.testdir();
  await openStore(dataDir).close();
  chmodSync(join(dataDir, "verdictd.mdb"), 0o644);
  const { version, upgrades } = currentSchema;
  const newer = { version: version + 1, upgrades: [...upgrades, { to: version + 1, apply: () => {} }] };
  await openStore(dataDir, newer).close();
  t.equal(modes(dataDir)[`verdictd.mdb.schema-${version}`], "600");
});
