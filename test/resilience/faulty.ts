/** A server whose scoring threads can be made to fail, and what is asked of it whenever one ends: nothing acknowledged is lost. */

import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { openStore } from "../../src/store/open-store.js";
import { batch, event } from "../support/batches.js";
import { Client, type Reply } from "../support/keep-alive-client.js";
import { makeOwner, type Owner } from "../support/owner.js";
import { type Served, serve } from "../support/process.js";

const entry = fileURLToPath(new URL("./faulty-server.js", import.meta.url));

interface Faulty {
  readonly dataDir: string;
  readonly owner: Owner;
  readonly server: Served;
  readonly client: Client;
  readonly send: (body: object, key?: string) => Promise<Reply>;
}

/** A server with so many scoring threads; on a store that has an owner already when that is given. */
export async function faulty(t: Test, dataDir = t.testdir(), owner?: Owner, scoringThreads = 1): Promise<Faulty> {
  const madeOwner = owner ?? (await makeOwner(dataDir));
  const server = await serve(t, dataDir, { entry, flags: ["--scoring-threads", String(scoringThreads)] });
  const client = new Client(server.port);
  t.teardown(() => client.close());
  return {
    dataDir,
    owner: madeOwner,
    server,
    client,
    send: (body, key) => client.send(madeOwner.siteKey, body, key),
  };
}

/** Sends a batch until it is not answered 503, as the SDK does. */
export async function retried(send: Faulty["send"], body: object, key: string): Promise<Reply> {
  let reply = await send(body, key);
  for (let tries = 0; tries < 5 && reply.status === 503; tries++) reply = await send(body, key);
  return reply;
}

/** A batch that makes the thread it comes to suffer this fault. */
export const suffering = (fault: string, name: string): object => ({
  session_token: null,
  events: [{ ...event(`${name}-0000`), payload: { path: fault } }],
});

/**
 * Has scoring threads end `rounds` times while others send batches, with flushes of what they committed under way.
 * Asserts on `t`.
 */
export async function endThreads(t: Test, rounds: number, scoringThreads = 1): Promise<void> {
  const { owner, client, send, dataDir, server } = await faulty(t, t.testdir(), undefined, scoringThreads);
  const told: { readonly name: string; readonly token: string }[] = [];
  for (let round = 0; round < rounds; round++) {
    const fault = round % 2 === 0 ? "/fault/exit" : "/fault/throw-later";
    const names = Array.from({ length: 8 }, (_, index) => `beside${round}x${index}`);
    const beside = names.map((name) => send(batch(name, 3), name));
    const answer = await send(suffering(fault, `crash${round}`), `crash${round}`);
    if (answer.status !== 503) t.equal(answer.status, 503, fault);
    for (const [index, first] of (await Promise.all(beside)).entries()) {
      const name = names[index]!;
      const reply = first.status === 503 ? await retried(send, batch(name, 3), name) : first;
      const { session_token: token, accepted, duplicates } = reply.json ?? {};
      if (reply.status !== 202 || accepted + duplicates !== 3) t.same(reply, { status: 202 }, name);
      told.push({ name, token });
    }
    const verdict = await client.ask("GET", `/v1/sessions/${told.at(-1)!.token}/verdict`, {
      authorization: `Bearer ${owner.privateKey}`,
    });
    if (!(verdict.json?.score > 0)) t.match(verdict, { json: { score: Number } }, "verdicts are read on");
  }
  const after = await retried(send, batch("crash0", 1), "crash0");
  t.equal(after.json.accepted, 1, "nothing of a failed batch was kept");
  t.equal(await server.end("SIGTERM"), 0, "the process outlived all of it");
  const store = openStore(dataDir);
  t.teardown(() => store.close());
  const sessions = new Sessions(store);
  const lost = told.filter(({ token }) => sessions.scoredState(owner.projectId, token)?.eventCount !== 3);
  t.same(lost, [], "what was acknowledged is there, once");
  t.comment(`${rounds} threads ended, ${told.length} batches beside them`);
}
