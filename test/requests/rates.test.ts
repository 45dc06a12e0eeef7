/** Requests of an address in the last 60 s: exact by the millisecond, bounded, and one count for all threads. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import t from "tap";
import { halfSipHash } from "../../src/contract/values/hashes.js";
import { newRates, RequestRates, ratesSize } from "../../src/requests/rates.js";
import { holds } from "../support/property.js";

const start = Date.UTC(2026, 10, 22);
const addressOf = (n: number) => `${(n >>> 24) & 255}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
const small = { shards: 4, addresses: 64, chains: 64, entries: 1024 };

t.test("a request counts for 60 s, this one included, by project and address", async (t) => {
  const rates = new RequestRates(newRates());
  t.equal(rates.count(1, "192.0.2.1", start), 1);
  t.equal(rates.count(1, "192.0.2.1", start + 1), 2);
  t.equal(rates.count(2, "192.0.2.1", start + 2), 1, "another project");
  t.equal(rates.count(1, "192.0.2.2", start + 2), 1, "another address");
  t.equal(rates.count(1, "192.0.2.1", start + 59_999), 3);
  t.equal(rates.count(1, "192.0.2.1", start + 60_000), 3, "the first is 60 s old");
  t.equal(rates.count(1, "192.0.2.1", start + 60_001), 3, "the second, too");
  t.equal(rates.count(1, "192.0.2.1", start + 200_000), 1);
});

t.test("IPv6 counts by its /64, IPv4-mapped as the IPv4 it holds, what is no address not at all", async (t) => {
  const rates = new RequestRates(newRates());
  t.equal(rates.count(1, "2001:db8:1:2::1", start), 1);
  t.equal(rates.count(1, "2001:db8:1:2:ffff::9", start), 2);
  t.equal(rates.count(1, "2001:db8:1:3::1", start), 1);
  t.equal(rates.count(1, "192.0.2.1", start), 1);
  t.equal(rates.count(1, "::ffff:192.0.2.1", start), 2);
  t.equal(rates.count(1, "::192.0.2.1", start), 1);
  for (const text of ["", "x", "192.0.2.256", "192.0.2.1, 192.0.2.2"]) t.equal(rates.count(1, text, start), undefined);
});

t.test("any sequence of requests and times is counted as a list of all of them would be", async (t) => {
  const request = fc.record({ waitMs: fc.oneof(fc.nat(10), fc.nat(30_000)), address: fc.nat(5), project: fc.nat(2) });
  holds(
    t,
    fc.property(fc.array(request, { maxLength: 120 }), (requests) => {
      const rates = new RequestRates(newRates(small));
      const seen: { key: string; at: number }[] = [];
      // Near where the clock of the memory begins anew, every 50 days.
      let now = Math.ceil(start / 2 ** 32) * 2 ** 32 - 500_000;
      return requests.every(({ waitMs, address, project }) => {
        now += waitMs;
        const key = `${project} ${address}`;
        seen.push({ key, at: now });
        const expected = seen.filter((each) => each.key === key && now - each.at < 60_000).length;
        return rates.count(project, addressOf(address), now) === expected;
      });
    }),
    { numRuns: 300 },
  );
});

t.test("an address with thousands of requests lacks those of 10 ms at most, at the far end", async (t) => {
  const rates = new RequestRates(newRates());
  const [perStep, stepMs] = [5, 3];
  const times: number[] = [];
  let [worst, above] = [0, 0];
  for (let ms = 0; ms < 70_000; ms += stepMs) {
    let counted = 0;
    for (let each = 0; each < perStep; each++) {
      times.push(start + ms);
      counted = rates.count(1, "192.0.2.1", start + ms) ?? 0;
    }
    const lacking = exactCount(times, start + ms) - counted;
    worst = Math.max(worst, lacking);
    if (lacking < 0) above++;
  }
  t.equal(above, 0, "never above");
  t.ok(worst > 0, "some shared an entry");
  t.ok(worst <= perStep * Math.ceil(10 / stepMs), `${worst} are those of 10 ms`);
});

/** Of sorted times, those of the 60 s before `now`. */
function exactCount(times: readonly number[], now: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= now - 60_000) low = middle + 1;
    else high = middle;
  }
  return times.length - low;
}

t.test("100,000 addresses are counted exactly, a million right in 95 of 100 cases and more", async (t) => {
  const rates = new RequestRates(newRates());
  const wrongOf = (addresses: number, rounds: number, from: number): number => {
    let wrong = 0;
    for (let round = 1; round <= rounds; round++) {
      for (let n = 0; n < addresses; n++) {
        if (rates.count(1, addressOf(n * 1009), from + round * 1000) !== round) wrong++;
      }
    }
    return wrong;
  };
  t.equal(wrongOf(100_000, 3, start), 0);
  const wrong = wrongOf(1_000_000, 2, start + 100_000);
  t.ok(wrong < 0.05 * 2_000_000, `${wrong} of 2,000,000`);
});

t.test("what does not fit makes counts lower, never higher, and leaves no trace", async (t) => {
  const rates = new RequestRates(newRates(small));
  let above = 0;
  for (let round = 1; round <= 5; round++) {
    for (let n = 0; n < 5000; n++) if (rates.count(1, addressOf(n), start + round)! > round) above++;
  }
  t.equal(above, 0);
  for (let n = 0; n < 5000; n++) rates.count(1, "192.0.2.1", start + 10);
  t.ok(rates.count(1, "192.0.2.1", start + 11)! >= 5000, "one address alone needs few entries");
  for (let n = 0; n < 100; n++) t.equal(rates.count(1, addressOf(n), start + 70_011), 1);
});

t.test("a clock that is set back, or far ahead, is no reason to count for ever", async (t) => {
  const rates = new RequestRates(newRates());
  rates.count(1, "192.0.2.1", start);
  t.equal(rates.count(1, "192.0.2.1", start - 500), 2, "threads may differ a little");
  t.equal(rates.count(1, "192.0.2.1", start - 3_600_000), 1, "an hour back: begun anew");
  t.equal(rates.count(1, "192.0.2.1", start + 30 * 86_400_000), 1);
});

t.test("threads count together", async (t) => {
  const memory = newRates(ratesSize(3));
  const url = new URL("../../src/requests/rates.js", import.meta.url);
  const source = `
    import("${url.href}").then(({ RequestRates }) => {
      const { workerData, parentPort } = require("node:worker_threads");
      const rates = new RequestRates(workerData.memory);
      const counts = [];
      for (let n = 0; n < 20000; n++) counts.push(rates.count(1, "10.0.0." + (n % 10), workerData.now));
      parentPort.postMessage(counts);
    });`;
  const workers = [1, 2, 3].map(() => new Worker(source, { eval: true, workerData: { memory, now: start } }));
  const answers = (await Promise.all(workers.map((worker) => once(worker, "message")))).flatMap(([counts]) => counts);
  await Promise.all(workers.map((worker) => worker.terminate()));
  t.equal(answers.length, 60_000);
  const counted = answers.filter((each) => each !== undefined);
  t.ok(counted.length > 50_000, "few threads found the memory taken");
  const rates = new RequestRates(memory);
  const totals = Array.from({ length: 10 }, (_, n) => rates.count(1, `10.0.0.${n}`, start)! - 1);
  t.equal(
    totals.reduce((sum, each) => sum + each, 0),
    counted.length,
    "what was answered was counted, and nothing else",
  );
  const times = new Map<number, number>();
  for (const count of counted) times.set(count, (times.get(count) ?? 0) + 1);
  const few = Math.min(...totals);
  const odd = [...times].filter(([count, each]) => (count <= few ? each !== 10 : each > 10));
  t.same(odd, [], "each count was told once an address");
});

/** A memory of one shard whose lock a thread took at `heldMs` and did not give back. */
function heldBy(heldMs: number): SharedArrayBuffer {
  const memory = newRates({ ...small, shards: 1 });
  new RequestRates(memory).count(1, "192.0.2.1", heldMs);
  new Int32Array(memory)[8] = Math.floor(heldMs % 0x1_0000_0000) | 0;
  return memory;
}

t.test("a lock that a thread holds is not waited for", async (t) => {
  const { wait } = Atomics;
  let waits = 0;
  Atomics.wait = ((...given: Parameters<typeof wait>) => {
    waits++;
    return wait(...given);
  }) as typeof wait;
  t.teardown(() => {
    Atomics.wait = wait;
  });
  t.equal(new RequestRates(heldBy(start)).count(1, "192.0.2.1", start + 999), undefined);
  t.equal(waits, 0, "the thread did not sleep");
});

t.test("the lock of a thread that died is taken over, and its shard begins anew", async (t) => {
  const memory = heldBy(start);
  const rates = new RequestRates(memory);
  t.equal(rates.count(1, "192.0.2.1", start + 1000), 1);
  t.equal(rates.count(1, "192.0.2.1", start + 1001), 2);
});

t.test("a shard that was broken by a thread taken for dead begins anew instead of going round for ever", async (t) => {
  const memory = newRates({ ...small, shards: 1 });
  const rates = new RequestRates(memory);
  rates.count(1, "192.0.2.1", start);
  const nextsAt = 8 + 8 + small.chains + 3 * small.addresses;
  const words = new Int32Array(memory);
  // Each chain leads to the first address, which leads to itself.
  words.fill(1, 16, 16 + small.chains);
  words[nextsAt] = 1;
  t.equal(rates.count(1, "192.0.2.2", start + 1), 1);
  t.equal(rates.count(1, "192.0.2.2", start + 2), 2);
});

t.test("the hash has a random key in each process: nobody can choose addresses that collide", async (t) => {
  const [one, other] = [new Int32Array(newRates(small)), new Int32Array(newRates(small))];
  t.not(one.subarray(0, 2).join(), other.subarray(0, 2).join());
});

t.test("the hash is HalfSipHash-2-4: the authors' vector of a message of 16 bytes", async (t) => {
  const bytes = Buffer.from(Array.from({ length: 16 }, (_, index) => index));
  const word = (index: number) => bytes.readInt32LE(4 * index);
  const [low, high] = halfSipHash([word(0), word(1)], word(0), word(1), word(2), word(3));
  const out = Buffer.alloc(8);
  out.writeInt32LE(low, 0);
  out.writeInt32LE(high, 4);
  t.equal(out.toString("hex"), "7336aad25f7bf3b5");
});
