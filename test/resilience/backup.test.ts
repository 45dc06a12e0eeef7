/** Backups and what comes back of them; the long form is in `test/long`. */

import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openStore, schemaVersion } from "../../src/store/open-store.js";
import { storeFile } from "../../src/store/store-file.js";
import { makeOwner } from "../support/owner.js";
import { command, verdictd } from "../support/process.js";
import { backupUnderLoad } from "./backup-run.js";
import { cannotMount } from "./small-disk.js";

t.test("a backup under load is one whole state, and serves in the store's place", async (t) => {
  await backupUnderLoad(t, 1, 3);
});

t.test("check finds damage, names it and says so by its exit code", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const store = openStore(dataDir);
  store.root.transactionSync(() => {
    store.slugs.removeSync("default");
    store.usage.putSync([owner.accountId, "2026-11"], -1);
    store.sessions.putSync(Buffer.alloc(25, 1), Buffer.from("no session"));
  });
  await store.close();
  const { code, stdout, stderr } = await command(["check", "--json", "--data-dir", dataDir]);
  t.same([code, stderr], [1, "the store has 3 faults\n"]);
  t.same(
    JSON.parse(stdout)
      .faults.map(({ table }: { table: string }) => table)
      .sort(),
    ["accounts", "sessions", "usage"],
  );
});

const serveWords = ["serve", "--port", "0", "--admin-port", "0"];

t.test("a store that can't be used is said so by serve and check, and left as it is", async (t) => {
  const folder = t.testdir({ newer: {}, foreign: { "verdictd.mdb": "no store".repeat(9000) }, short: {} });
  await makeOwner(join(folder, "newer"));
  copyFileSync(storeFile(join(folder, "newer")), storeFile(join(folder, "short")));
  truncateSync(storeFile(join(folder, "short")), 8192);
  const store = openStore(join(folder, "newer"));
  store.root.transactionSync(() => store.meta.putSync("schemaVersion", schemaVersion + 1));
  await store.close();
  const expected = { newer: /newer verdictd/, foreign: /is no store of verdictd/, short: /was cut short/ };
  for (const [name, message] of Object.entries(expected)) {
    const dataDir = join(folder, name);
    const before = readFileSync(storeFile(dataDir));
    for (const words of [serveWords, ["check"]]) {
      const run = words[0] === "serve" ? verdictd : command;
      const { code, stderr } = await run([...words, "--data-dir", dataDir]);
      t.same([code, stderr.trim().split("\n").length], [1, 1], `${name}: ${words[0]} is refused in one line`);
      t.match(stderr, message);
    }
    t.ok(before.equals(readFileSync(storeFile(dataDir))), `${name}: nothing was written`);
  }
});

t.test("a data folder that can't be written stops the start and says why", { skip: cannotMount }, async (t) => {
  const folder = t.testdir({ made: {}, disk: {} });
  await makeOwner(join(folder, "made"));
  const script = join(folder, "run.sh");
  mkdirSync(join(folder, "out"));
  const mounted = `mount -t tmpfs tmpfs "$1" && cp "$2"/verdictd.mdb "$1"/ && mount -o remount,ro "$1" && shift 2 && exec "$@"`;
  writeFileSync(script, mounted);
  const under = [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    script,
    join(folder, "disk"),
    join(folder, "made"),
  ];
  const { code, stderr } = await verdictd([...serveWords, "--data-dir", join(folder, "disk")], {}, under);
  t.equal(code, 1);
  t.match(stderr, /^can't open the store in .*disk: Read-only file system/);
});
