/**
 * Scoring threads that crash, run out of memory or never return: the server answers on, what it acknowledged stays, and what it could
 * not do is said, so that the retry does it.
 */
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { Sessions } from "../../src/control-plane/sessions.js";
import { openStore } from "../../src/store/store.js";
import { makeOwner, type Owner } from "../resilience/owner.js";
import { batch, event } from "../support/batches.js";
import { Client, type Reply } from "../support/keep-alive-client.js";
import { type Served, serve } from "../support/process.js";

const entry = fileURLToPath(new URL("../resilience/faulty-server.js", import.meta.url));

interface Faulty {
  readonly dataDir: string;
  readonly owner: Owner;
  readonly server: Served;
  readonly client: Client;
  readonly send: (body: object, key?: string) => Promise<Reply>;
}

async function faulty(t: Test, dataDir = t.testdir(), owner?: Owner): Promise<Faulty> {
  const madeOwner = owner ?? (await makeOwner(dataDir));
  const server = await serve(t, dataDir, { entry, flags: ["--scoring-threads", "1"] });
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
async function retried(send: Faulty["send"], body: object, key: string): Promise<Reply> {
  let reply = await send(body, key);
  for (let tries = 0; tries < 5 && reply.status === 503; tries++) reply = await send(body, key);
  return reply;
}

const suffering = (fault: string, name: string): object => ({
  session_token: null,
  events: [{ ...event(`${name}-0000`), payload: { path: fault } }],
});

// They wait for the watch most of their time.
t.jobs = 6;

t.test("a thread that ends costs the batches it held a 503, and is replaced", async (t) => {
  const { owner, client, send, dataDir, server } = await faulty(t);
  const before = await send(batch("before00", 3), "before");
  t.equal(before.status, 202);
  for (const fault of ["/fault/exit", "/fault/throw-later", "/fault/exit"]) {
    const answer = await send(suffering(fault, "crashing"), "crash");
    t.equal(answer.status, 503, fault);
    const token = before.json.session_token;
    const verdict = await client.ask("GET", `/v1/sessions/${token}/verdict`, {
      authorization: `Bearer ${owner.privateKey}`,
    });
    t.same([verdict.status, verdict.json.verdict !== "not_computed"], [200, true], "verdicts are read on");
    const after = await retried(send, batch("before00", 3), "before");
    t.same(after.json, { session_token: token, accepted: 0, duplicates: 3 }, "the replaced thread takes batches");
  }
  t.equal((await retried(send, batch("crashing", 1), "crash")).json.accepted, 1, "nothing of a failed batch was kept");
  t.equal(await server.end("SIGTERM"), 0);
  const store = openStore(dataDir);
  t.teardown(() => store.close());
  t.equal(new Sessions(store).verdictPart(owner.projectId, before.json.session_token)?.eventCount, 3);
});

t.test("a thread that is out of memory is replaced", async (t) => {
  const { send } = await faulty(t);
  t.equal((await send(suffering("/fault/memory", "starving"), "starve")).status, 503);
  t.equal((await retried(send, batch("starving", 1), "starve")).json.accepted, 1);
});

t.test("a task that never returns keeps no client waiting for ever, and verdicts are read on", async (t) => {
  const { owner, client, send } = await faulty(t);
  const { json } = await send(batch("endless0", 2));
  const answers = [send(suffering("/fault/loop", "endless1"), "endless"), send(batch("endless2"), "behind")];
  const verdict = await client.ask("GET", `/v1/sessions/${json.session_token}/verdict`, {
    authorization: `Bearer ${owner.privateKey}`,
  });
  t.equal(verdict.json.score > 0, true);
  t.same(
    (await Promise.all(answers)).map(({ status }) => status),
    [503, 503],
  );
  t.equal((await retried(send, batch("endless1", 1), "endless")).json.accepted, 1, "the thread was replaced");
});

for (const fault of ["loop", "exit", "memory"]) {
  t.test(
    `a thread that ends up in ${fault} while it holds the store ends the process, which loses nothing`,
    async (t) => {
      const { owner, server, send, dataDir } = await faulty(t);
      const told = await Promise.all(
        Array.from({ length: 20 }, (_, index) => send(batch(`told${index}-00`, 2), `told${index}`)),
      );
      const hung = send(suffering(`/fault/${fault}/locked`, "hanging0"), "hang").catch(() => null);
      await server.logged(
        "a scoring thread hangs in a write transaction and holds the store: ending the process, start it again",
      );
      t.equal(await server.ended(), "SIGKILL");
      await hung;
      const again = await faulty(t, dataDir, owner);
      for (const [index, { json }] of told.entries()) {
        const retried = await again.send(batch(`told${index}-00`, 2), `told${index}`);
        t.same(retried.json, { session_token: json.session_token, accepted: 0, duplicates: 2 });
      }
      t.equal((await again.send(batch("hanging0", 1), "hang")).json.accepted, 1);
    },
  );
}
