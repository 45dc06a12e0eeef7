/** User agents of 15 KB, each another one, sent to a server over sockets: it does not grow by them. The bounds one by one: `resilience`. */
import { readFileSync } from "node:fs";
import t from "tap";
import { browserHeaders, events } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { firstTenant, startServer } from "../support/server.js";

const MIB = 1024 * 1024;

/** Memory of a process without the pages of its store, bytes. */
function anonymousBytes(pid: number): number {
  return 1024 * Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}

t.test("a server that is sent thousands of them does not grow by them", { timeout: 600_000 }, async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const client = new Client(server.port);
  t.teardown(() => client.close());
  let id = 0;
  const flood = async (count: number): Promise<void> => {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const { status } = await client.ask(
          "POST",
          "/v1/events",
          {
            ...browserHeaders,
            "user-agent": Buffer.alloc(15_000, `agent ${id} `).toString("latin1"),
            "x-service-site-key": tenant.siteKey,
          },
          { session_token: null, events: events(`text${id++}`, 1) },
        );
        if (status !== 202) t.fail(`answered ${status}`);
      }),
    );
  };
  await flood(2000);
  const before = anonymousBytes(server.child.pid!);
  await flood(10_000);
  const grown = anonymousBytes(server.child.pid!) - before;
  t.ok(grown < 64 * MIB, `${Math.round(grown / MIB)} MiB`);
  t.comment(`${Math.round(grown / MIB)} MiB`);
});
