/** A store under ingest that other processes open thousands of times: without `src/store/environment.ts` it is ruined within seconds. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t from "tap";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { openStore } from "../../src/store/open-store.js";
import { storeFile } from "../../src/store/store-file.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { serve } from "../support/process.js";

const opener = fileURLToPath(new URL("../resilience/opener.js", import.meta.url));
const openForMs = 60_000;

t.test("no acknowledged batch is lost while three processes open the store without end", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir, { flags: ["--scoring-threads", "2"] });
  const openers: ChildProcess[] = Array.from({ length: 3 }, () => fork(opener, [storeFile(dataDir)], { execArgv: [] }));
  t.teardown(() => {
    for (const each of openers) each.kill("SIGKILL");
  });
  const client = new Client(server.port, 8);
  const tokens: string[] = [];
  const refused: string[] = [];
  let isDone = false;
  const visit = async (name: string): Promise<void> => {
    for (let index = 0; !isDone; index++) {
      const id = `${name}-${index}`;
      const { status, json } = await client.send(owner.siteKey, batch(id, 3), id);
      if (status === 202) tokens.push(json.session_token);
      else refused.push(`${id}: ${status}`);
    }
  };
  const visits = Array.from({ length: 8 }, (_, index) => visit(`visitor${index}`));
  // Time is the subject: a minute in which others open and close the store all the while.
  await delay(openForMs);
  for (const each of openers) {
    t.equal(each.exitCode, null, "it could always open the store");
    const ended = once(each, "exit");
    each.kill("SIGKILL");
    await ended;
  }
  isDone = true;
  await Promise.all(visits);
  client.close();
  t.equal(await server.end("SIGTERM"), 0);
  t.comment(`${tokens.length} batches`);
  t.same(refused, []);
  const store = openStore(dataDir);
  t.teardown(() => store.close());
  const sessions = new Sessions(store);
  t.same(
    tokens.filter((token) => sessions.scoredState(owner.projectId, token)?.eventCount !== 3),
    [],
  );
  t.same(checkStore(store).faults, []);
});
