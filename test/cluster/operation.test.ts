/** What becomes of commands when nodes answer in ways that a real one can't be made to. */
import t, { type Test } from "tap";
import { ClusterClient, type CommandOptions } from "../../src/cluster/cluster-client.js";
import type { ClusterError } from "../../src/cluster/cluster-error.js";
import { startFakeNode } from "../support/fake-node.js";

const patient: CommandOptions = { deadlineMs: 50_000, isIdempotent: true };

function clientOf(t: Test, ...seeds: string[]): ClusterClient {
  const client = new ClusterClient({ url: { isTls: false, seeds } });
  t.teardown(() => client.close());
  return client;
}

/** The error that a call ends with. */
const failure = (call: Promise<unknown>): Promise<ClusterError> =>
  call.then(
    (value) => Promise.reject(new Error(`it was answered: ${value}`)),
    (error) => error,
  );

t.test("a redirection to a port that does not exist is an error of the command alone", async (t) => {
  const node = await startFakeNode(t, ({ text }) => (text === "GET key" ? "-MOVED 1 127.0.0.1:99999\r\n" : undefined));
  const client = clientOf(t, node.address);
  await client.ready();
  t.match(await failure(client.execute(["GET", "key"], 1, patient)), { reason: "refused", serverCode: "MOVED" });
});

t.test("nodes that point at each other are asked until the deadline, with pauses", async (t) => {
  const other: { address: string } = await startFakeNode(t, ({ text }) =>
    text === "GET key" ? `-MOVED 1 ${node.address}\r\n` : undefined,
  );
  const node: { address: string } = await startFakeNode(t, ({ text }) =>
    text === "GET key" ? `-MOVED 1 ${other.address}\r\n` : undefined,
  );
  const client = clientOf(t, node.address);
  await client.ready();
  const error = await failure(client.execute(["GET", "key"], 1, { deadlineMs: 400, isIdempotent: true }));
  t.match(error, { reason: "deadline", outcome: "not-sent", message: /MOVED 1 127\.0\.0\.1:\d+, for 400 ms$/ });
});
