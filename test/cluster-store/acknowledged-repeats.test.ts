/**
 * Writes that find nothing to do, because an earlier one was made and not acknowledged. Redis 7.2 and Valkey let `WAIT` pass at once where a connection
 * has replicated nothing, so each of them must replicate something.
 */
import t from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { BulkClient } from "../../src/cluster-store/bulk-client.js";
import { sessionRow, shardOfSession, shardSlots, writtenRow } from "../../src/cluster-store/keys.js";
import { saveSession } from "../../src/cluster-store/scripts.js";
import { mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { sessionKey } from "../../src/store/keys.js";
import { type RedisNode, startRedis } from "../support/redis-cluster.js";

const redis = await startRedis(t, { masters: 1, replicas: 1 });
const [master, replica] = redis.nodes as [RedisNode, RedisNode];
// Nothing is replicated but what commands write.
await master.ask("CONFIG", "SET", "repl-ping-replica-period", "3600");
const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
t.teardown(() => client.close());

const replicated = async (): Promise<number> =>
  Number(/master_repl_offset:(\d+)/.exec(String(await master.ask("INFO", "replication")))?.[1]);

t.test("confirming a session is replicated, and leaves it as it is", async (t) => {
  const key = sessionKey(
    1,
    mintSessionToken(Date.now(), (into) => into.fill(1)),
  );
  const [row, slot] = [sessionRow(key), shardSlots[shardOfSession(key)]!];
  const stored = "12345678record";
  await master.ask("SET", row, stored, "PX", "600000");
  const version = stored.slice(0, 8);
  const before = await replicated();
  t.equal(await client.run(saveSession, [row], [version, version], slot, { deadlineMs: 5000 }), 1);
  t.ok((await replicated()) > before);
  t.equal(String(await master.ask("GET", row)), stored);
  const leftMs = Number(await master.ask("PTTL", row));
  t.ok(leftMs > 500_000 && leftMs <= 600_000, `${leftMs} ms`);
});

t.test("a write that is repeated for want of an acknowledgement comes with another one", async (t) => {
  const row = "vd{1}x:1";
  const slot = keySlot(row);
  const bulk = new BulkClient(client, 1);
  await master.ask("SET", row, "1");
  replica.freeze();
  const missing = client.meters.acknowledgementsMissing;
  const written = bulk.write([{ command: ["DEL", row], slot }]);
  while (client.meters.acknowledgementsMissing === missing) await master.ask("PING");
  replica.thaw();
  t.same(await written, [1], "with the answer of the first try");
  t.equal(await master.ask("EXISTS", writtenRow(slot)), 1);
  t.equal(keySlot(writtenRow(slot)), slot);
  t.ok(Number(await master.ask("PTTL", writtenRow(slot))) > 0, "which goes by itself");
  await bulk.write([{ command: ["SET", row, "2"], slot }]);
  await master.ask("DEL", writtenRow(slot));
  await bulk.write([{ command: ["DEL", row], slot }]);
  t.equal(await master.ask("EXISTS", writtenRow(slot)), 0, "others do without");
});
