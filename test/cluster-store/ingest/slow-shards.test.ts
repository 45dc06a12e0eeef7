/** Groups of batches while the replica of one master is gone, or that master freezes: the batches of its shard alone wait, and each counts once. */
import t from "tap";
import type { GroupOptions, GroupOutcome } from "../../../src/cluster/cluster-client.js";
import type { KeyedCommand } from "../../../src/cluster/operation.js";
import { parseStoreUrl } from "../../../src/cluster/store-url.js";
import { shardOfSession, shardSlots } from "../../../src/cluster-store/keys.js";
import { openStore } from "../../../src/store/open-store.js";
import { automatedBatch, batch } from "../../support/batches.js";
import { ownerOf } from "../../support/owner.js";
import { startRedis } from "../../support/redis-cluster.js";
import { waitUntil } from "../../support/wait-until.js";
import { isRecorded, keyOf, recorded, requestOf, scoringNode, storedSession } from "./scoring-node.js";

type WriteGroup = (commands: readonly KeyedCommand[], options: GroupOptions) => Promise<GroupOutcome>;

t.test("a slow shard in the groups of others", async (t) => {
  const redis = await startRedis(t, { masters: 3, replicas: 1 });
  // Nobody takes over.
  await Promise.all(redis.nodes.map((each) => each.ask("CONFIG", "SET", "cluster-node-timeout", "60000")));
  const url = parseStoreUrl(redis.url);
  if ("fault" in url) throw new Error(url.fault);
  const store = openStore(t.testdir());
  const owner = await ownerOf(store);
  const node = () => scoringNode(t, store, url);
  const request = (id: string, token: string | null, more = {}) => requestOf(owner, batch(id, 1, token), more);
  const one = node();
  const stored = async (token: string) => (await storedSession(one, keyOf(owner, token)))!.state.eventCount;

  /** Sessions by their `Idempotency-Key`, of the slow shard and of the others. */
  const sessions = { slow: [] as [string, string][], others: [] as string[] };
  const slow = (await redis.masters())[0]!;
  const isSlow = (slot: number) => one.client.shardOf(slot)!.master === slow.address;
  for (let count = 0; sessions.slow.length < 12 || sessions.others.length < 12; count++) {
    const key = `key-${count}`;
    const [outcome] = await one.commit(request(`first${count}`, null, { idempotencyKey: key }));
    const token = recorded(outcome).session_token;
    if (isSlow(shardSlots[shardOfSession(keyOf(owner, token))]!)) sessions.slow.push([key, token]);
    else sessions.others.push(token);
  }
  const { slow: ofSlow, others } = sessions;

  /** A node, with `write` in the place of its next writes to the slow master. */
  function nodeWith(write: (send: () => Promise<GroupOutcome>) => Promise<GroupOutcome>, ackMs?: number) {
    const made = node();
    const writeGroup: WriteGroup = made.client.writeGroup.bind(made.client);
    made.client.writeGroup = (commands, options) => {
      const send = () => writeGroup(commands, { ...options, ackMs: ackMs ?? options.ackMs });
      return isSlow(commands[0]!.slot) ? write(send) : send();
    };
    return made;
  }

  /** Batches of all the other sessions. */
  const batchesOfOthers = (id: string) => others.map((token, index) => request(`${id}-${index}`, token));

  await t.test("a master freezes between a group's reads and its writes", async (t) => {
    const three = nodeWith((send) => {
      slow.freeze();
      return send();
    });
    const [key, token] = ofSlow[0]!;
    const mine = [request("freeze00", token), requestOf(owner, automatedBatch("freeze01"), { idempotencyKey: key })];
    const group = three.committer.begin([...batchesOfOthers("freeze"), ...mine]);
    await group.early;
    t.same(group.outcomes.map(isRecorded), [...others.map(() => true), false, false], "only its own batches wait");
    t.same(three.state.fired, [], "and count nothing yet");
    slow.thaw();
    await group.settled;
    t.same(
      group.outcomes.slice(-2).map((outcome) => recorded(outcome).accepted),
      [1, 2],
    );
    t.equal(three.mint.runs, 1, "what was on its way is not done again");
    t.ok(three.state.fired.length > 0);
    t.equal(await stored(token), 4);
  });

  await t.test("another node writes a session first whose write is on its way", async (t) => {
    const two = node();
    const [, token] = ofSlow[1]!;
    const three = nodeWith(async (send) => {
      if (three.mint.runs > 1) return send();
      recorded((await two.commit(request("before00", token)))[0]);
      slow.freeze();
      return send();
    });
    const sent = [...batchesOfOthers("conflict"), request("behind00", token), request("behind01", token)];
    const group = three.committer.begin(sent);
    await group.early;
    t.same(group.outcomes.map(isRecorded), [...others.map(() => true), false, false]);
    // As when the frame's memory is given away.
    for (const { body } of sent) body.fill(0);
    slow.thaw();
    await group.settled;
    t.same(
      group.outcomes.slice(-2).map((outcome) => recorded(outcome).accepted),
      [1, 1],
      "its batches have run again",
    );
    t.equal(three.state.conflicts, 2);
    t.equal(await stored(token), 4, "each event is there once");
  });

  await t.test("a batch that turns out to be of a session whose write is on its way", async (t) => {
    const three = nodeWith((send) => {
      if (three.mint.runs === 1) slow.freeze();
      return send();
    });
    const [key, token] = ofSlow[2]!;
    const unknown = `${token.slice(0, -8)}AAAAAAAA`;
    // That this session is gone, and which one has its key instead, is only known when the batch has run.
    const group = three.committer.begin([
      request("known000", token),
      request("later000", unknown, { idempotencyKey: key }),
    ]);
    await group.early;
    t.same(group.outcomes, [null, null]);
    slow.thaw();
    await group.settled;
    const settled = { session_token: token, accepted: 1, duplicates: 0 };
    t.same(group.outcomes, [settled, settled]);
    t.equal(three.state.conflicts, 0, "it has waited for that write");
    t.equal(await stored(token), 3);
  });

  await t.test("a master without its replica", async (t) => {
    let writes = 0;
    // It waits longer than a busy machine may keep the others.
    const three = nodeWith((send) => {
      writes++;
      return send();
    }, 1000);
    const [replica] = await redis.replicasOf(slow);
    await replica!.kill();
    const mine = ofSlow.slice(3);
    const begin = ([, token]: [string, string], index: number) =>
      three.committer.begin([request(`lacking${index}-0`, others[index]!), request(`lacking${index}-1`, token)]);
    const first = begin(mine[0]!, 0);
    await first.early;
    const next = mine.slice(1).map((each, index) => begin(each, index + 1));
    await Promise.all(next.map(({ early }) => early));
    for (const { outcomes } of [first, ...next]) {
      recorded(outcomes[0]);
      t.equal(outcomes[1], null, "only the batch of its shard waits");
    }
    t.equal(first.outcomes.at(-1), null, "the next groups have not waited for it");
    await Promise.all([first, ...next].map(({ settled }) => settled));
    for (const { outcomes } of [first, ...next])
      t.match(outcomes.at(-1), { error: "unavailable", message: /too few replicas/ });
    t.equal(writes, 2, "writes to a master whose answer is waited for go out together");
    await replica!.restart();
    for (const [index, [, token]] of mine.entries()) {
      const again = async () => (await three.commit(request(`lacking${index}-1`, token)))[0];
      await waitUntil(again, isRecorded);
      t.equal(await stored(token), 2, "sent again it counts once");
    }
  });
});
