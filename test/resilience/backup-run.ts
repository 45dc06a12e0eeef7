/**
 * Backups beside a loaded server, and the restore drill of the documentation: the copy holds all that was acknowledged before it
 * began, in one state that agrees with itself, and can be served in the store's place.
 */

import { renameSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { openStore } from "../../src/store/open-store.js";
import { batch } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner, type Owner } from "../support/owner.js";
import { command, json, serve } from "../support/process.js";

interface Told {
  /** Sessions by the order of their acknowledgement, with the events that were acknowledged by then at least. */
  readonly tokens: string[];
  errors: number;
  /** Called after each. */
  onTold: () => void;
}

/** Resolves once there are so many. */
function reached(told: Told, count: number): Promise<void> {
  return new Promise((resolve) => {
    told.onTold = () => {
      if (told.tokens.length >= count) resolve();
    };
    told.onTold();
  });
}

/** Sends first contacts, each followed by a second batch of its session, until `isDone`. */
async function load(client: Client, owner: Owner, name: string, told: Told, isDone: () => boolean): Promise<void> {
  for (let index = 0; !isDone(); index++) {
    const id = `${name}x${index}`;
    const first = await client.send(owner.siteKey, batch(`${id}-a0`, 3), id);
    const token = first.json?.session_token;
    const second = await client.send(owner.siteKey, batch(`${id}-b0`, 2, token), `${id}b`);
    if (first.json?.accepted === 3 && second.json?.accepted === 2) told.tokens.push(token);
    else told.errors++;
    told.onTold();
  }
}

/** Takes `backups` of a server under load and restores the last one; asserts on `t`. */
export async function backupUnderLoad(t: Test, backups: number, connections: number): Promise<void> {
  const folder = t.testdir({ data: {} });
  const dataDir = join(folder, "data");
  const owner = await makeOwner(dataDir);
  const port = await freePort();
  const server = await serve(t, dataDir, { port });
  const client = new Client(port, connections);
  t.teardown(() => client.close());
  const told: Told = { tokens: [], errors: 0, onTold: () => {} };
  let isDone = false;
  const loads = Array.from({ length: connections }, (_, index) =>
    load(client, owner, `backup${index}`, told, () => isDone),
  );
  let known = 0;
  for (let count = 0; count < backups; count++) {
    await reached(told, known + 50);
    known = told.tokens.length;
    await json(dataDir, "backup", join(folder, `copy${count}`));
    const copy = openStore(join(folder, `copy${count}`));
    const sessions = new Sessions(copy);
    const missing = told.tokens.filter(
      (token, index) => index < known && sessions.scoredState(owner.projectId, token)?.eventCount !== 5,
    );
    t.same(missing, [], `copy ${count} holds the ${known} sessions acknowledged before it began`);
    const { faultCount, faults } = checkStore(copy);
    t.same([faultCount, faults], [0, []], "and its counts agree with its sessions");
    await copy.close();
  }
  isDone = true;
  await Promise.all(loads);
  t.equal(told.errors, 0, "no batch was lost or refused for it");
  await restore(t, { folder, dataDir, owner, port, client, last: join(folder, `copy${backups - 1}`) }, server, told);
  t.comment(`${backups} backups beside ${told.tokens.length * 2} batches`);
}

interface Drill {
  readonly folder: string;
  readonly dataDir: string;
  readonly owner: Owner;
  readonly port: number;
  readonly client: Client;
  readonly last: string;
}

/** The drill as the documentation has it: check the copy, stop, move the data away, put the copy in its place, start. */
async function restore(
  t: Test,
  { folder, dataDir, owner, port, client, last }: Drill,
  server: Awaited<ReturnType<typeof serve>>,
  told: Told,
): Promise<void> {
  const before = told.tokens[0] ?? "";
  const verdictOf = async (token: string): Promise<unknown> => {
    const path = `/v1/sessions/${token}/verdict`;
    return (await client.ask("GET", path, { authorization: `Bearer ${owner.privateKey}` })).json;
  };
  const after = (await client.send(owner.siteKey, batch("after-copy"), "after-copy")).json.session_token;
  const known = await verdictOf(before);
  t.equal((await command(["check", "--data-dir", last])).code, 0);
  t.equal(await server.end("SIGTERM"), 0);
  renameSync(dataDir, join(folder, "moved-away"));
  renameSync(last, dataDir);
  const restored = await serve(t, dataDir, { port });
  t.same(await verdictOf(before), known, "the restored store gives the same verdict");
  t.match(await verdictOf(after), { verdict: "not_computed", action: "allow" }, "what came after the copy is unknown");
  const again = await client.send(owner.siteKey, batch("restored0", 1, after), "restored");
  t.match(again, { status: 202, json: { accepted: 1 } });
  t.not(again.json.session_token, after, "and gets a new token");
  t.equal(await restored.end("SIGTERM"), 0);
}
