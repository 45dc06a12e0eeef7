/** What becomes of commands when nodes answer in ways that a real one can't be made to. */
import t, { type Test } from "tap";
import type { CommandOptions } from "../../src/cluster/cluster-client.js";
import { clientOf, failure } from "../support/cluster-client.js";
import { type FakeNode, noAnswer, startFakeNode } from "../support/fake-node.js";
import { waitUntil } from "../support/wait-until.js";

const patient: CommandOptions = { deadlineMs: 50_000, isIdempotent: true };

t.test("a redirection to a port that does not exist is an error of the command alone", async (t) => {
  const node = await startFakeNode(t, ({ text }) => (text === "GET key" ? "-MOVED 1 127.0.0.1:99999\r\n" : undefined));
  const client = clientOf(t, [node.address]);
  await client.ready();
  t.match(await failure(client.execute(["GET", "key"], 1, patient)), { reason: "refused", serverCode: "MOVED" });
});

t.test("nodes that point at each other are asked until the deadline, with pauses", async (t) => {
  const other: FakeNode = await startFakeNode(t, ({ text }) =>
    text === "GET key" ? `-MOVED 1 ${node.address}\r\n` : undefined,
  );
  const node: FakeNode = await startFakeNode(t, ({ text }) =>
    text === "GET key" ? `-MOVED 1 ${other.address}\r\n` : undefined,
  );
  const client = clientOf(t, [node.address]);
  await client.ready();
  const error = await failure(client.execute(["GET", "key"], 1, { deadlineMs: 400, isIdempotent: true }));
  t.match(error, { reason: "deadline", outcome: "not-sent", message: /MOVED 1 127\.0\.0\.1:\d+, for 400 ms$/ });
});

t.test("a command that the next master of its slot can't run yet is repeated there", async (t) => {
  let left = 3;
  let isAsking = false;
  const next: FakeNode = await startFakeNode(t, ({ text }) => {
    if (text === "ASKING") isAsking = true;
    if (text !== "MGET {a}1 {a}2") return undefined;
    const answer = left-- > 0 ? "-TRYAGAIN Multiple keys request during rehashing of slot\r\n" : "*-1\r\n";
    const moved = `-MOVED 1 ${node.address}\r\n`;
    return isAsking ? answer : moved;
  });
  const node: FakeNode = await startFakeNode(t, ({ text }) =>
    text.startsWith("MGET") ? `-ASK 1 ${next.address}\r\n` : undefined,
  );
  const client = clientOf(t, [node.address]);
  await client.ready();
  t.equal(await client.execute(["MGET", "{a}1", "{a}2"], 1, patient), null);
  t.equal(node.commands.filter(({ text }) => text.startsWith("MGET")).length, 1);
  t.equal(next.commands.filter(({ text }) => text === "ASKING").length, 4);
});

/** A node that leaves `WAIT` unanswered, behind which further writes wait, or everything. */
async function waitingNode(t: Test) {
  let isFrozen = false;
  let waits = (): void => {};
  const isWaiting = new Promise<void>((resolve) => {
    waits = resolve;
  });
  const node = await startFakeNode(t, ({ text }) => {
    if (text.startsWith("WAIT")) waits();
    return isFrozen || text.startsWith("WAIT") ? noAnswer : undefined;
  });
  const client = clientOf(t, [node.address]);
  await client.ready();
  const write = (deadlineMs: number) =>
    client.writeGroup([{ command: ["SET", "key", "1"], slot: 1 }], { deadlineMs, acks: 1, ackMs: 500 });
  void write(50_000);
  await isWaiting;
  const freeze = (): void => {
    isFrozen = true;
  };
  return { client, write, freeze };
}

const impatient: CommandOptions = { deadlineMs: 1000, isIdempotent: true, isImpatient: true };

t.test("a master that only waits for its replicas is not suspected, and goes on being read", async (t) => {
  const { client, write } = await waitingNode(t);
  const { outcomes } = await write(1000);
  t.match(outcomes[0], { reason: "deadline", outcome: "unknown", message: /answers others: earlier writes may wait/ });
  t.equal(client.hasSuspected, false);
  t.equal(await client.execute(["GET", "key"], 1, impatient), "OK");
});

t.test("a master that answers nothing is suspected long before the deadline of writes", async (t) => {
  const { client, write, freeze } = await waitingNode(t);
  freeze();
  let isOver = false;
  void write(4000).finally(() => {
    isOver = true;
  });
  await waitUntil(
    async () => client.isSuspected(1),
    (isSuspected) => isSuspected || isOver,
  );
  t.equal(isOver, false);
  t.match(await failure(client.execute(["GET", "key"], 1, impatient)), { reason: "unreachable", outcome: "not-sent" });
});
