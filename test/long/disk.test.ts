/**
 * The disk gives out: a file that can't grow, and a store from a newer version. The limit on the file's size is set on the running
 * process, so that LMDB's own writes fail as they do on a full disk, and lifted again.
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import t from "tap";
import { openStore, schemaVersion } from "../../src/store/store.js";
import { storeFile } from "../../src/store/store-file.js";
import { makeOwner } from "../resilience/owner.js";
import { batch } from "../support/batches.js";
import { Client, type Reply } from "../support/keep-alive-client.js";
import { serve, verdictd } from "../support/process.js";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

t.test(
  "on a full disk batches are refused, verdicts are read on, and when there is room again all goes on",
  { skip: hasPrlimit ? false : "needs prlimit (util-linux)" },
  async (t) => {
    const dataDir = t.testdir();
    const owner = await makeOwner(dataDir);
    const server = await serve(t, dataDir, { flags: ["--verdict-ttl", "0", "--scoring-threads", "1"] });
    const client = new Client(server.port);
    t.teardown(() => client.close());
    const tokens = new Map<string, string>();
    const send = async (name: string): Promise<Reply> => {
      const reply = await client.send(owner.siteKey, batch(name, 100), name);
      if (reply.status === 202) tokens.set(name, reply.json.session_token);
      return reply;
    };
    const verdict = (token: string): Promise<Reply> =>
      client.ask("GET", `/v1/sessions/${token}/verdict`, { authorization: `Bearer ${owner.privateKey}` });
    const limit = (bytes: number | "unlimited"): void => {
      spawnSync("prlimit", [`--pid=${server.child.pid}`, `--fsize=${bytes}:`]);
    };
    await send("before-full");
    limit(statSync(storeFile(dataDir)).size);
    let refused: Reply | null = null;
    for (let index = 0; refused === null && index < 500; index++) {
      const reply = await send(`filling-${index}`);
      if (reply.status !== 202) refused = reply;
    }
    t.same([refused?.status, refused?.json.error], [503, "Service unavailable"]);
    t.equal((await send("while-full")).status, 503, "and again");
    t.ok(
      server.log.some((line) => line["msg"] === "request failed" && line["err"] !== undefined),
      "the log says why",
    );
    for (const token of [...tokens.values()].slice(0, 5)) {
      t.same([(await verdict(token)).status, (await verdict(token)).json.score > 0], [200, true]);
    }
    t.same((await verdict(`sess_${"A".repeat(28)}`)).json.action, "allow");
    // Large enough to need pages that are not there: the writes of the HTTP thread fail as well.
    const failed: number[] = [];
    for (let index = 0; index < 5; index++) {
      const rule = await client.ask(
        "POST",
        `/v1/projects/${owner.projectId}/rules`,
        { authorization: `Bearer ${owner.token}` },
        { name: "n".repeat(200), expression: `path == "${"/long".repeat(300)}"`, action: "block" },
      );
      if (rule.status !== 201) failed.push(rule.status);
    }
    t.ok(failed.length > 0);
    t.same(new Set(failed), new Set([500]), "a change that is not stored is not called done");
    t.equal((await client.ask("GET", "/healthz")).status, 200, "the process lives");
    limit("unlimited");
    let after = await send("after-full");
    for (let tries = 0; tries < 20 && after.status !== 202; tries++) after = await send("after-full");
    t.equal(after.status, 202, "there is room again");
    t.equal((await send("while-full")).json.accepted, 100, "what was refused had left nothing behind");
    for (const [name, token] of tokens) {
      const again = (await client.send(owner.siteKey, batch(name, 100), name)).json;
      if (again.session_token !== token || again.accepted !== 0)
        t.same(again, { session_token: token, accepted: 0 }, name);
    }
    t.equal(await server.end("SIGTERM"), 0);
    const check = await verdictd(["check", "--json", "--data-dir", dataDir]);
    t.match(JSON.parse(check.stdout), { ok: true, fault_count: 0 });
    t.comment(`${tokens.size} batches acknowledged around the outage`);
  },
);

t.test("a store from a newer version is refused by every command, and left as it is", async (t) => {
  const dataDir = t.testdir();
  await makeOwner(dataDir);
  const store = openStore(dataDir);
  store.root.transactionSync(() => store.meta.putSync("schemaVersion", schemaVersion + 1));
  await store.close();
  for (const words of [["serve", "--port", "0", "--admin-port", "0"], ["stats"], ["check"]]) {
    const { code, stderr } = await verdictd([...words, "--data-dir", dataDir]);
    t.equal(code, 1, words.join(" "));
    t.match(stderr, /newer verdictd/);
  }
});
