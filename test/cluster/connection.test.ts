/** One connection and a server that behaves in ways that a real one can't be made to. */
import dns from "node:dns";
import t, { type Test } from "tap";
import { ClusterClient, type CommandOptions } from "../../src/cluster/cluster-client.js";
import type { ClusterError } from "../../src/cluster/cluster-error.js";
import { defineScript } from "../../src/cluster/script.js";
import type { StoreUrl } from "../../src/cluster/store-url.js";
import { ok, startFakeNode } from "../support/fake-node.js";

const patient: CommandOptions = { deadlineMs: 50_000, isIdempotent: true };

function clientOf(t: Test, seed: string, credentials: Pick<StoreUrl, "user" | "password"> = {}): ClusterClient {
  const client = new ClusterClient({ url: { isTls: false, seeds: [seed], ...credentials } });
  t.teardown(() => client.close());
  return client;
}

/** The error that a call ends with. */
const failure = (call: Promise<unknown>): Promise<ClusterError> =>
  call.then(
    (value) => Promise.reject(new Error(`it was answered: ${value}`)),
    (error) => error,
  );

t.test("a script that a starting server does not load is loaded later", async (t) => {
  const script = defineScript({ name: "one", version: 1, source: "return 1" });
  let state: "loading" | "empty" | "loaded" = "loading";
  const loading = "-LOADING Redis is loading the dataset in memory\r\n";
  const node = await startFakeNode(t, ({ text }) => {
    if (text.startsWith("SCRIPT LOAD")) {
      if (state === "loading") return loading;
      state = "loaded";
      return ok;
    }
    if (!text.startsWith("EVALSHA")) return undefined;
    if (state === "loaded") return ":1\r\n";
    if (state === "empty") return "-NOSCRIPT No matching script.\r\n";
    state = "empty";
    return loading;
  });
  const client = clientOf(t, node.address);
  await client.ready();
  t.equal(await client.run(script, ["key"], [], 1, patient), 1);
  state = "empty";
  t.equal(await client.run(script, ["key"], [], 1, patient), 1);
});

t.test("a host with several addresses, none of which answers: each is said", async (t) => {
  const { lookup } = dns;
  const both = (_name: string, _options: unknown, done: (error: null, found: dns.LookupAddress[]) => void): void =>
    done(null, [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.2", family: 4 },
    ]);
  dns.lookup = both as typeof lookup;
  t.teardown(() => {
    dns.lookup = lookup;
  });
  t.match(await failure(clientOf(t, "engines.example:1").ready()), {
    reason: "unreachable",
    message: "engines.example:1: connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1",
  });
});
