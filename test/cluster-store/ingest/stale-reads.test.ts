/**
 * A master that was cut off and replaced answers reads for a moment, without what its successor has. No visitor gets a second session for that, and no
 * batch counts twice.
 */
import t from "tap";
import type { KeyedCommand } from "../../../src/cluster/operation.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { sessionRow, shardOfSession, shardSlots } from "../../../src/cluster-store/keys.js";
import { openStore } from "../../../src/store/open-store.js";
import { batch } from "../../support/batches.js";
import { ownerOf } from "../../support/owner.js";
import { startRedis } from "../../support/redis-cluster.js";
import { keyOf, recorded, requestOf, scoringNode, storedSession } from "./scoring-node.js";

t.test("a session that a read does not find", async (t) => {
  const redis = await startRedis(t, { masters: 3, replicas: 1 });
  const url = parseStoreUrl(redis.url) as StoreUrl;
  const store = openStore(t.testdir());
  const owner = await ownerOf(store);
  const one = scoringNode(t, store, url);

  /** A node whose first read of this session is answered as by a master that lacks it. */
  function nodeWithout(token: string) {
    const made = scoringNode(t, store, url);
    const row = sessionRow(keyOf(owner, token));
    const pipeline = made.client.pipeline.bind(made.client);
    let left = 1;
    made.client.pipeline = async (commands, options) => {
      const outcomes = await pipeline(commands, options);
      const isStale = ({ command: [name, key] }: KeyedCommand): boolean =>
        name === "GET" && Buffer.from(key as Buffer).equals(row) && left-- > 0;
      return outcomes.map((outcome, index) => (isStale(commands[index]!) ? null : outcome));
    };
    return { ...made, isAsked: () => left <= 0 };
  }

  const stored = async (token: string) => (await storedSession(one, keyOf(owner, token)))!.state.eventCount;
  const first = async (key: string): Promise<string> => {
    const request = requestOf(owner, batch(key, 2, null), { idempotencyKey: key });
    return recorded((await one.commit(request))[0]).session_token;
  };

  await t.test("gets the batches that name it", async (t) => {
    const token = await first("first-one");
    const two = nodeWithout(token);
    const taken = recorded((await two.commit(requestOf(owner, batch("second", 3, token))))[0]);
    t.ok(two.isAsked());
    t.match(taken, { session_token: token, accepted: 3, duplicates: 0 });
    t.equal(await stored(token), 5);
  });

  await t.test("gets the batch that made it when that comes again", async (t) => {
    const token = await first("first-two");
    const two = nodeWithout(token);
    const again = requestOf(owner, batch("first-two", 2, null), { idempotencyKey: "first-two" });
    const taken = recorded((await two.commit(again))[0]);
    t.ok(two.isAsked());
    t.match(taken, { session_token: token, accepted: 0, duplicates: 2 });
    t.equal(await stored(token), 2);
  });

  await t.test("is replaced where its master confirms that it is gone", async (t) => {
    const token = await first("first-three");
    const key = keyOf(owner, token);
    await one.client.execute(["DEL", sessionRow(key)], shardSlots[shardOfSession(key)]!, { deadlineMs: 5000 });
    const taken = recorded((await one.commit(requestOf(owner, batch("later", 1, token))))[0]);
    t.not(taken.session_token, token);
    t.equal(await stored(taken.session_token), 1);
  });
});
