/** One connection and a server that behaves in ways that a real one can't be made to. */
import dns from "node:dns";
import t from "tap";
import type { CommandOptions, GroupOptions } from "../../src/cluster/cluster-client.js";
import { defineScript } from "../../src/cluster/script.js";
import { clientOf, failure } from "../support/cluster-client.js";
import { noAnswer, ok, startFakeNode } from "../support/fake-node.js";
import { startRedis } from "../support/redis-cluster.js";

const patient: CommandOptions = { deadlineMs: 50_000, isIdempotent: true };
const group: GroupOptions = { deadlineMs: 2000, acks: 1, ackMs: 500 };

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
  const client = clientOf(t, [node.address]);
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
  t.match(await failure(clientOf(t, ["engines.example:1"]).ready()), {
    reason: "unreachable",
    message: "engines.example:1: connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1",
  });
});

t.test("a server that quotes the password in its answer to AUTH is not quoted", async (t) => {
  const credentials = { user: "store", password: "hunter2" };
  for (const [answer, message] of [
    ["ERR unknown command 'AUTH', with args beginning with: 'store' 'hunter2'", "the server does not accept AUTH"],
    ["hunter2 is not my password", "the server does not accept AUTH"],
    ["WRONGPASS it is not hunter2", "the server does not accept AUTH"],
    ["WRONGPASS invalid username-password pair", "WRONGPASS invalid username-password pair"],
  ] as const) {
    const node = await startFakeNode(t, ({ text }) => (text.startsWith("AUTH") ? `-${answer}\r\n` : undefined));
    const error = await failure(clientOf(t, [node.address], credentials).ready());
    t.same([error.reason, error.message], ["refused", `${node.address}: ${message}`]);
  }
});

t.test("a real server without AUTH", async (t) => {
  const single = await startRedis(t, { isSingle: true, settings: [["rename-command", "AUTH", ""]] });
  const [node] = single.nodes;
  const { message } = await failure(clientOf(t, [node!.address], { password: "hunter2" }).ready());
  t.equal(message, `${node!.address}: the server does not accept AUTH`);
});

t.test("a server that takes no more connections says so to AUTH, and may take one later", async (t) => {
  const full = "-ERR max number of clients reached\r\n";
  const node = await startFakeNode(t, ({ text, connection }) =>
    text.startsWith("AUTH") && connection === 0 ? full : undefined,
  );
  const client = clientOf(t, [node.address], { password: "secret" });
  t.match(await failure(client.ready()), { reason: "unreachable", message: /max number of clients/ });
  t.equal(await client.execute(["SET", "key", "1"], 1, patient), "OK");
});

t.test("a replica that is busy when it is greeted is asked again", async (t) => {
  const node = await startFakeNode(t, ({ text, connection }) => {
    return text === "READONLY" && connection === 1 ? "-BUSY Redis is busy running a script.\r\n" : undefined;
  });
  const client = clientOf(t, [node.address]);
  await client.ready();
  t.equal(await client.execute(["GET", "key"], 1, { ...patient, readFrom: "replica" }), "OK");
  t.equal(node.commands.filter(({ text }) => text === "READONLY").length, 2);
});

t.test("a group of writes ends with the client, whose connections take no WAIT any more", async (t) => {
  const node = await startFakeNode(t);
  const client = clientOf(t, [node.address]);
  const write = () => client.writeGroup([{ command: ["SET", "key", "1"], slot: 1 }], group);
  await client.ready();
  await write();
  const last = write();
  client.close();
  t.match((await last).outcomes, [{ reason: "closed" }]);
  t.equal(client.meters.deadlineMisses, 0, "and not at its deadline");
});

t.test("a blocking command that misses its deadline ends the connection, and the next one gets another", async (t) => {
  let first: number | undefined;
  const node = await startFakeNode(t, ({ text, connection }) => {
    if (!text.startsWith("XREAD")) return undefined;
    first ??= connection;
    return connection === first ? noAnswer : "*-1\r\n";
  });
  const client = clientOf(t, [node.address]);
  await client.ready();
  const read = (deadlineMs: number) =>
    client.execute(["XREAD", "BLOCK", "50", "STREAMS", "key", "0-0"], 1, { ...patient, deadlineMs, isBlocking: true });
  t.match(await failure(read(100)), { reason: "deadline", outcome: "unknown" });
  t.equal(await read(2000), null);
});

t.test("a blocking command that misses its deadline behind a large answer leaves it alone", async (t) => {
  let arrive = (): void => {};
  const node = await startFakeNode(t, async ({ text, send }) => {
    if (text !== "HGETALL key") return undefined;
    const length = 100_000;
    let sent = 0;
    send(`$${length}\r\n`);
    const pieces = setInterval(() => {
      send("x");
      sent++;
    }, 5);
    await new Promise<void>((resolve) => {
      arrive = resolve;
    });
    clearInterval(pieces);
    return `${"x".repeat(length - sent)}\r\n`;
  });
  const client = clientOf(t, [node.address]);
  await client.ready();
  const large = client.execute(["HGETALL", "key"], 1, { ...patient, isBlocking: true });
  const options: CommandOptions = { deadlineMs: 500, isIdempotent: true, isBlocking: true };
  t.match(await failure(client.execute(["XREAD", "BLOCK", "50", "STREAMS", "key", "0-0"], 1, options)), {
    reason: "deadline",
  });
  arrive();
  t.equal(((await large) as Buffer).length, 100_000);
  t.equal(node.commands.filter(({ text }) => text === "HGETALL key").length, 1);
});
