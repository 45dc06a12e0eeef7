/** Sessions erased from a real cluster while a replica is late. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { BulkClient } from "../../../src/cluster-store/bulk-client.js";
import { sessionRow, shardOfSession, shardSlots } from "../../../src/cluster-store/keys.js";
import { ClusterSessions } from "../../../src/cluster-store/sessions/cluster-sessions.js";
import { mintSessionToken } from "../../../src/contract/sessions/session-token.js";
import { sessionKey } from "../../../src/store/keys.js";
import { startRedis } from "../../support/redis-cluster.js";

t.test("what has to be repeated for want of an acknowledgement is counted", async (t) => {
  const redis = await startRedis(t, { masters: 1, replicas: 1 });
  const [master] = await redis.masters();
  const [replica] = await redis.replicasOf(master!);
  let repeats = 0;
  const onWait = (why: string): void => {
    if (!why.includes("replicas that must acknowledge")) return;
    repeats++;
    replica!.thaw();
  };
  const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl, onWait });
  t.teardown(() => client.close());
  const sessions = new ClusterSessions(client, 1, 60_000);
  const token = mintSessionToken(Date.now(), (into) => into.fill(7));
  const key = sessionKey(1, token);
  const [row, slot] = [sessionRow(key), shardSlots[shardOfSession(key)]!];

  await t.test("erased sessions", async (t) => {
    await master!.ask("SET", row, "a record", "PX", "600000");
    const erased = await sessions.erase([{ projectId: 1, token, key }], async () => replica!.freeze());
    t.ok(repeats > 0, "the replica was too late");
    t.equal(erased.sessions, 1);
    t.equal(await sessions.find([key]), null);
    t.equal((await sessions.erase([{ projectId: 1, token, key }], async () => {})).sessions, 0);
  });

  await t.test("whatever a command has written", async (t) => {
    const before = repeats;
    await master!.ask("SET", row, "a record", "PX", "600000");
    replica!.freeze();
    t.same(await new BulkClient(client, 1, 60_000).write([{ command: ["DEL", row], slot }]), [1]);
    t.ok(repeats > before);
  });
});
