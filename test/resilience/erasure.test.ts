/** Erasure and the sweep beside a loaded server. */

import t from "tap";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { sweep } from "../../src/store/expiry.js";
import { openStore } from "../../src/store/open-store.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { command, serve } from "../support/process.js";

t.test("erased under load, a session is gone from every table, and the others stay", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir);
  const client = new Client(server.port);
  t.teardown(() => client.close());
  const token: string = (await client.send(owner.siteKey, batch("erase000", 100), "erase-2")).json.session_token;
  for (let index = 1; index <= 3; index++) await client.send(owner.siteKey, batch(`erase00${index}`, 100, token));
  let isDone = false;
  const kept: string[] = [];
  const load = (async () => {
    for (let index = 0; !isDone; index++) {
      kept.push((await client.send(owner.siteKey, batch(`beside${index}`, 2))).json.session_token);
    }
  })();
  const { code, stderr } = await command(["session", "delete", token, "--json", "--data-dir", dataDir]);
  const store = openStore(dataDir);
  await sweep(store, { sessionMs: 1e12, sessionsMax: 1e9, blockMs: 1e12, trafficMs: 1e12 }, Date.now());
  isDone = true;
  await load;
  t.same([code, stderr], [0, ""]);
  const bytes = decodeSessionToken(token)!;
  const holding: string[] = [];
  for (const name of ["sessions", "repeats", "idempotency"] as const) {
    for (const { key, value } of store[name].getRange({})) {
      if (key.includes(bytes) || value.includes(bytes)) holding.push(name);
    }
  }
  t.same(holding, []);
  const sessions = new Sessions(store);
  t.same(
    kept.filter((each) => !sessions.exists(owner.projectId, each)),
    [],
  );
  await store.close();
  const verdict = await client.ask("GET", `/v1/sessions/${token}/verdict?path=/new`, {
    authorization: `Bearer ${owner.privateKey}`,
  });
  t.equal(verdict.json.verdict, "not_computed");
});
