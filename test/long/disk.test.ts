/**
 * Beyond the full disk of `test/resilience/disk.test.ts`: writes of LMDB itself fail, in the middle of
 * transactions, again and again: the limit on the file's size is set on the running process and lifted. verdictd keeps away from this
 * (`src/store/disk-room.ts`), because lmdb-js does not always survive it.
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import t from "tap";
import { storeFile } from "../../src/store/store-file.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { type Served, serve, verdictd } from "../support/process.js";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

t.test(
  "a write that fails under LMDB is answered 503 or 500, or ends the process, and loses nothing either way",
  { skip: hasPrlimit ? false : "needs prlimit (util-linux)" },
  async (t) => {
    const dataDir = t.testdir();
    const owner = await makeOwner(dataDir);
    const flags = ["--verdict-ttl", "0", "--scoring-threads", "1"];
    const start = (): Promise<Served> => serve(t, dataDir, { flags });
    let server = await start();
    let client = new Client(server.port);
    t.teardown(() => client.close());
    const told = new Map<string, string>();
    const counts: Record<string, number> = {};
    let wasCut = false;
    const count = (what: string): void => {
      wasCut ||= what.endsWith("cut off");
      counts[what] = (counts[what] ?? 0) + 1;
    };
    const send = async (name: string): Promise<number> => {
      const reply = await client.send(owner.siteKey, batch(name, 100), name).catch(() => null);
      if (reply?.status === 202) told.set(name, reply.json.session_token);
      count(`batch ${reply?.status ?? "cut off"}`);
      return reply?.status ?? 0;
    };
    const makeRule = async (): Promise<void> => {
      const rule = { name: "n".repeat(200), expression: `path == "${"/long".repeat(300)}"`, action: "block" };
      const asked = client.ask("POST", `/v1/projects/${owner.projectId}/rules`, { authorization }, rule);
      const reply = await asked.catch(() => null);
      count(`rule ${reply?.status ?? "cut off"}`);
    };
    const authorization = `Bearer ${owner.token}`;
    const limit = (bytes: number | "unlimited"): void => {
      spawnSync("prlimit", [`--pid=${server.child.pid}`, `--fsize=${bytes}:`]);
    };
    const startAgain = async (): Promise<void> => {
      count(`ended by ${String(await server.ended())}`);
      client.close();
      server = await start();
      client = new Client(server.port);
      wasCut = false;
    };
    for (let round = 0; round < 100; round++) {
      limit(statSync(storeFile(dataDir)).size);
      for (let index = 0, status = 202; status === 202 && index < 200; index++)
        status = await send(`f${round}x${index}`);
      await Promise.all([send(`full${round}x0`), makeRule(), send(`full${round}x1`)]);
      const verdict = client.ask("GET", `/v1/sessions/${[...told.values()].at(-1)}/verdict`, {
        authorization: `Bearer ${owner.privateKey}`,
      });
      count(
        `verdict ${await verdict.then(
          ({ status }) => status,
          () => "cut off",
        )}`,
      );
      limit("unlimited");
      let after = 0;
      for (let tries = 0; tries < 20 && after !== 202; tries++) {
        if (wasCut) await startAgain();
        after = await send(`after${round}x`);
      }
      if (after !== 202) t.equal(after, 202, "there is room again");
    }
    for (const [name, token] of told) {
      const { json } = await client.send(owner.siteKey, batch(name, 100), name);
      if (json.session_token !== token || json.accepted !== 0)
        t.same(json, { session_token: token, accepted: 0 }, name);
    }
    t.ok((counts["batch 503"] ?? 0) > 100, "writes failed");
    t.equal(await server.end("SIGTERM"), 0);
    const check = await verdictd(["check", "--json", "--data-dir", dataDir]);
    t.match(JSON.parse(check.stdout), { ok: true, fault_count: 0 });
    t.comment(`${told.size} batches acknowledged; ${JSON.stringify(counts)}`);
  },
);
