/** Groups of batches committed to a real cluster: what one host would have stored, conflicts, retries, lost acknowledgements, counts. */

import { randomUUID } from "node:crypto";
import t from "tap";
import type { Credentials } from "../../../src/auth/credentials.js";
import type { ClusterError } from "../../../src/cluster/cluster-error.js";
import type { RespReply } from "../../../src/cluster/resp-parser.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl } from "../../../src/cluster/store-url.js";
import {
  ClusterPathReuseIndex,
  type ProjectPaths,
} from "../../../src/cluster-store/ingest/cluster-path-reuse-index.js";
import { ClusterUnitOfWork } from "../../../src/cluster-store/ingest/cluster-unit-of-work.js";
import { ClusterCounts, countClusterSessions, countEvents } from "../../../src/cluster-store/ingest/recent-counts.js";
import {
  crossSessionRow,
  indexRow,
  seenIdsRow,
  sessionRow,
  shardOfHash,
  shardOfSession,
  shardSlots,
  trafficRow,
  usageRow,
} from "../../../src/cluster-store/keys.js";
import { storeAclRules } from "../../../src/cluster-store/permissions.js";
import { ClusterHourlyCounts } from "../../../src/cluster-store/recorded/cluster-hourly-counts.js";
import { ClusterSessionRows } from "../../../src/cluster-store/sessions/cluster-session-rows.js";
import { eraseCommand } from "../../../src/cluster-store/sessions/session-commands.js";
import { decodeSessionToken } from "../../../src/contract/sessions/session-token.js";
import { F, unpackFeatures } from "../../../src/engines/session-features.js";
import { UnavailableError } from "../../../src/errors.js";
import type { CommitContext, IngestOutcome } from "../../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../../src/ingest/frame.js";
import { hashIdempotencyKey } from "../../../src/ingest/idempotency.js";
import { commitToLmdb } from "../../../src/ingest/lmdb-commit.js";
import { TokenMint } from "../../../src/ingest/token-mint.js";
import { limits } from "../../../src/limits.js";
import { TrafficCounter } from "../../../src/recording/traffic.js";
import { hourOf, monthOf } from "../../../src/store/keys.js";
import { openStore } from "../../../src/store/open-store.js";
import { decodeSession, withLoggedInAt } from "../../../src/store/session-record.js";
import { automatedBatch, batch, events } from "../../support/batches.js";
import { lmdbThread } from "../../support/lmdb-thread.js";
import { ownerOf } from "../../support/owner.js";
import { startRedis } from "../../support/redis-cluster.js";
import { waitUntil } from "../../support/wait-until.js";
import { isRecorded, keyOf as keyOfSession, recorded, requestOf, scoringNode, storedSession } from "./scoring-node.js";

t.test("a cluster of three masters with a replica each", async (t) => {
  // As a user who may do no more than the store needs.
  const user = ["user", "store", "on", ">secret", ...storeAclRules];
  const redis = await startRedis(t, { masters: 3, replicas: 1, settings: [user] });
  const url = parseStoreUrl(redis.url.replace("redis://", "redis://store:secret@"));
  if ("fault" in url) throw new Error(url.fault);
  const store = openStore(t.testdir());
  const owner = await ownerOf(store);

  const node = (more: Partial<CommitContext> = {}) => scoringNode(t, store, url, more);
  const nowMs = Date.now();
  function request(body: object, more: Partial<IngestRequest> = {}): IngestRequest {
    const made = requestOf(owner, body);
    return { ...made, facts: { ...made.facts, nowMs }, ...more };
  }

  const keyOf = (token: string): Buffer => keyOfSession(owner, token);
  const unpacked = (features: Buffer) => {
    const { numbers, texts } = unpackFeatures(features, 0, features.length)!;
    const named = Object.entries(F).map(([name, index]) => [name, numbers[index]]);
    return { numbers: Object.fromEntries(named), texts: [...texts] };
  };
  const one = node();
  const two = node();
  const stored = (token: string) => storedSession(one, keyOf(token));

  await t.test("stores what one host stores", async (t) => {
    const thread = lmdbThread(store, { ...one.context, mint: new TokenMint() });
    const bodies = [batch("alike000", 3), automatedBatch("alike001"), { session_token: null, events: [] }];
    const here = commitToLmdb(
      thread,
      bodies.map((body) => request(body)),
    ) as IngestOutcome[];
    const there = await one.commit(...bodies.map((body) => request(body)));
    for (const [index, outcome] of here.entries()) {
      if (!("accepted" in outcome)) {
        t.same(there[index], outcome);
        continue;
      }
      const other = recorded(there[index]);
      t.same({ ...other, session_token: "" }, { ...outcome, session_token: "" });
      const mine = decodeSession(store.sessions.getBinary(keyOf(outcome.session_token))!)!;
      const theirs = (await stored(other.session_token))!;
      t.same(theirs.state, mine.state);
      t.same(unpacked(theirs.features), unpacked(mine.features), "the same evidence");
    }
  });

  await t.test("goes on with a session on either node, and counts no event twice", async (t) => {
    const first = recorded((await one.commit(request(batch("either00", 2))))[0]);
    const second = recorded((await two.commit(request(batch("either01", 2, first.session_token))))[0]);
    t.same(second, { session_token: first.session_token, accepted: 2, duplicates: 0 });
    const again = recorded((await one.commit(request(batch("either01", 2, first.session_token))))[0]);
    t.same([again.accepted, again.duplicates], [0, 2]);
    t.equal((await stored(first.session_token))!.state.eventCount, 4);
  });

  await t.test("a session that many groups of both nodes write at once has every event once", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("crowd000"))))[0]);
    const before = one.state.conflicts + two.state.conflicts;
    const sent = Array.from({ length: 12 }, (_, index) =>
      request(batch(`crowd${String(index).padStart(3, "0")}x`, 1, token)),
    );
    let left = sent.flatMap((each) => [each, each]);
    let rounds = 0;
    for (; left.length > 0 && rounds < 30; rounds++) {
      const outcomes = await Promise.all(left.map((each, index) => (index % 2 === 0 ? one : two).commit(each)));
      left = left.filter((_, index) => !("accepted" in outcomes[index]![0]!));
    }
    t.equal(left.length, 0, "refused batches were sent again until they were taken");
    t.ok(one.state.conflicts + two.state.conflicts > before, "there were conflicts");
    t.equal((await stored(token))!.state.eventCount, 13);
  });

  await t.test("an `Idempotency-Key` leads to one session, whoever takes its batches at once", async (t) => {
    const key = randomUUID();
    const ask = () => request(batch("retry000"), { idempotencyKey: key });
    const answers = await Promise.all([one.commit(ask(), ask()), two.commit(ask()), one.commit(ask())]);
    const all = answers.flat().map(recorded);
    t.equal(new Set(all.map(({ session_token }) => session_token)).size, 1);
    t.equal(
      all.reduce((sum, { accepted }) => sum + accepted, 0),
      1,
    );
    t.equal(decodeSessionToken(all[0]!.session_token)!.length, 21);
  });

  await t.test("an `Idempotency-Key` whose session is gone, or older than a day, gets another one", async (t) => {
    const ask = (prefix: string, idempotencyKey: string, atMs = nowMs) =>
      request(batch(prefix), { idempotencyKey, facts: { ...request({}).facts, nowMs: atMs } });
    const [gone, old] = [randomUUID(), randomUUID()];
    const { session_token: erased } = recorded((await one.commit(ask("renew000", gone)))[0]);
    const { session_token: yesterdays } = recorded((await one.commit(ask("renew001", old)))[0]);
    t.same(await one.client.pipeline([eraseCommand(keyOf(erased))], { deadlineMs: 5000 }), [1]);
    const tomorrowMs = nowMs + limits.idempotencyKeptMs + 2000;
    for (const [prefix, key, atMs, before] of [
      ["renew002", gone, nowMs, erased],
      ["renew003", old, tomorrowMs, yesterdays],
    ] as const) {
      // Both nodes find the row that leads nowhere, and one of them replaces it.
      const answers = await Promise.all([one.commit(ask(prefix, key, atMs)), two.commit(ask(prefix, key, atMs))]);
      const all = answers.flat().map(recorded);
      t.not(all[0]!.session_token, before);
      t.equal(all[1]!.session_token, all[0]!.session_token);
      t.same(
        all.map(({ accepted, duplicates }) => accepted + duplicates),
        [1, 1],
      );
      const again = recorded((await two.commit(ask(prefix, key, atMs)))[0]);
      t.same(again, { session_token: all[0]!.session_token, accepted: 0, duplicates: 1 });
    }
  });

  await t.test("request ids beyond the record spill into rows beside it", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("spill000", 100))))[0]);
    const bodies = Array.from({ length: 12 }, (_, index) =>
      batch(`spill${String(index + 1).padStart(3, "0")}`, 100, token),
    );
    const runsBefore = [one.mint.runs, two.mint.runs] as const;
    for (const body of bodies) t.equal(recorded((await one.commit(request(body)))[0]).accepted, 100);
    for (const body of bodies) t.equal(recorded((await two.commit(request(body)))[0]).duplicates, 100);
    t.equal(one.mint.runs - runsBefore[0], bodies.length, "none is run twice for want of a row");
    t.equal(two.mint.runs - runsBefore[1], bodies.length);
    t.equal((await stored(token))!.state.eventCount, 1300);
    t.ok((await stored(token))!.seenIds.length <= 8 * limits.seenIdsInlineMax);
  });

  await t.test("spilled request ids live as long as their session, whatever writes it", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("alive000", 100))))[0]);
    await one.commit(request(batch("alive001", 100, token)));
    const key = keyOf(token);
    const slot = shardSlots[shardOfSession(key)]!;
    const [ids, record] = [seenIdsRow(key, 0), sessionRow(key)];
    const master = await redis.masterOf(slot);
    const ask = (...command: (string | Buffer)[]) => master.ask(...command).then(Number);
    const rows = new ClusterSessionRows({
      client: one.client,
      acks: 1,
      sessionMs: 3_600_000,
      deadlineMs: 5000,
      heldMs: 1000,
      now: Date.now,
    });
    for (const write of [
      () => one.commit(request(batch("alive002", 1, token))),
      () => rows.change(key, (bytes) => withLoggedInAt(bytes, nowMs)),
    ]) {
      // As if the ids had spilled an hour ago.
      t.equal(await ask("PEXPIRE", ids, "60000"), 1);
      const expiresMs = await ask("PEXPIRETIME", record);
      await write();
      t.ok((await ask("PEXPIRETIME", ids)) >= expiresMs);
    }
  });

  await t.test("counts events and sessions", async (t) => {
    await Promise.all([one.sender.flush(), two.sender.flush()]);
    const month = monthOf(nowMs);
    const before = {
      events: await countEvents(one.client, owner.accountId, month),
      sessions: await countClusterSessions(one.client, owner.projectId),
    };
    await one.commit(request(batch("counts00", 5)), request(batch("counts01", 5)));
    await two.commit(request(batch("counts02", 5)));
    await Promise.all([one.sender.flush(), two.sender.flush()]);
    t.equal(await countEvents(two.client, owner.accountId, month), before.events + 15);
    t.equal(await countClusterSessions(two.client, owner.projectId), before.sessions + 3);
    const rows = Array.from({ length: 16 }, (_, part) => trafficRow(owner.projectId, part, hourOf(nowMs)));
    const hours = await one.client.pipeline(
      rows.map((row) => ({ command: ["HGET", row, "sessions"], slot: keySlot(row) })),
      { deadlineMs: 5000 },
    );
    t.equal(
      hours.reduce<number>((sum, each) => sum + Number(each ?? 0), 0),
      before.sessions + 3,
    );
  });

  await t.test("a count that a failover has lost is made anew with an expiry", async (t) => {
    const nowMs = Date.now();
    const row = crossSessionRow(1, owner.projectId, [12, 34], hourOf(nowMs));
    const none = { accountId: 0, month: "", projectId: 0, hour: 0, events: 0, sessions: 0, paths: [] };
    const ask = (...command: string[]) => one.client.execute(command, keySlot(row), { deadlineMs: 5000 });
    const count = async (): Promise<number> => {
      // As read before its master failed.
      for (let times = 0; times < 3; times++) one.sender.add({ ...none, across: [{ row, isNew: false }] });
      await one.sender.flush();
      return Number(await ask("PTTL", row));
    };
    t.ok((await count()) > 3_600_000);
    t.equal(await ask("PEXPIRE", row, "1000000"), 1);
    t.ok((await count()) <= 1_000_000, "one that is there keeps the expiry that it has");
    t.equal(String(await ask("GET", row)), "6");
  });

  await t.test("a clock that is set back leaves counts as fresh as before", async (t) => {
    const [accountId, month] = [owner.accountId + 1000, "2030-01"];
    const row = usageRow(accountId, 0, month);
    const { now } = Date;
    t.teardown(() => {
      Date.now = now;
    });
    let setBackMs = 0;
    Date.now = () => now() - setBackMs;
    const counts = new ClusterCounts(one.client);
    const seen = (events: number) =>
      waitUntil(
        async () => counts.eventsInMonth(accountId, month),
        (count) => count === events,
      );
    await one.client.execute(["SET", row, 1, "EX", 60], keySlot(row), { deadlineMs: 5000 });
    t.equal(await seen(1), 1);
    setBackMs = 3_600_000;
    await one.client.execute(["SET", row, 2, "EX", 60], keySlot(row), { deadlineMs: 5000 });
    t.equal(await seen(2), 2);
  });

  await t.test("faults of ours are told, and answered as on one host", async (t) => {
    const broken = new TypeError("the mirror can't be read");
    const credentials = {
      subscribedKey: () => {
        throw broken;
      },
    } as unknown as Credentials;
    const unreadable = node({ credentials });
    t.match(await unreadable.commit(request(batch("fault000"))), [{ error: "internal" }]);
    t.same([unreadable.state.ours, unreadable.state.faults], [[broken], []]);
    const cause = new RangeError("can't be folded");
    const facts = {
      ...request({}).facts,
      get origin(): string {
        throw cause;
      },
    };
    const three = node();
    const [first, faulty, last] = await three.commit(
      request(batch("fault001")),
      request(batch("fault002"), { facts }),
      request(batch("fault003")),
    );
    t.match(faulty, { error: "internal" });
    t.match([recorded(first), recorded(last)], [{ accepted: 1 }, { accepted: 1 }]);
    t.equal((three.state.ours as Error[])[0]?.cause, cause);
    t.equal(three.state.ours.length, 1);
  });

  await t.test("adds up what all nodes count of an hour", async (t) => {
    const hour = hourOf(nowMs) + 1000;
    const traffic = {
      events: 0,
      sessions: 0,
      verdicts: { human: 2 },
      actions: { allow: 2 },
      challenges: { 3: { issued: 1, passed: 0, failed: 0, passedMs: 0 } },
      rules: { 3: { sessions: 1, requests: 0, lastMs: nowMs } },
    };
    const requests = { verdicts: { human: 1 }, actions: { allow: 1 } };
    const [here, there] = [new ClusterHourlyCounts(one.client), new ClusterHourlyCounts(two.client)];
    const projectId = owner.projectId;
    await Promise.all([
      here.add([{ projectId, hour, traffic }]),
      there.add([{ projectId, hour, traffic: { ...traffic, requests } }]),
    ]);
    t.same(await there.read(projectId, hour - 1, hour + 2), [
      [
        hour,
        {
          events: 0,
          sessions: 0,
          verdicts: { human: 4 },
          actions: { allow: 4 },
          requests,
          challenges: { 3: { issued: 2, passed: 0, failed: 0, passedMs: 0 } },
          rules: { 3: { sessions: 2, requests: 0, lastMs: nowMs } },
        },
      ],
    ]);
  });

  await t.test("counts whose addition had no answer are added again, once, and hold up no others", async (t) => {
    const counts = new ClusterHourlyCounts(one.client);
    const counter = new TrafficCounter({ ...store, counts });
    const hour = hourOf(nowMs);
    // Their rows are on all masters.
    const projectIds = Array.from({ length: 30 }, (_, index) => 2000 + index);
    const count = (projectId: number) => counter.countVerdict(projectId, "likely_human", "allow", "session", nowMs);
    const verdicts = async (projectId: number) => (await counts.read(projectId, hour, hour + 1))[0]?.[1].verdicts;
    for (const projectId of projectIds) count(projectId);
    const [master] = await redis.masters();
    master!.freeze();
    await t.rejects(counter.flush(), UnavailableError);
    for (const projectId of projectIds) count(projectId);
    // What it was sent while it was frozen it does now, beside what it is sent again.
    master!.thaw();
    await redis.waitOk();
    const flushed = () =>
      counter.flush().then(
        () => true,
        () => false,
      );
    await waitUntil(flushed, (isDone) => isDone);
    await counter.flush();
    for (const projectId of projectIds) t.same(await verdicts(projectId), { likely_human: 2 });
  });

  await t.test(
    "a batch that breaks the scoring is found in a large group, whose other batches are stored",
    async (t) => {
      const { session_token: token } = recorded((await one.commit(request(batch("broken00"))))[0]);
      const conflicts = one.state.conflicts;
      const contact = { idempotencyKey: randomUUID() };
      const requests = Array.from({ length: 128 }, (_, index) => {
        const prefix = `broken-${String(index).padStart(3, "0")}`;
        return index % 2 === 0 ? request(batch(prefix, 1, token)) : request(batch(prefix), contact);
      });
      const facts = new Proxy(requests[125]!.facts, {
        get: (all, name) => {
          if (name === "userAgent") throw new TypeError("broken");
          return Reflect.get(all, name);
        },
      });
      requests[125] = { ...requests[125]!, facts };
      const outcomes = await one.commit(...requests);
      t.match(outcomes[125], { error: "internal" });
      const taken = outcomes.filter((_, index) => index !== 125).map(recorded);
      t.equal(new Set(taken.map(({ session_token }) => session_token)).size, 2);
      t.equal((await stored(token))!.state.eventCount, 65);
      t.equal((await stored(taken[1]!.session_token))!.state.eventCount, 63);
      t.equal(one.state.conflicts, conflicts, "nobody else writes these sessions");
    },
  );

  await t.test("a path that was shown on one node is known on the other", async (t) => {
    const points = Array.from({ length: 40 }, (_, index) => [
      index * 17,
      100 + index * 7 + (index % 5) * 3,
      200 + ((index * index) % 37),
    ]);
    const mouse = { t: 1000, points, count: 40 };
    const body = (prefix: string, token: string | null = null) => ({
      session_token: token,
      events: [{ ...events(prefix, 1)[0]!, type: "mouse", payload: mouse }, ...events(`${prefix}x`, 1)],
    });
    await one.commit(request(body("paths000")));
    await one.sender.flush();
    await two.paths.refresh();
    const asked = two.client.meters.commands;
    await two.paths.refresh();
    t.equal(two.client.meters.commands, asked, "nothing is asked again before there is a batch");
    const { session_token: token } = recorded((await two.commit(request(body("paths001"))))[0]);
    await two.commit(request(batch("paths002", 1, token)));
    t.ok((await stored(token))!.state.detectionIds.length > 0);
    const runs: number[] = [];
    for (const prefix of ["paths003", "paths004", "paths005"]) {
      const before = two.mint.runs;
      t.equal(recorded((await two.commit(request(body(prefix, token))))[0]).accepted, 2);
      runs.push(two.mint.runs - before);
    }
    t.same(runs, [2, 1, 1], "once a session shows paths of others, its shapes are counted without a second run");
  });

  await t.test("a thread does not read back the paths that it appended, and misses none of another's", async (t) => {
    const projectId = 4_000_000_000;
    const part = 3;
    const [mine, other] = [new ClusterPathReuseIndex(one.client, part), new ClusterPathReuseIndex(two.client, part)];
    const append = async (index: ClusterPathReuseIndex, hash: number, session: number): Promise<void> => {
      const pairs = new Uint8Array(Uint32Array.of(hash, session).buffer);
      const outcomes = await one.client.pipeline([index.appending(projectId, pairs)], { deadlineMs: 1000 });
      index.appended(projectId, pairs, outcomes[0] as RespReply);
    };
    const refresh = async (index: ClusterPathReuseIndex): Promise<ProjectPaths> => {
      const paths = index.of(projectId);
      // A part without news is left out of some refreshes.
      for (let count = 0; count < 8; count++) await paths.refresh(one.client);
      return paths;
    };
    await append(other, 11, 1);
    const paths = await refresh(mine);
    t.equal(paths.ownerOf(11), 1);
    await append(mine, 12, 2);
    t.equal((await refresh(mine)).ownerOf(12), undefined, "nothing but the log has it, and it is not read");
    await append(other, 13, 3);
    await append(mine, 14, 4);
    await refresh(mine);
    t.same(
      [13, 14].map((hash) => paths.ownerOf(hash)),
      [3, 4],
      "another thread was in between",
    );
    await append(mine, 15, 5);
    await append(mine, 16, 6);
    await append(other, 17, 7);
    await refresh(mine);
    t.same(
      [15, 16, 17].map((hash) => paths.ownerOf(hash)),
      [undefined, undefined, 7],
    );
    t.same(
      [11, 12, 13, 14, 15, 16, 17].map((hash) => other.of(projectId).ownerOf(hash)),
      Array(7).fill(undefined),
    );
    const others = await refresh(other);
    t.same(
      [11, 12, 13, 14, 15, 16, 17].map((hash) => others.ownerOf(hash)),
      [1, 2, 3, 4, 5, 6, 7],
    );
  });

  await t.test("paths of a batch that was refused are as if it never came", async (t) => {
    const node = {
      rows: new Map(),
      counts: new ClusterCounts(one.client),
      paths: new ClusterPathReuseIndex(one.client),
    };
    const hashes = [3_000_000_001, 17];
    const unit = new ClusterUnitOfWork(node.rows, node.counts, node.paths);
    unit.beginBatch(0);
    t.equal(unit.paths.record(owner.projectId, 1, hashes, { left: 10 }), 0);
    t.equal(unit.paths.record(owner.projectId, 2, hashes, { left: 10 }), 2, "session 1 has shown both");
    unit.forgetPaths(0);
    t.equal(unit.paths.record(owner.projectId, 2, hashes, { left: 10 }), 0);
  });

  await t.test("the index has the sessions of a shard in the order of their time", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("index000"))))[0]);
    const key = keyOf(token);
    const row = indexRow(shardOfSession(key), owner.projectId);
    const tokens = await one.client.execute(["ZRANGE", row, "-", "+", "BYLEX"], keySlot(row), { deadlineMs: 5000 });
    t.ok(Array.isArray(tokens) && tokens.some((each) => each instanceof Buffer && each.equals(key.subarray(4))));
  });

  await t.test("a frozen master holds up no batch of the others, in whose group its batches are", async (t) => {
    const setTimeouts = (ms: number) =>
      Promise.all(redis.nodes.map((each) => each.ask("CONFIG", "SET", "cluster-node-timeout", String(ms))));
    // Nobody takes over meanwhile.
    await setTimeouts(60_000);
    const three = node();
    const tokens: string[] = [];
    for (let count = 0; count < 24; count++) {
      tokens.push(recorded((await three.commit(request(batch(`freeze${count}`))))[0]).session_token);
    }
    const masterOf = (shard: number) => redis.masterOf(shardSlots[shard]!);
    const frozen = await masterOf(shardOfSession(keyOf(tokens[0]!)));
    const isOn = await Promise.all(
      tokens.map(async (token) => (await masterOf(shardOfSession(keyOf(token)))) === frozen),
    );
    const keysOfOthers: string[] = [];
    while (keysOfOthers.length < 12) {
      const key = randomUUID();
      if ((await masterOf(shardOfHash(hashIdempotencyKey(key)))) !== frozen) keysOfOthers.push(key);
    }
    // Their counts are on all masters.
    const newOfOthers = (round: number) =>
      keysOfOthers.map((key, index) =>
        request(batch(`${key}-${round}`), {
          idempotencyKey: `${key}`,
          facts: { ...request({}).facts, ip: `203.0.${round}.${index}` },
        }),
      );
    const sent = tokens.map((token, index) => request(batch(`frozen${index}`, 1, token)));
    frozen.freeze();
    const group = three.committer.begin([...sent, ...newOfOthers(0)]);
    await group.early;
    const known = group.outcomes.map(isRecorded);
    t.same(
      known.slice(0, sent.length),
      isOn.map((each) => !each),
      "batches of the frozen master are still waited for",
    );
    t.ok(known.slice(sent.length).every(Boolean), "new sessions of the others are stored without their counts");
    three.state.faults.length = 0;
    t.ok((await three.commit(...newOfOthers(1))).every(isRecorded));
    const asked = three.state.faults.filter((each) => (each as ClusterError).outcome !== "not-sent");
    t.ok(three.state.faults.length > 0, "some of their rows are there");
    t.same(asked, [], "and not asked for any more");
    frozen.thaw();
    await group.settled;
    const left = sent.filter((_, index) => isOn[index]);
    const again = async () => (await three.commit(...left)).every(isRecorded);
    await waitUntil(again, (isTaken) => isTaken);
    for (const token of tokens) t.equal((await stored(token))!.state.eventCount, 2, "each event is there once");
    const counts = newOfOthers(2);
    three.state.faults.length = 0;
    t.ok((await three.commit(...counts)).every(isRecorded));
    t.same(three.state.faults, [], "all masters are asked again");
    await setTimeouts(2000);
  });

  await t.test("without its replica a write is not acknowledged, and its retry is no second event", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("acks0000"))))[0]);
    const master = await redis.masterOf(shardSlots[shardOfSession(keyOf(token))]!);
    const replicas = await redis.replicasOf(master);
    for (const replica of replicas) replica.freeze();
    const [refused] = await one.commit(request(batch("acks0001", 1, token)));
    const [duplicate] = await two.commit(request(batch("acks0001", 1, token)));
    for (const replica of replicas) replica.thaw();
    t.match(refused, { error: "unavailable" });
    t.match(
      one.state.unacknowledged.at(-1),
      new RegExp(`^${master.address}: 0 of the 1 replicas that must acknowledge`),
    );
    t.match(duplicate, { error: "unavailable" }, "what it finds there may be lost with the master");
    const [again] = await two.commit(request(batch("acks0001", 1, token)));
    t.equal(recorded(again).accepted + recorded(again).duplicates, 1);
    t.equal((await stored(token))!.state.eventCount, 2);
  });

  await t.test("a killed master: nothing that was acknowledged is lost", async (t) => {
    const { session_token: token } = recorded((await one.commit(request(batch("kill0000"))))[0]);
    const master = await redis.masterOf(shardSlots[shardOfSession(keyOf(token))]!);
    await master.kill();
    t.match((await one.commit(request(batch("kill0001", 1, token))))[0], { error: "unavailable" });
    await redis.waitOk();
    // As a replica of the one that took over, which acknowledges nothing alone.
    await master.restart();
    const again = async (): Promise<IngestOutcome> => (await one.commit(request(batch("kill0001", 1, token))))[0]!;
    await waitUntil(again, (outcome) => "accepted" in outcome);
    t.equal((await stored(token))!.state.eventCount, 2);
  });
});
