/** What was judged, in a real cluster: rows of all nodes are read through each, may be written twice, and expire by kind. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { judgedHourRow } from "../../../src/cluster-store/keys.js";
import { storeAclRules } from "../../../src/cluster-store/permissions.js";
import { ClusterRecordedJudged } from "../../../src/cluster-store/recorded/cluster-recorded-judged.js";
import { type JudgedKind, singleDimensions } from "../../../src/contract/traffic/traffic.js";
import { JudgedRecords } from "../../../src/recording/judged-records.js";
import { TrafficReader } from "../../../src/recording/traffic-reader.js";
import { LongWork } from "../../../src/runtime/long-work.js";
import { hourOf } from "../../../src/store/keys.js";
import type { Store } from "../../../src/store/store.js";
import { startRedis } from "../../support/redis-cluster.js";

const dayMs = 86_400_000;
const nowMs = Date.now();
const now = () => nowMs;
// As a user who may do no more than the store needs.
const redis = await startRedis(t, { replicas: 0, settings: [["user", "store", "on", ">secret", ...storeAclRules]] });
const url = parseStoreUrl(redis.url.replace("redis://", "redis://store:secret@")) as StoreUrl;

/** A thread of a node. */
function node() {
  const client = new ClusterClient({ url });
  t.teardown(() => client.close());
  const judged = new ClusterRecordedJudged({ client, sessionMs: 3 * dayMs, trafficMs: 400 * dayMs, now });
  return { client, judged, store: { recorded: { judged } } as unknown as Store };
}

const values = Object.fromEntries(singleDimensions.map((name) => [name, `${name}-1`]));
const facts = {
  projectId: 7,
  atMs: nowMs,
  weight: 1,
  subject: "request",
  sessionToken: null,
  band: "definite",
  action: "block",
  score: 3,
  detectionIds: [100101],
  rule: null,
  values: { ...values, verified_bot: "Google" },
  impostorOf: "",
  verifiedBotCategory: "search",
  network: {},
  method: "GET",
  path: "/a",
  userAgent: "x",
} as never;

t.test("two nodes count together, and both read all", async (t) => {
  const [one, two] = [node(), node()];
  const records = [one, two].map(({ store }) => new JudgedRecords(store, now, 100));
  for (let round = 0; round < 2; round++) {
    for (const each of records) {
      each.onJudged(facts);
      each.countRules(7, [{ id: 5 }], round === 0 ? "session" : "request", nowMs);
      await each.flush();
    }
  }
  const slices = new LongWork().begin(() => false);
  const span = { fromHour: hourOf(nowMs) - 23, toHour: hourOf(nowMs) + 1 };
  for (const { store } of [one, two]) {
    const reader = new TrafficReader(store, 100);
    const all = { subject: null, band: null, action: null };
    t.match(await reader.counts(7, "path", span, all, 50, slices), {
      total: 4,
      values: [{ value: "path-1", count: 4 }],
    });
    t.match(await reader.crawlers(7, span, slices), [{ operator: "Google", verified: 4 }]);
    const [minute] = await reader.ruleMinutes(7, nowMs, 1);
    t.strictSame([...minute!.hits], [[5, { sessions: 2, requests: 2 }]]);
    let weight = 0;
    await reader.visitSamples(7, nowMs - 1, nowMs + 1, slices, (sample) => {
      weight += sample.weight;
      return true;
    });
    t.equal(weight, 4);
  }
  for (const [kind, days] of [
    ["ip", 3],
    ["samples", 7],
    ["rule_minutes", 2 / 24],
    ["path", 400],
  ] as const satisfies [JudgedKind, number][]) {
    const row = judgedHourRow(7, kind, hourOf(nowMs));
    const options = { deadlineMs: 5000 };
    const leftMs = Number(await one.client.execute(["PTTL", row], keySlot(row), options));
    t.ok(leftMs > (days - 0.1) * dayMs && leftMs <= (days + 0.1) * dayMs, `${kind}: ${leftMs}`);
  }
});

t.test("a row is replaced and removed by its writer alone", async (t) => {
  const { judged } = node();
  const name = { projectId: 8, kind: "host", hour: hourOf(nowMs) } as const;
  const [own, other] = [Buffer.alloc(10, 1), Buffer.from([0, 255, 10, 13, 1, 2, 3, 4, 5, 6])];
  const bytes = Buffer.from([0, 1, 255, 13, 10]);
  await judged.write([
    { ...name, writer: own, bytes },
    { ...name, writer: other, bytes },
  ]);
  await judged.write([{ ...name, writer: own, bytes: Buffer.from("new") }]);
  const rows = async () =>
    (await judged.read(8, "host", name.hour, name.hour + 1)).map(({ writer, bytes }) => [writer, bytes] as const);
  t.same(
    new Map(await rows()),
    new Map([
      [own, Buffer.from("new")],
      [other, bytes],
    ]),
  );
  await judged.write([{ ...name, writer: own, bytes: null }]);
  t.same(await rows(), [[other, bytes]]);
});
