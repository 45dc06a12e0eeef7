/** Noise does not flush the memory of pointer paths: what one session, and one address, may put there, and that replays stay known. */
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { countsOnTheirWayMs } from "../../src/cluster-store/open-cluster.js";
import type { PointRow } from "../../src/contract/events/events.js";
import { newFeatures } from "../../src/engines/session-features.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { keepRoom, roomFor } from "../../src/ingest/path-room.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { chromeFacts, startMs, wobblyPath } from "../engines/sessions.js";
import { browserHeaders, type EventBody, event } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { firstTenant, startServer } from "../support/server.js";
import { clusterBehind, isOnCluster } from "../support/test-store.js";

/** What one session, and all of an address, may put there. */
const ofSession = limits.pathSharesPerSession * limits.pathShareHashes;
const ofAddress = limits.pathSharesPerAddress * limits.pathShareHashes;

t.test("twice the memory in noise leaves a recorded path in it", async (t) => {
  const flood = (name: string, visitorOf: (batch: number) => { readonly session: number; readonly ip: string }) =>
    t.test(name, async (t) => {
      const store = openStore(t.testdir());
      t.teardown(() => store.close());
      const unit = new LmdbUnitOfWork(store);
      const random = seededRandom(5);
      const hashes = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 2 ** 32));
      const sessions = new Map<number, ReturnType<typeof newFeatures>>();
      const record = (session: number, ip: string, shown: readonly number[]): number =>
        store.root.transactionSync(() => {
          const features = sessions.get(session) ?? newFeatures();
          sessions.set(session, features);
          const room = roomFor(shown.length, unit, 1, features, { ...chromeFacts, ip, nowMs: startMs });
          const known = unit.paths.record(1, session, shown, room);
          keepRoom(features, room);
          unit.save();
          return known;
        });
      const path = hashes(120);
      record(1, "192.0.2.1", path);
      for (let batch = 0; batch < (2 * limits.shingleSlotsMax) / 1024; batch++) {
        const { session, ip } = visitorOf(batch);
        // A batch brings 128 at most; eight of them in one transaction are quicker.
        record(session, ip, hashes(1024));
      }
      const known = record(3, "192.0.2.3", path);
      t.ok(known > 0.8 * path.length, `${known} of ${path.length} are known`);
    });
  await flood("of one session, from ever new addresses", (batch) => ({
    session: 2,
    ip: `203.0.${batch >> 8}.${batch & 255}`,
  }));
  await flood("of ever new sessions, from one address", (batch) => ({ session: 10 + batch, ip: "203.0.113.9" }));
  await flood("of ever new sessions, from one IPv6 /64", (batch) => ({
    session: 10 + batch,
    ip: `2001:db8:0:1:${(batch + 1).toString(16)}::1`,
  }));
});

/** Hashes that the memory of paths holds. */
async function hashesIn(store: Store): Promise<number> {
  const cluster = await clusterBehind(store);
  let count = 0;
  if (cluster !== null) {
    for (const node of await cluster.masters()) {
      const logs = (await node.ask("KEYS", "vd{p*}paths:*")) as Buffer[];
      // Pairs of hash and session.
      for (const log of logs) count += Number(await node.ask("STRLEN", log)) / 8;
    }
    return count;
  }
  for (const { key, value } of store.pathReuse.getRange({})) {
    if (key[4] === 2) continue;
    for (let at = 0; at + 8 <= value.length; at += 8) if (value.readUInt32LE(at + 4) !== 0) count++;
  }
  return count;
}

/** The same once nothing of the batches before is on its way, as it may be on a cluster. */
async function hashesAtRest(store: Store): Promise<number> {
  let count = await hashesIn(store);
  for (let before = -1; isOnCluster && before !== count; ) {
    before = count;
    // Nothing shows what is on its way: this long it may be.
    await delay(countsOnTheirWayMs);
    count = await hashesIn(store);
  }
  return count;
}

t.test("over sockets", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0", "--trusted-proxies", "127.0.0.1"]);
  const tenant = await firstTenant(server);
  const client = new Client(server.port);
  t.teardown(() => client.close());
  let id = 0;
  const send = async (ip: string, points: readonly PointRow[], token: string | null = null): Promise<string> => {
    const moves: EventBody = {
      ...event(`flood-${String(id++).padStart(8, "0")}`, { t: 0, points, trusted: true }),
      type: "mouse",
    };
    const headers = {
      ...browserHeaders,
      "content-type": "application/json",
      "x-forwarded-for": ip,
      "x-service-site-key": tenant.siteKey,
    };
    const { status, json } = await client.ask("POST", "/v1/events", headers, { session_token: token, events: [moves] });
    t.equal(status, 202);
    return json.session_token;
  };
  const random = seededRandom(11);
  const noise = (): PointRow[] =>
    Array.from({ length: 220 }, (_, index) => [8 * index, Math.round(1900 * random()), Math.round(900 * random())]);
  const path = wobblyPath(250, 3);
  await send("192.0.2.1", path);
  const recorded = await hashesAtRest(server.store);

  await t.test("one session puts no more there than it may", async (t) => {
    const token = await send("203.0.113.1", noise());
    const batches = Math.ceil(ofSession / limits.pathShareHashes) + 20;
    await Promise.all(Array.from({ length: batches }, () => send("203.0.113.1", noise(), token)));
    const put = (await hashesAtRest(server.store)) - recorded;
    t.ok(put > ofSession / 2 && put <= ofSession, `${put} of ${ofSession}`);
  });

  await t.test("the sessions of one IPv6 /64 put no more there than they may", async (t) => {
    const before = await hashesAtRest(server.store);
    const sessions = Math.ceil(ofAddress / limits.pathShareHashes) + 40;
    await Promise.all(Array.from({ length: sessions }, (_, index) => send(`2001:db8::${index + 1}`, noise())));
    const put = (await hashesAtRest(server.store)) - before;
    t.ok(put > ofAddress / 2 && put <= ofAddress, `${put} of ${ofAddress}`);
  });

  await t.test("the path is known all the same", async (t) => {
    const token = await send("192.0.2.3", path);
    const { json } = await client.ask("GET", `/v1/sessions/${token}/verdict`, {
      authorization: `Bearer ${tenant.privateKey}`,
    });
    t.not(json.verdict, "likely_human");
    t.ok(json.detection_ids.includes(300112) || json.detection_ids.includes(300129), `${json.detection_ids}`);
  });
});
