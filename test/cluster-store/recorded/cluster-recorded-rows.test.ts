/** Recorded rows in a real cluster: what one node records every node reads, with the bounds, ids and expiry of a single host. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import {
  blockRows,
  blockSegmentIds,
  marksRow,
  sessionRow,
  shardOfSession,
  shardSlots,
  timelineRow,
} from "../../../src/cluster-store/keys.js";
import { storeAclRules } from "../../../src/cluster-store/permissions.js";
import { clusterRecordedRows } from "../../../src/cluster-store/recorded/cluster-recorded-rows.js";
import type { IngestEvent } from "../../../src/contract/events/events.js";
import type { SessionMark } from "../../../src/contract/sessions/marks.js";
import {
  decodeSessionToken,
  encodeSessionToken,
  mintSessionToken,
} from "../../../src/contract/sessions/session-token.js";
import { storeStatistics } from "../../../src/control-plane/upkeep/store-statistics.js";
import { Refusal, UnavailableError } from "../../../src/errors.js";
import { limits } from "../../../src/limits.js";
import { addressSubject, Blocks, sessionSubject } from "../../../src/recording/blocks.js";
import { withEvents } from "../../../src/recording/timeline.js";
import { LongWork } from "../../../src/runtime/long-work.js";
import { sessionKey } from "../../../src/store/keys.js";
import type { Store } from "../../../src/store/store.js";
import { startService, toolHeaders } from "../../http/service.js";
import { automatedBatch, batch, event } from "../../support/batches.js";
import { ownFolder } from "../../support/own-folder.js";
import { startRedis } from "../../support/redis-cluster.js";
import { ruleBlock } from "../../support/rule-block.js";
import { waitUntil } from "../../support/wait-until.js";

const dayMs = 86_400_000;
const most = limits.blocksOfSessionMinuteMax;
let nowMs = Date.now();

// As a user who may do no more than the store needs.
const redis = await startRedis(t, { replicas: 0, settings: [["user", "store", "on", ">secret", ...storeAclRules]] });
const storeUrl = redis.url.replace("redis://", "redis://store:secret@");
const url = parseStoreUrl(storeUrl) as StoreUrl;
const options = { deadlineMs: 5000 };

/** A thread of a node. */
function node() {
  const client = new ClusterClient({ url });
  t.teardown(() => client.close());
  const recorded = clusterRecordedRows({ client, acks: 0, sessionMs: dayMs, blockMs: 30 * dayMs, now: () => nowMs });
  const blocks = new Blocks({ recorded } as Store, () => nowMs);
  return { client, recorded, blocks };
}
const one = node();
const two = node();

let minted = 0;
const keyOf = (projectId: number, token: string) => sessionKey(projectId, decodeSessionToken(token)!);
const ofSession = (projectId: number, token: string) => {
  const key = keyOf(projectId, token);
  return { row: sessionRow(key), slot: shardSlots[shardOfSession(key)]! };
};

/** A session that is stored, later than those before; its token. */
async function session(projectId: number): Promise<string> {
  const number = ++minted;
  const token = encodeSessionToken(mintSessionToken(nowMs + number * 1000, (into) => into.fill(number % 256)));
  const { row, slot } = ofSession(projectId, token);
  await one.client.execute(["SET", row, "12345678record"], slot, options);
  return token;
}

async function erase(projectId: number, token: string): Promise<void> {
  const { row, slot } = ofSession(projectId, token);
  await one.client.execute(["DEL", row], slot, options);
}

/** Project ids are beyond those of the accounts that the last test makes. */
const block = (projectId: number, sessionToken: string | null, path: string) =>
  ruleBlock(projectId, sessionToken, { path, atMs: nowMs });

async function rows({ blocks }: { blocks: Blocks }, projectId: number, limit = 100) {
  const page = await blocks.page(projectId, limit, null);
  if (page instanceof Refusal) throw new Error(page.message);
  return page.rows;
}

t.test("blocks of all nodes have ids in one order, and every node shows them", async (t) => {
  const [a, b] = [await session(101), await session(101)];
  for (const path of ["/1", "/2"]) one.blocks.record(block(101, a, path), sessionSubject(a));
  t.equal(await one.blocks.flush(), 2);
  two.blocks.record(block(101, b, "/3"), sessionSubject(b));
  two.blocks.record(block(102, null, "/other"), addressSubject("198.51.100.7"));
  t.equal(await two.blocks.flush(), 2);
  for (const each of [one, two]) {
    t.same(
      (await rows(each, 101)).map(({ id, path, sessionToken, count }) => ({ id, path, sessionToken, count })),
      [
        { id: 3, path: "/3", sessionToken: b, count: 1 },
        { id: 2, path: "/2", sessionToken: a, count: 1 },
        { id: 1, path: "/1", sessionToken: a, count: 1 },
      ],
    );
  }
  t.same((await rows(one, 101))[0]?.detectionIds, [], "an empty list stays one");
});

t.test("of a session, rule and minute the first are records, whichever nodes record them", async (t) => {
  const token = await session(103);
  for (let index = 0; index < most + 5; index++) {
    for (const { blocks } of [one, two]) blocks.record(block(103, token, `/${index}`), sessionSubject(token));
  }
  await Promise.all([one.blocks.flush(true), two.blocks.flush(true)]);
  await Promise.all([one.blocks.flush(true), two.blocks.flush(true)]);
  const found = await rows(two, 103);
  t.equal(found.length, most);
  t.equal(
    found.reduce((sum, { count = 0 }) => sum + count, 0),
    2 * (most + 5),
    "and all are counted",
  );
});

t.test("an answer's reference finds its block at the other node", async (t) => {
  const token = await session(104);
  one.blocks.record(block(104, token, "/refer"), sessionSubject(token));
  await one.blocks.flush();
  for (let index = 0; index < limits.blockReferencesMax + 2; index++) {
    t.ok(one.blocks.refer(104, sessionSubject(token), `request-${index}`));
    await one.blocks.flush();
  }
  const slices = () => new LongWork().begin();
  t.match(await two.blocks.find(104, "request-17", slices()), { path: "/refer" });
  t.match(await two.blocks.find(104, "request-2", slices()), { path: "/refer" });
  t.equal(await two.blocks.find(104, "request-1", slices()), null, "the latest are kept");
});

t.test("nothing is kept of a session that was erased", async (t) => {
  const [gone, there] = [await session(105), await session(105)];
  await erase(105, gone);
  for (const token of [gone, there]) one.blocks.record(block(105, token, "/x"), sessionSubject(token));
  t.equal(await one.blocks.flush(), 1);
  t.same(
    (await rows(two, 105)).map(({ sessionToken }) => sessionToken),
    [there],
  );
});

t.test("segments follow one another; the oldest go, and all expire", async (t) => {
  const all = 2 * blockSegmentIds + 20;
  for (let index = 0; index < all; index++) {
    const each = index % 2 === 0 ? one : two;
    each.blocks.record(block(106, null, `/${index}`), addressSubject(`address ${index}`));
    if (index % 100 === 99) await Promise.all([one.blocks.flush(), two.blocks.flush()]);
  }
  await Promise.all([one.blocks.flush(), two.blocks.flush()]);
  const seen: number[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await two.blocks.page(106, 100, cursor);
    if (page instanceof Refusal) throw new Error(page.message);
    seen.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  t.same(
    seen,
    Array.from({ length: all }, (_, index) => all - index),
  );
  const { last, segment } = blockRows(106);
  const slot = keySlot(last);
  const left = Number(await one.client.execute(["PEXPIRE", segment(1), 30 * dayMs], slot, options));
  t.equal(left, 1);
  // As if there had been many more in between.
  await one.client.execute(["SET", last, limits.blocksPerProjectMax + blockSegmentIds + 10], slot, options);
  one.blocks.record(block(106, null, "/latest"), addressSubject("latest"));
  await one.blocks.flush();
  t.equal(await one.client.execute(["EXISTS", segment(0)], slot, options), 1, "a part of it may still be asked for");
  const ids = (await two.recorded.blocks.before(106, Number.POSITIVE_INFINITY, 1e6)).map(({ id }) => id);
  t.ok(ids.length > 100);
  t.ok(Math.min(...ids) > blockSegmentIds, "beyond the bound they are not shown");
  await one.client.execute(["SET", last, limits.blocksPerProjectMax + 5 * blockSegmentIds], slot, options);
  one.blocks.record(block(106, null, "/later"), addressSubject("later"));
  two.blocks.record(block(106, null, "/latest of all"), addressSubject("latest of all"));
  await Promise.all([one.blocks.flush(), two.blocks.flush()]);
  const segments = [...new Set(ids.map((id) => Math.floor(id / blockSegmentIds)))];
  t.ok(segments.length > 0);
  nowMs += 31 * dayMs;
  t.same(await rows(two, 106), [], "as long as blocks are kept");
  nowMs -= 31 * dayMs;
});

t.test("marks are those of the cluster: bounded, and kept as long as blocks", async (t) => {
  const tokens = await Promise.all([session(107), session(107), session(107)]);
  const mark = (sessionToken: string, as: "person" | "bot" = "person"): SessionMark => {
    const markedAt = new Date(nowMs).toISOString();
    return { projectId: 107, sessionToken, as, markedAt, userId: 1, band: "definite", score: 1, detectionIds: [] };
  };
  const [a, b, c] = tokens as [string, string, string];
  t.equal(await one.recorded.marks.put(mark(a), 2), "put");
  t.equal(await one.recorded.marks.put(mark(b), 2), "put");
  t.equal(await two.recorded.marks.put(mark(c), 2), "full");
  t.equal(await two.recorded.marks.put(mark(a, "bot"), 2), "put", "a change needs no room");
  t.same(await one.recorded.marks.find(107, a), mark(a, "bot"));
  t.same((await two.recorded.marks.tokens(107)).sort(), [a, b].sort());
  t.same([...(await two.recorded.marks.all(107))].map(({ sessionToken }) => sessionToken).sort(), [a, b].sort());
  t.equal(await two.recorded.marks.remove(107, b), true);
  t.equal(await one.recorded.marks.remove(107, b), false);
  await erase(107, b);
  t.equal(await one.recorded.marks.put(mark(b), 2), "gone");
  t.equal(await one.recorded.marks.find(107, b), null, "and nothing is left of it");
  t.ok(Number(await one.client.execute(["HLEN", marksRow(107)], keySlot(marksRow(107)), options)) === 1);
  nowMs += 31 * dayMs;
  t.same(await one.recorded.marks.tokens(107), []);
  t.equal(await one.recorded.marks.put(mark(c), 1), "put", "those that have outlived their time make room");
  nowMs -= 31 * dayMs;
});

t.test(
  "timelines are folded by whichever node has the batch, of the latest sessions, beside their session",
  async (t) => {
    const tokens: string[] = [];
    for (let count = 0; count < 5; count++) tokens.push(await session(108));
    const piece = (token: string) => ({
      projectId: 108,
      key: keyOf(108, token),
      fold: (before: Parameters<typeof withEvents>[0]) =>
        withEvents(before, [event("heartbeat", {}) as IngestEvent], nowMs),
    });
    const read = async (each: typeof one) =>
      Promise.all(tokens.map(async (token) => (await each.recorded.timelines.read(keyOf(108, token)))?.noted ?? 0));
    const pieces = tokens.map(piece);
    await one.recorded.timelines.fold(pieces, 3);
    t.same(await read(two), [0, 0, 1, 1, 1], "of the latest three");
    await Promise.all([one, two, one, two].map((each) => each.recorded.timelines.fold([pieces[4]!, pieces[4]!], 3)));
    t.same(await read(one), [0, 0, 1, 1, 9], "none is lost when nodes fold at once");
    await erase(108, tokens[4]!);
    await two.recorded.timelines.fold([pieces[4]!], 3);
    t.same(await read(one), [0, 0, 1, 1, 9], "what comes late is not added to an erased session");
    const key = keyOf(108, tokens[3]!);
    const slot = shardSlots[shardOfSession(key)]!;
    t.equal(keySlot(timelineRow(key)), slot, "beside its session");
    await two.recorded.timelines.forget([108]);
    t.same(await read(one), [0, 0, 0, 0, 0]);
  },
);

t.test("a cluster that does not answer is said, and what waited still waits", async (t) => {
  const lost = node();
  lost.client.close();
  const token = await session(109);
  lost.blocks.record(block(109, token, "/x"), sessionSubject(token));
  await t.rejects(lost.blocks.flush());
  await t.rejects(lost.recorded.marks.find(109, token), UnavailableError);
  await t.rejects(lost.recorded.audit.before(1, 10, 10), UnavailableError);
  await t.rejects(lost.recorded.timelines.read(keyOf(109, token)), UnavailableError);
});

t.test("over HTTP: recorded through one node, read through the other, and there when the first has gone", async (t) => {
  const serveNode = () => {
    return startService(t, {
      "data-dir": ownFolder(t),
      store: storeUrl,
      "store-acks": "0",
      "timeline-sessions": "10",
      "store-deadline-ms": "5000",
    });
  };
  const near = await serveNode();
  const far = await serveNode();
  const tenant = await near.tenant("logs");
  const at = `/v1/projects/${tenant.project.id}`;
  const as = tenant.token;
  const body = { name: "all", expression: "score >= 0", action: "block" };
  t.equal((await near.ask("POST", `${at}/rules`, { as, body })).status, 201);
  const session = await near.ingest(tenant, automatedBatch("blocked"), toolHeaders);
  await near.ingest(tenant, { ...batch("more"), session_token: session }, toolHeaders);
  const verdict = await near.ask("GET", `/v1/sessions/${session}/verdict`, { as: tenant.privateKey });
  t.equal(verdict.json.action, "block");
  const reference = verdict.headers.get("x-request-id");
  const challenge = { name: "ask", expression: 'path == "/asked"', action: "challenge", sort_order: -1 };
  // A busy cluster refuses a change that follows another one at once.
  await waitUntil(
    () => near.ask("POST", `${at}/rules`, { as, body: challenge }),
    ({ status }) => status !== 503,
  );
  const askedFor = () => near.ask("GET", `/v1/sessions/${session}/verdict?path=/asked`, { as: tenant.privateKey });
  const challenged = await waitUntil(askedFor, ({ json }) => json.action === "challenge");
  t.equal((await far.ask("PUT", `${at}/sessions/${session}/mark`, { as, body: { as: "bot" } })).status, 200);

  const asked = async (service: typeof near) => {
    const get = async (path: string) => (await service.ask("GET", path, { as })).json;
    return {
      blocks: (await get(`${at}/blocks`)).data,
      byReference: (await get(`${at}/blocks?reference=${reference}`)).data,
      byChallenge: (await get(`${at}/blocks?reference=${challenged.headers.get("x-request-id")}`)).data,
      marks: await get(`${at}/marks`),
      session: (await get(`${at}/sessions/${session}`)).mark,
      timeline: (await get(`${at}/sessions/${session}/trail`)).noted,
      audit: (await get("/v1/audit?limit=100")).data,
    };
  };
  // Blocks and timelines are stored a moment after the answer.
  const found = await waitUntil(
    () => asked(far),
    ({ blocks, byReference, byChallenge, timeline }) =>
      blocks.length === 1 && byReference.length === 1 && byChallenge.length === 1 && timeline === 3,
  );
  t.match(found, {
    blocks: [{ session_token: session, count: 1 }],
    byReference: [{ session_token: session }],
    byChallenge: [{ session_token: session, action: "challenge" }],
    marks: { data: [{ session_token: session, as: "bot" }], totals: { bots: 1 } },
    session: { as: "bot" },
  });
  const actions = found.audit.map(({ action }: { action: string }) => action);
  t.equal(actions[0], "rule.created");
  t.ok(actions.length >= 3, "each change, the latest first");
  t.same(await asked(near), found, "the same on the node that has recorded them");
  t.equal((await storeStatistics(far.server.store, nowMs)).blocks, 2, "statistics count rows: a block and a challenge");
  await near.server.stop();
  t.same(await asked(far), found);
});
