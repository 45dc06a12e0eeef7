/**
 * Scoring threads that crash, run out of memory or never return: the server answers on, what it acknowledged stays, and what it could
 * not do is said, so that the retry does it.
 */
import t from "tap";
import { endThreads, faulty, retried, suffering } from "../resilience/faulty.js";
import { batch } from "../support/batches.js";

// They wait for the watch most of their time.
t.jobs = 6;

t.test("two hundred threads that end cost the batches they held a 503, and are replaced", async (t) => {
  await endThreads(t, 200);
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
        "a scoring thread hangs in a write transaction and blocks the store: ending the process; restart it",
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
