/** Counters of judged requests on a store: exact while values are few, bounded and told while they are many, kept while the disk is full. */
import t, { type Test } from "tap";
import { type JudgedFacts, singleDimensions, type trafficDimensions } from "../../src/contract/traffic/traffic.js";
import { JudgedRecords } from "../../src/recording/judged-records.js";
import { TrafficReader } from "../../src/recording/traffic-reader.js";
import { ValueSketch } from "../../src/recording/value-sketch.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { sweep } from "../../src/store/expiry.js";
import type { JudgedRow } from "../../src/store/judged-rows.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 10, 26, 12);
const all = { subject: null, band: null, action: null } as const;
const span = { fromHour: hourOf(startMs) - 48, toHour: hourOf(startMs) + 48 };
const slices = new LongWork().begin(() => false);

const values = Object.fromEntries(singleDimensions.map((name) => [name, `${name}-1`])) as JudgedFacts["values"];
const facts: JudgedFacts = {
  projectId: 1,
  weight: 1,
  atMs: startMs,
  subject: "request",
  sessionToken: null,
  band: "definite",
  action: "block",
  score: 3,
  reason: "",
  detectionIds: [100101, 100102],
  rule: { id: 5, name: "five" },
  values,
  isLoggedIn: false,
  impostorOf: "",
  impostorCategory: "",
  verifiedBotCategory: "",
  network: { country: "DE", asn: 3320, asName: "Telekom" },
  request: undefined,
  method: "GET",
  path: "/a",
  userAgent: "curl/8",
};
const withValue = (name: keyof JudgedFacts["values"], value: string) => ({ values: { ...values, [name]: value } });

function recording(t: Test, samplesMax = 2000) {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  store.projects.putSync(1, { id: 1 } as never);
  const world = { nowMs: startMs };
  const thread = () => new JudgedRecords(store, () => world.nowMs, samplesMax);
  const reader = new TrafficReader(store, samplesMax);
  const count = async (by: (typeof trafficDimensions)[number], selection: object = {}, limit = 200) =>
    (await reader.counts(1, by, span, { ...all, ...selection }, limit, slices))!;
  return { store, world, thread, reader, count };
}

t.test("each dimension is counted by subject, band and action, over threads and hours", async (t) => {
  const { world, thread, count } = recording(t);
  const [one, two] = [thread(), thread()];
  one.onJudged(facts);
  two.onJudged(facts);
  two.onJudged({ ...facts, subject: "session", band: "likely_human", action: "allow", detectionIds: [] });
  await one.flush();
  world.nowMs += hourMs;
  one.onJudged({ ...facts, ...withValue("path", "/b"), atMs: world.nowMs });
  await Promise.all([one.flush(), two.flush(), one.flush()]);
  const paths = await count("path");
  t.match(paths, { total: 4, other: 0, without: 0, error: 0 });
  t.match(paths.values[0], {
    value: "path-1",
    count: 3,
    bands: { definite: 2, likely_human: 1 },
    actions: { block: 2, allow: 1 },
  });
  t.match(paths.values[1], { value: "/b", count: 1 });
  for (const dimension of singleDimensions) t.equal((await count(dimension)).total, 4, dimension);
  t.match(await count("path", { subject: "session" }), { total: 1, values: [{ value: "path-1", count: 1 }] });
  t.match(await count("path", { band: "definite", action: "block" }, 1), { total: 3, other: 1 });
  t.match(await count("path", { action: "delay" }), { total: 0, other: 0, error: 0, values: [] });
  const detections = await count("detection");
  t.match(detections, { total: 4, without: 1, other: 1, values: [{ value: "100101", count: 3 }, { count: 3 }] });
  one.onJudged({ ...facts, ...withValue("declared_bot", ""), atMs: world.nowMs });
  await one.flush();
  t.match(await count("declared_bot"), { total: 5, without: 1, other: 1 });
});

t.test("a clock that goes back or jumps loses nothing", async (t) => {
  const { world, thread, count } = recording(t);
  const one = thread();
  for (const jump of [0, -2 * hourMs, 5 * hourMs, -1, 0]) {
    world.nowMs = startMs + jump;
    one.onJudged({ ...facts, atMs: world.nowMs });
    await one.flush();
  }
  t.equal((await count("host")).values[0]?.count, 5);
});

t.test(
  "of 5,000 values an hour in every dimension at most 200 are told, each within the error that is told",
  async (t) => {
    const { store, world, thread, count } = recording(t);
    const [one, two] = [thread(), thread()];
    const truth = new Map<string, number>();
    let total = 0;
    for (let index = 0; index < 40_000; index++) {
      // A few heavy values among many that come once or a few times, as an attack from many addresses brings.
      const number = index % 4 === 0 ? index % 17 : 17 + ((index * 7919) % 5000);
      const value = `v${number}`;
      truth.set(value, (truth.get(value) ?? 0) + 1);
      total++;
      const each = Object.fromEntries(singleDimensions.map((name) => [name, value])) as JudgedFacts["values"];
      (index % 2 === 0 ? one : two).onJudged({
        ...facts,
        values: each,
        band: index % 8 === 0 ? "definite" : "likely_human",
      });
      if (index % 10_000 === 0) await one.flush();
    }
    world.nowMs += hourMs;
    await one.flush();
    await two.flush();
    for (const dimension of ["path", "ip", "agent"] as const) {
      const { values: counted, total: all, error, other } = await count(dimension);
      t.equal(all, total);
      t.equal(counted.length, 200);
      t.ok(error > 0 && error <= 0.01, `the error is ${error}`);
      t.equal(other, total - counted.reduce((sum, { count }) => sum + count, 0));
      for (const { value, count } of counted) {
        const real = truth.get(value) ?? 0;
        if (count > real || real - count > error * total) t.fail(`${value}: ${count} of ${real}`);
      }
      for (let heavy = 0; heavy < 17; heavy++) t.ok(counted.some(({ value }) => value === `v${heavy}`));
      const definite = await count(dimension, { band: "definite" });
      t.ok(definite.error <= 0.01, `of one band it is ${definite.error}`);
    }
    const bytes = [...store.judged.getRange({})].reduce((sum, { value }) => sum + value.length, 0);
    t.comment(`${bytes} bytes for an hour of two threads with 5,000 values in every dimension`);
    t.ok(bytes < 1 << 20);
  },
);

t.test("a sketch never counts too much, and misses a share of 1/slots at most", async (t) => {
  const sketch = new ValueSketch(50);
  const truth = new Map<string, number>();
  for (let index = 1; index <= 30_000; index++) {
    // Runs of one value, also across a prune.
    const value = String(index % 3 === 0 ? index % 7 : (index >> 1) % 2711);
    truth.set(value, (truth.get(value) ?? 0) + 1);
    sketch.add(value);
  }
  t.ok(sketch.size <= 200);
  t.ok(sketch.missed <= 30_000 / 50, `${sketch.missed}`);
  for (const [value, { count, missed }] of sketch.values()) {
    const real = truth.get(value)!;
    if (count > real || count + missed < real) t.fail(`${value}: ${count} to ${count + missed}, not ${real}`);
  }
});

t.test("a store that can't be written loses no count, and memory stays bounded", async (t) => {
  const { store, world, thread, reader, count } = recording(t);
  const write = store.recorded.judged.write.bind(store.recorded.judged);
  let isFull = true;
  store.recorded.judged.write = (rows) => (isFull ? Promise.reject(new Error("ENOSPC")) : write(rows));
  const one = thread();
  one.onJudged(facts);
  await t.rejects(one.flush(), /ENOSPC/);
  world.nowMs += hourMs;
  one.onJudged({ ...facts, atMs: world.nowMs });
  await t.rejects(one.flush(), /ENOSPC/);
  t.ok(one.unstored >= 4, "a stop could say so: values and samples of two hours");
  isFull = false;
  await one.flush();
  await one.flush();
  t.equal(one.unstored, 0);
  t.equal((await count("host")).total, 2, "each once");
  let samples = 0;
  await reader.visitSamples(1, startMs - hourMs, startMs + 2 * hourMs, slices, () => ++samples > 0);
  t.equal(samples, 2);
  isFull = true;
  for (let project = 1; project <= 400; project++) {
    for (let index = 0; index < 100; index++) {
      const each = Object.fromEntries(
        singleDimensions.map((name) => [name, `${name}${index}`]),
      ) as JudgedFacts["values"];
      one.onJudged({ ...facts, projectId: project, values: each, atMs: world.nowMs });
    }
  }
  await t.rejects(one.flush(), /ENOSPC/);
  isFull = false;
  await one.flush();
  const rows = [...store.judged.getKeys({})].length;
  t.ok(rows > 12 && rows < 400 * 14, `the oldest of 400 projects were forgotten: ${rows} rows`);
});

t.test("samples are the same share of every kind of request, weighted by how many there were", async (t) => {
  const { world, thread, reader } = recording(t, 100);
  const [one, two] = [thread(), thread()];
  for (let index = 0; index < 3000; index++) {
    const each = { ...facts, atMs: startMs + index, path: `/reset/dQw4w9WgXcQ${index}`, band: "definite" as const };
    (index % 3 === 0 ? one : two).onJudged(index % 10 === 0 ? { ...each, subject: "session" } : each);
    if (index % 500 === 0) await one.flush();
  }
  world.nowMs += hourMs;
  await Promise.all([one.flush(), two.flush()]);
  const found: { atMs: number; weight: number; path: string }[] = [];
  await reader.visitSamples(1, startMs, startMs + hourMs, slices, (sample) => found.push(sample) > 0);
  t.equal(found.length, 100);
  t.equal(Math.round(found.reduce((sum, { weight }) => sum + weight, 0)), 2700, "sessions are not sampled");
  t.ok(found.every(({ path }) => path === "/reset/*"));
  t.strictSame(
    found.map(({ atMs }) => atMs),
    found.map(({ atMs }) => atMs).sort((one, other) => other - one),
  );
  t.ok(new Set(found.map(({ atMs }) => atMs % 3 === 0)).size === 2, "both threads have a share");
  const none = new JudgedRecords(
    { recorded: { judged: { write: () => t.fail("written") } } } as never,
    () => startMs,
    0,
  );
  none.onJudged({ ...facts, subject: "request" });
});

t.test("full rows of samples are not written again until samples are dropped", async (t) => {
  let written = 0;
  const write = async (rows: readonly JudgedRow[]) => {
    written += rows.filter(({ kind, writer }) => kind === "samples" && writer.at(-1) !== 255).length;
  };
  const one = new JudgedRecords({ recorded: { judged: { write } } } as never, () => startMs, 1000);
  const judge = async (count: number) => {
    for (let index = 0; index < count; index++) one.onJudged(facts);
    const before = written;
    await one.flush();
    return written - before;
  };
  t.strictSame([await judge(1000), await judge(1), await judge(60)], [20, 1, 2]);
  t.equal(await judge(190), 26, "a quarter more than are wanted: the greatest draws are dropped");
});

t.test("crawlers are counted with their paths, impostors apart", async (t) => {
  const { world, thread, reader } = recording(t);
  const one = thread();
  const google = { ...withValue("verified_bot", "Google"), verifiedBotCategory: "search" };
  for (let index = 0; index < 9; index++) {
    one.onJudged({ ...facts, ...google, values: { ...google.values, path: `/p${index % 6}` }, atMs: startMs + index });
  }
  const nobody = withValue("verified_bot", "");
  one.onJudged({ ...facts, ...nobody, impostorOf: "Google", impostorCategory: "ai", atMs: startMs + 99 });
  one.onJudged({ ...facts, ...nobody, impostorOf: "OpenAI", impostorCategory: "ai_crawler" });
  one.onJudged({ ...facts, ...nobody });
  await one.flush();
  world.nowMs += dayMs;
  one.onJudged({ ...facts, ...google, atMs: world.nowMs });
  await one.flush();
  const visits = (await reader.crawlers(1, span, slices))!;
  t.match(visits, [
    { operator: "Google", category: "search", verified: 10, impostors: 1, lastMs: world.nowMs },
    { operator: "OpenAI", category: "ai_crawler", verified: 0, impostors: 1 },
  ]);
  t.equal(visits[0]!.paths.get("/p0"), 2);
  t.strictSame([...visits[0]!.days.values()], [9, 1]);
});

t.test("addresses go with sessions, samples after a week, counts after --stats-days", async (t) => {
  const { store, world, thread, count } = recording(t);
  thread().onJudged(facts);
  const one = thread();
  one.onJudged(facts);
  await one.flush();
  const retention = { sessionsMax: 1e9, sessionMs: 3 * dayMs, blockMs: dayMs, trafficMs: 400 * dayMs };
  const kinds = () => [...store.judged.getKeys({})].length;
  const before = kinds();
  await sweep(store, retention, startMs + dayMs);
  t.equal(kinds(), before);
  await sweep(store, retention, startMs + 3 * dayMs + 3 * hourMs);
  t.equal(kinds(), before - 1);
  t.match([(await count("ip")).total, (await count("network")).total], [0, 1]);
  await sweep(store, retention, startMs + 8 * dayMs);
  t.ok(kinds() < before - 1, "samples");
  await sweep(store, retention, startMs + 401 * dayMs);
  t.equal(kinds(), 0);
  world.nowMs += 1;
});

t.test("hits of rules by minute are added over threads, and end with the second hour", async (t) => {
  const { store, world, thread, reader } = recording(t);
  const [one, two] = [thread(), thread()];
  const rules = [{ id: 5 }, { id: 6 }];
  one.countRules(1, rules, "session", startMs);
  two.countRules(1, rules.slice(0, 1), "request", startMs + 59_999);
  await one.flush();
  one.countRules(1, rules, "request", startMs + 1);
  world.nowMs = startMs + 60_000;
  one.countRules(1, rules.slice(1), "request", world.nowMs);
  await Promise.all([one.flush(), two.flush()]);
  const minutes = async (nowMs: number) => (await reader.ruleMinutes(1, nowMs, 60)).filter(({ hits }) => hits.size > 0);
  const found = await minutes(world.nowMs);
  t.strictSame(
    found.map(({ startMs, hits }) => [startMs, Object.fromEntries(hits)]),
    [
      [startMs, { 5: { sessions: 1, requests: 2 }, 6: { sessions: 1, requests: 1 } }],
      [startMs + 60_000, { 6: { sessions: 0, requests: 1 } }],
    ],
  );
  t.equal((await minutes(startMs + 59 * 60_000)).length, 2, "the whole hour back, over the hour's end");
  t.equal((await minutes(startMs + 61 * 60_000)).length, 0);
  const retention = { sessionsMax: 1e9, sessionMs: dayMs, blockMs: dayMs, trafficMs: 400 * dayMs };
  const rows = () => [...store.judged.getKeys({})].length;
  t.equal(rows(), 3);
  await sweep(store, retention, startMs + 4 * hourMs);
  t.equal(rows(), 0);
});
