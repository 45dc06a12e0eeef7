/** Which of many allowed verdicts are counted, and how far what they tell is from the truth. Random numbers are seeded. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { WeightedSample } from "../../src/contract/traffic/request-sample.js";
import type { TrafficDimension } from "../../src/contract/traffic/traffic.js";
import type { Verdict } from "../../src/contract/verdicts/verdict.js";
import { limits } from "../../src/limits.js";
import { CountedShare } from "../../src/recording/counted-share.js";
import { JudgedRecords } from "../../src/recording/judged-records.js";
import { type Judged, JudgedTraffic } from "../../src/recording/judged-traffic.js";
import { TrafficReader } from "../../src/recording/traffic-reader.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";

const max = limits.trafficCountedMax;
const hourMs = 3_600_000;

t.test("all are counted at first, then one of 2, of 4, of 8, and none is lost", async (t) => {
  const share = new CountedShare(seededRandom(1));
  const counted: number[] = [];
  const byPlace = new Array<number>(8).fill(0);
  let sum = 0;
  const parts = 24;
  for (let part = 0; part < parts; part++) {
    counted[part] = 0;
    for (let n = 0; n < max; n++) {
      const weight = share.weightOf(1, "session", "likely_human", 0);
      sum += weight;
      byPlace[n % 8]! += weight;
      if (weight > 0) counted[part]!++;
    }
  }
  t.equal(counted[0], max, "one by one");
  for (let part = 1; part < parts; part++) {
    const every = Math.min(limits.trafficEveryMax, 2 ** (1 + Math.floor(Math.log2(part))));
    const one = max / counted[part]!;
    t.ok(Math.abs(one / every - 1) < 0.06, `one of ${every}: ${one}`);
  }
  t.ok(parts * max - sum < 2 * limits.trafficEveryMax, `${parts * max - sum} of ${parts * max} wait for the next one`);
  for (const [place, weight] of byPlace.entries()) {
    const share = weight / ((parts / 8) * max);
    t.ok(Math.abs(share - 1) < 0.04, `of each eighth one, ${place}: ${share} of the truth`);
  }
});

t.test("each project, subject, band and hour is counted one by one at first", async (t) => {
  const share = new CountedShare(seededRandom(2));
  type Kind = Parameters<CountedShare["weightOf"]>;
  const countedOf = (...kind: Kind) => {
    let counted = 0;
    for (let n = 0; n < 2 * max; n++) if (share.weightOf(...kind) > 0) counted++;
    return counted;
  };
  const first = countedOf(1, "session", "likely_human", 0);
  t.ok(first > max && first < 2 * max);
  t.ok(countedOf(1, "session", "likely_human", 0) < max, "goes on");
  const others: Kind[] = [
    [2, "session", "likely_human", 0],
    [1, "request", "likely_human", 0],
    [1, "session", "likely_automated", 0],
    [1, "session", "likely_human", hourMs],
  ];
  for (const other of others) t.ok(countedOf(...other) >= max, String(other));
  const mixed = new CountedShare(seededRandom(3));
  for (let n = 0; n < 2 * max; n++) mixed.weightOf(n % 2, "request", n % 3 === 0 ? "definite" : "likely_human", 0);
  t.equal(mixed.weightOf(5, "request", "definite", 0), 1, "kinds that take turns are apart");
});

const human: Verdict = { verdict: "likely_human", score: 80, action: "allow", detection_ids: [], reason: "" };

t.test(
  "counts are within the error that is told, whatever rhythm the traffic has; what was stopped or proved is exact",
  async (t) => {
    const store = openStore(t.testdir());
    t.teardown(() => store.close());
    store.projects.putSync(1, { id: 1 } as never);
    const nowMs = Date.UTC(2026, 10, 26, 12);
    const random = Math.random;
    Math.random = seededRandom(4);
    t.teardown(() => {
      Math.random = random;
    });
    const traffic = new JudgedTraffic({
      addresses: { networkOf: () => ({ country: undefined, asn: undefined, asName: undefined }) },
      declaredBotOf: () => undefined,
      claimOf: () => undefined,
      ipStorage: "full",
      onFailure: (error) => t.error(error),
    });
    const records = new JudgedRecords(store, () => nowMs, 2000);
    traffic.observe(records);
    const paths = ["/even", "/odd/a", "/even", "/odd/b", "/even", "/odd/a", "/even", "/odd/c"];
    const truth = new Map<string, number>();
    const all = 24 * max;
    let blocked = 0;
    let bots = 0;
    for (let n = 0; n < all; n++) {
      // Every second one is of the same path, every hundredth is blocked, every thousandth is a verified bot.
      const path = paths[n % 8]!;
      const ip = n % 10 === 3 ? "198.51.100.7" : `203.0.${(n * 7) % 256}.${(n * 11) % 250}`;
      const isBlocked = n % 100 === 5;
      const isProved = n % 1000 === 9;
      if (isBlocked) blocked++;
      if (isProved) bots++;
      for (const value of [path, ip]) truth.set(value, (truth.get(value) ?? 0) + 1);
      const judged: Judged = {
        projectId: 1,
        subject: "request",
        sessionToken: null,
        state: null,
        request: undefined,
        proved: isProved ? { name: "Google", category: "search" } : null,
        agent: () => undefined,
        context: { method: "GET", path, host: "shop.example", ip, userAgent: "Mozilla/5.0" },
        verdict: isBlocked ? { ...human, verdict: "definite", action: "block" } : human,
        rule: null,
        isLoggedIn: false,
        atMs: nowMs,
      };
      const { projectId, subject, verdict, proved, atMs } = judged;
      const weight = traffic.weightOf(projectId, subject, verdict, proved, atMs);
      if (weight > 0) traffic.record(judged, weight);
    }
    traffic.tell();
    await records.flush();
    const reader = new TrafficReader(store, 2000);
    const slices = new LongWork().begin(() => false);
    const span = { fromHour: hourOf(nowMs), toHour: hourOf(nowMs) + 1 };
    const every = { subject: null, band: null, action: null } as const;
    const counts = async (by: TrafficDimension, of: object = {}) =>
      (await reader.counts(1, by, span, { ...every, ...of }, 200, slices))!;

    for (const dimension of ["path", "ip"] as const) {
      const { values, total, error } = await counts(dimension);
      t.ok(all - total < 2 * limits.trafficEveryMax, `${total} of ${all}`);
      t.ok(error > 0 && error <= 0.01, `an error of ${error}`);
      for (const { value, count } of values)
        if (Math.abs(count - truth.get(value)!) > error * total) t.fail(`${value}: ${count}, not ${truth.get(value)}`);
    }
    const stopped = await counts("path", { action: "block" });
    t.match(stopped, { total: blocked, error: 0 });
    const verified = await counts("verified_bot");
    t.equal(verified.values.find(({ value }) => value === "Google")?.count, bots);

    const samples: WeightedSample[] = [];
    await reader.visitSamples(1, nowMs, nowMs + hourMs, slices, (sample) => samples.push(sample) > 0);
    t.ok(samples.length >= 1500);
    const weight = samples.reduce((sum, sample) => sum + sample.weight, 0);
    t.ok(Math.abs(weight / all - 1) < 0.01, `samples stand for ${weight}`);
    const ofBlocked = samples.filter(({ action }) => action === "block").length / samples.length;
    t.ok(
      ofBlocked > 0.004 && ofBlocked < 0.019,
      `${ofBlocked} of the samples are blocked, one of a hundred requests is`,
    );
  },
);
