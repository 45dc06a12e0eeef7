/** A flood of first contacts against a bound: memory and store stop growing, known visitors are served all the while. */
import { statSync } from "node:fs";
import t from "tap";
import { storeFile } from "../../src/store/store-file.js";
import { residentBytes } from "../resilience/idle-connections.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { serve } from "../support/process.js";

const sessionsMax = 20_000;
const mebibyte = 2 ** 20;

t.test("five times the bound in first contacts cost no more than the bound", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir, { flags: ["--sessions-max", String(sessionsMax)] });
  const client = new Client(server.port, 64);
  t.teardown(() => client.close());
  const known = (await client.send(owner.siteKey, batch("known000"))).json.session_token;
  const counts = new Map<number, number>();
  const sizes: string[] = [];
  for (let round = 0; round < 50; round++) {
    const sent = Array.from({ length: 2000 }, (_, index) =>
      client.send(owner.siteKey, batch(`flood${round}x${index}`)),
    );
    const beside = await client.send(owner.siteKey, batch(`known${round}x0`, 2, known));
    if (beside.json?.accepted !== 2) t.match(beside, { json: { accepted: 2 } }, "a known visitor is served");
    for (const { status } of await Promise.all(sent)) counts.set(status, (counts.get(status) ?? 0) + 1);
    const [file, resident] = [statSync(storeFile(dataDir)).size, residentBytes(server.child.pid!)];
    if (round % 10 === 9) sizes.push(`${Math.round(file / mebibyte)}/${Math.round(resident / mebibyte)} MiB`);
  }
  t.same(Object.fromEntries(counts), { 202: sessionsMax - 1, 204: 100_000 - sessionsMax + 1 });
  t.ok(statSync(storeFile(dataDir)).size < sessionsMax * 4096, "under 4 KiB a session that may be");
  t.comment(`store/resident after each 20,000 first contacts: ${sizes.join(", ")}`);
  t.equal(await server.end("SIGTERM"), 0);
});
