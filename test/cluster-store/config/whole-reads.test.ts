/** Reads of the whole configuration that take longer than a node's lease: through a proxy that holds back large answers. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { openConfig, tryConfig } from "../../../src/cluster-store/config/open-config.js";
import { configSlot } from "../../../src/cluster-store/keys.js";
import { createFirstAccount } from "../../../src/control-plane/accounts/first-account.js";
import { openStore } from "../../../src/store/open-store.js";
import { ownFolder } from "../../support/own-folder.js";
import { startRedis } from "../../support/redis-cluster.js";
import { waitUntil } from "../../support/wait-until.js";
import { current, done, mirrored, startNodeOn } from "./config-nodes.js";

const MIB = 1024 * 1024;

/** A proxy of a server. While it is `isClosed`, it holds back what a connection of ours gets beyond 1 MiB. */
class Gate {
  isClosed = false;
  #waiting: (() => void)[] = [];

  static async start(t: Pick<Test, "teardown">, port: number): Promise<{ gate: Gate; port: number }> {
    const gate = new Gate();
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const engine = connect(port, "127.0.0.1");
      for (const [socket, other] of [
        [client, engine],
        [engine, client],
      ] as const) {
        sockets.add(socket);
        socket.on("error", () => {}).on("close", () => other.destroy());
      }
      client.pipe(engine);
      // Replicas pass.
      client.once("data", (first) => gate.#join(client, engine, first.includes("verdictd")));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.teardown(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return { gate, port: (server.address() as AddressInfo).port };
  }

  close(): void {
    this.isClosed = true;
  }

  /** How many answers are held back. */
  get held(): number {
    return this.#waiting.length;
  }

  open(): void {
    this.isClosed = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  #join(client: Socket, engine: Socket, isOurs: boolean): void {
    let passed = 0;
    engine.on("data", (chunk) => {
      if (!this.isClosed || !isOurs) {
        passed = 0;
        client.write(chunk);
        return;
      }
      passed += chunk.length;
      if (passed < MIB) {
        client.write(chunk);
        return;
      }
      passed = 0;
      engine.pause();
      this.#waiting.push(() => {
        client.write(chunk);
        engine.resume();
      });
    });
  }
}

const cluster = await startRedis(t, { masters: 1, replicas: 1, settings: [["cluster-node-timeout", "60000"]] });
const master = await cluster.masterOf(configSlot);
const { gate, port } = await Gate.start(t, master.port);
await master.ask("CONFIG", "SET", "cluster-announce-port", String(port));
const url = parseStoreUrl(`redis://127.0.0.1:${port}`) as StoreUrl;

/** Once an answer is held back. */
const held = () =>
  waitUntil(
    async () => gate.held,
    (count) => count > 0,
  );

const wide = (letter: string) => ({ version: letter, text: letter.repeat(3 * MIB) });

t.test("a large change that nodes read for longer than their lease is read once, and refused meanwhile", async (t) => {
  const [one, two] = await Promise.all([startNodeOn(url, t), startNodeOn(url, t)]);
  const first = done(await createFirstAccount(one.accounts, one.projects));
  await current(two);
  gate.close();
  t.teardown(() => gate.open());
  const changed = one.store.changes!.run(() => one.store.verifiedBots.putSync("catalogue", wide("a")));
  await held();
  // A start beside it, whose first read is held from now on: the change waits for longer than a lease.
  const opened = openStore(ownFolder(t));
  const client = new ClusterClient({ url });
  t.teardown(async () => {
    client.close();
    await opened.close();
  });
  const options = { client, acks: 1, name: "the test's" };
  // It needs no rows, which would be held.
  await tryConfig(options);
  const opening = openConfig(opened, options);
  await changed;
  t.match(two.state.fault, /cut off/, "the control plane does not answer from the old configuration");
  t.ok(two.credentials.tokenHolder(first.accountToken), "and the rest does");
  t.same([one.faults, two.faults], [[], []]);
  t.same([two.client.meters.deadlineMisses, client.meters.deadlineMisses], [0, 0], "nothing is given up");
  gate.open();
  await opening;
  t.equal(await current(two), null);
  t.same(mirrored(opened), mirrored(one.store));
  t.same(mirrored(two.store), mirrored(one.store));
  t.same(two.faults, []);
});

t.test("a node that stops does not wait for what it reads", async (t) => {
  const [one, two] = await Promise.all([startNodeOn(url, t), startNodeOn(url, t)]);
  gate.close();
  t.teardown(() => gate.open());
  const before = mirrored(two.store);
  const changed = one.store.changes!.run(() => one.store.verifiedBots.putSync("catalogue", wide("b")));
  await held();
  t.same(mirrored(two.store), before);
  await two.stop();
  await changed;
  t.same([two.faults, two.client.meters.deadlineMisses], [[], 0]);
});
