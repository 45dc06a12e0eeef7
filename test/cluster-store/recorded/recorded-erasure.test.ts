/** Recorded rows that name a session, when it is erased from a real cluster. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import type { KeyedCommand } from "../../../src/cluster/operation.js";
import type { RespReply } from "../../../src/cluster/resp-parser.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import {
  blockRows,
  blockSegmentIds,
  sessionRow,
  shardOfSession,
  shardSlots,
  timelineIndexRow,
} from "../../../src/cluster-store/keys.js";
import { clusterRecordedRows } from "../../../src/cluster-store/recorded/cluster-recorded-rows.js";
import { ClusterSessions } from "../../../src/cluster-store/sessions/cluster-sessions.js";
import { encodeSessionToken, mintSessionToken } from "../../../src/contract/sessions/session-token.js";
import { limits } from "../../../src/limits.js";
import { Blocks, sessionSubject } from "../../../src/recording/blocks.js";
import { withEvents } from "../../../src/recording/timeline.js";
import { sessionKey } from "../../../src/store/keys.js";
import type { Store } from "../../../src/store/store.js";
import { startRedis } from "../../support/redis-cluster.js";
import { ruleBlock } from "../../support/rule-block.js";

const projectId = 1;
const redis = await startRedis(t, { replicas: 0 });
const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
t.teardown(() => client.close());
const sessions = new ClusterSessions(client, 0, 5000);
const ask = (slot: number, ...command: (string | Buffer | number)[]): Promise<RespReply> =>
  client.execute(command, slot, { deadlineMs: 5000 });

async function storedSession(number: number) {
  const token = mintSessionToken(Date.now(), (into) => into.fill(number));
  const key = sessionKey(projectId, token);
  await ask(shardSlots[shardOfSession(key)]!, "SET", sessionRow(key), "12345678record");
  return { projectId, key, token };
}

const rowsOf = (client: ClusterClient) =>
  clusterRecordedRows({ client, acks: 0, sessionMs: 86_400_000, blockMs: 86_400_000, now: Date.now });

t.test("blocks that are no longer shown are erased too, as long as their segment is stored", async (t) => {
  const session = await storedSession(1);
  const sessionToken = encodeSessionToken(session.token);
  const recorded = rowsOf(client);
  const blocks = new Blocks({ recorded } as Store, Date.now);
  const { last, segment } = blockRows(projectId);
  const slot = keySlot(last);
  const write = async (of = sessionToken): Promise<void> => {
    t.ok(blocks.record(ruleBlock(projectId, of), sessionSubject(of)));
    await blocks.flush(true);
  };
  await write();
  // As if there had been so many since; the next block is in the last segment that leaves the first one.
  const segments = Math.ceil(limits.blocksPerProjectMax / blockSegmentIds);
  await ask(slot, "SET", last, segments * blockSegmentIds + 10);
  await write();
  t.equal((await recorded.blocks.before(projectId, Number.POSITIVE_INFINITY, 100)).length, 1);
  t.same(await fieldsOf(segment(0)), ["1", "n", `s:${sessionToken}`]);
  t.match(await sessions.erase([session], async () => {}), { sessions: 1, blocks: 2 });
  t.same(await fieldsOf(segment(0)), ["n"]);

  // However many others there are; only segments in which a build before recorded blocks are read whole.
  const [one, other] = [await storedSession(4), await storedSession(5)];
  const [ownToken, otherToken] = [one, other].map(({ token }) => encodeSessionToken(token));
  await ask(slot, "SET", last, blockSegmentIds - 1);
  await ask(slot, "DEL", segment(1));
  for (let times = 0; times < 3; times++) await write(otherToken);
  await write(ownToken);
  t.match(await recorded.blocks.ofSession(projectId, ownToken!), [{ id: blockSegmentIds + 3, sessionToken: ownToken }]);
  const ids = (await ask(slot, "HGET", segment(1), `s:${otherToken}`)) as Buffer;
  t.equal(String(ids), [0, 1, 2].map((number) => blockSegmentIds + number).join(" "));
  await ask(slot, "HSET", segment(0), "n", blockSegmentIds - 1);
  const readBefore = await segmentsRead();
  t.match(await sessions.erase([one], async () => {}), { sessions: 1, blocks: 1 });
  t.equal(await segmentsRead(), readBefore);
  await ask(slot, "HDEL", segment(1), "n", `s:${otherToken}`);
  t.match(await sessions.erase([other], async () => {}), { sessions: 1, blocks: 3 }, "blocks that are not named");
  t.ok((await segmentsRead()) > readBefore);
  t.same(await fieldsOf(segment(1)), []);

  async function fieldsOf(row: string): Promise<string[]> {
    return ((await ask(slot, "HKEYS", row)) as Buffer[]).map(String).sort();
  }
  async function segmentsRead(): Promise<number> {
    const infos = await Promise.all(redis.nodes.map((each) => each.ask("INFO", "commandstats")));
    return infos.reduce(
      (sum: number, info) => sum + Number(/^cmdstat_hgetall:calls=(\d+)/m.exec(String(info))?.[1] ?? 0),
      0,
    );
  }
});

t.test("a timeline that is written just before its session is erased leaves no token behind", async (t) => {
  const session = await storedSession(2);
  const index = timelineIndexRow(projectId);
  const tokens = () => ask(keySlot(index), "ZRANGE", index, 0, -1);
  /** Erases the session between the write of its timeline and that of the index. */
  class ErasingClient extends ClusterClient {
    override async pipeline(commands: readonly KeyedCommand[], options: Parameters<ClusterClient["pipeline"]>[1]) {
      if (commands[0]?.script?.name === "index-trails") await sessions.erase([session], async () => {});
      return super.pipeline(commands, options);
    }
  }
  const erasing = new ErasingClient({ url: parseStoreUrl(redis.url) as StoreUrl });
  t.teardown(() => erasing.close());
  const kept = await storedSession(3);
  const piece = ({ key }: typeof session) => ({
    projectId,
    key,
    fold: (before: Parameters<typeof withEvents>[0]) => withEvents(before, [], Date.now()),
  });
  await rowsOf(erasing).timelines.fold([session, kept].map(piece), 10);
  t.same(await tokens(), [kept.token], "and only that of the session which is still there");
});
