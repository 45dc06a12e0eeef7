/** The files of `--ip-database` in a running server: damage stops the start, SIGHUP takes a new file over or keeps the old facts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { mmdbFile } from "../support/mmdb.js";
import { verdictd } from "../support/process.js";
import { startServer } from "../support/server.js";
import { isOnCluster } from "../support/test-store.js";

const fileOf = (country: string) => mmdbFile({ networks: { "8.8.8.0/24": { country_code: country } } });

t.test("a damaged file stops the start with one line that names it", async (t) => {
  const dir = t.testdir({ "bad.mmdb": "no database" });
  const { code, stdout, stderr } = await verdictd([
    "serve",
    "--data-dir",
    join(dir, "store"),
    "--port",
    "0",
    "--admin-port",
    "0",
    "--ip-database",
    join(dir, "bad.mmdb"),
  ]);
  t.equal(code, 1);
  t.notMatch(stdout, /listening/);
  // On a cluster a line of the log, behind what was found in the cluster.
  const reason = isOnCluster ? JSON.parse(stderr).reason : /^(.*)\n$/.exec(stderr)?.[1];
  t.match(reason, /^--ip-database: ".*bad\.mmdb" is no MaxMind DB file, or it was cut off$/);
});

t.test("SIGHUP takes a new file over on all threads, and keeps the old facts when it is damaged", async (t) => {
  const dir = t.testdir();
  const [file, other] = [join(dir, "one.mmdb"), join(dir, "two.mmdb")];
  writeFileSync(file, fileOf("AT"));
  writeFileSync(other, fileOf("CH"));
  const flags = ["--ip-database", file, "--ip-database", other, "--http-threads", "2"];
  const server = await startServer(t, flags, join(dir, "store"));
  writeFileSync(file, fileOf("DE"));
  server.child.kill("SIGHUP");
  t.same((await server.logged("network data reloaded"))["files"], [file, other]);
  writeFileSync(file, "damaged");
  server.child.kill("SIGHUP");
  const refused = await server.logged("the new network data can't be used; the old data stays");
  t.match(JSON.stringify(refused), /one\.mmdb.* is no MaxMind DB file/);
  t.equal((await server.ask("GET", "/healthz", {})).status, 200);
});
