/** Retries and crashes: whatever is sent again, or whenever the process dies, one session and exact counts remain. */
import t from "tap";
import { counted, retries, sender } from "../ingest/retry-claims.js";
import { batch } from "../support/batches.js";
import { firstTenant, startServer } from "../support/server.js";
import { isOnCluster } from "../support/test-store.js";

t.test("retries", retries);

t.test("killed after its 202s, the server has every session, and retries count nothing twice", async (t) => {
  const dataDir = t.testdir();
  const first = await startServer(t, [], dataDir);
  const tenant = await firstTenant(first);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => sender(first, tenant)(batch(`kill${index}-00`, 3), `kill-${index}`)),
  );
  await first.end("SIGKILL");

  const second = await startServer(t, [], dataDir);
  const send = sender(second, tenant);
  for (const [index, { json }] of answers.entries()) {
    const again = await send(batch(`kill${index}-00`, 3), `kill-${index}`);
    t.same(again.json, { session_token: json.session_token, accepted: 0, duplicates: 3 });
  }
  const store = second.store;
  // Where a node's death may cost a cluster its latest counts.
  if (!isOnCluster) t.same(await counted(store, tenant.projectId), { sessions: 30, events: 90 });
  const verdict = await second.ask("GET", `/v1/sessions/${answers[0]!.json.session_token}/verdict`, {
    token: tenant.privateKey,
  });
  t.not(verdict.json.verdict, "not_computed");
});

t.test("stopped while batches are on their way, the server keeps each one it acknowledged", async (t) => {
  const dataDir = t.testdir();
  const first = await startServer(t, ["--durability", "power-loss"], dataDir);
  const tenant = await firstTenant(first);
  const send = sender(first, tenant);
  const asked = Array.from({ length: 200 }, (_, index) =>
    send(batch(`race${index}-00`), `race-${index}`).catch(() => null),
  );
  await Promise.race(asked);
  await first.end("SIGKILL");
  const acknowledged = (await Promise.all(asked)).flatMap((answer) =>
    answer?.status === 202 ? [answer.json.session_token] : [],
  );
  t.ok(acknowledged.length > 0);

  const second = await startServer(t, [], dataDir);
  const stored = await Promise.all(acknowledged.map((token) => second.scoredState(tenant.projectId, token)));
  const missing = acknowledged.filter((_, index) => stored[index] === null);
  t.same(missing, []);
});
