/** Sessions as an HTTP thread reads them from a real cluster. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { sessionRow, shardOfSession, shardSlots } from "../../../src/cluster-store/keys.js";
import { ClusterSessionRows } from "../../../src/cluster-store/sessions/cluster-session-rows.js";
import { mintSessionToken } from "../../../src/contract/sessions/session-token.js";
import { sessionKey } from "../../../src/store/keys.js";
import { startRedis } from "../../support/redis-cluster.js";

t.test("a clock that is set back does not make an old row recent", async (t) => {
  const redis = await startRedis(t, { replicas: 0 });
  const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
  t.teardown(() => client.close());
  let nowMs = Date.now();
  const times = { sessionMs: 86_400_000, deadlineMs: 5000, heldMs: 60_000 };
  const rows = new ClusterSessionRows({ client, acks: 0, ...times, now: () => nowMs });
  const key = sessionKey(
    1,
    mintSessionToken(nowMs, (into) => into.fill(1)),
  );
  const ask = (...command: (string | Buffer)[]) =>
    client.execute(command, shardSlots[shardOfSession(key)]!, { deadlineMs: 5000 });
  await ask("SET", sessionRow(key), "12345678record");
  await rows.load([key]);
  t.equal(String(rows.record(key)), "record");
  t.equal(rows.load([key]), null, "it is held for a moment");
  await ask("DEL", sessionRow(key));
  nowMs -= 3_600_000;
  await rows.load([key], "certain");
  t.equal(rows.record(key), undefined);
});
