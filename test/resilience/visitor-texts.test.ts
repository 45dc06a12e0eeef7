/** What visitors write into headers stays in memory only as far as bounds say, whatever a text was cut from. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import { boundedValue } from "../../src/ingest/frame.js";
import { VisitorIdentities } from "../../src/ingest/visitor-identities.js";
import { limits } from "../../src/limits.js";
import { subscriberNetwork } from "../../src/net/network.js";
import { ownPart, TextMemo } from "../../src/runtime/text-memo.js";

const MIB = 1024 * 1024;
const longBytes = 15_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of the heap that are held after `work` beyond those before. */
function heldBy(work: () => unknown): { readonly bytes: number; readonly result: unknown } {
  collect();
  const before = process.memoryUsage().heapUsed;
  const result = work();
  collect();
  return { bytes: process.memoryUsage().heapUsed - before, result };
}

/** A header as it comes: one flat text. */
const header = (index: number): string => Buffer.alloc(longBytes, `agent ${index} `).toString("latin1");

t.test("10,000 user agents of 15 KB cost what is looked at of them", async (t) => {
  const bots = { lookup: () => undefined, claim: () => undefined } as never;
  const identities = new VisitorIdentities(() => bots);
  const { bytes } = heldBy(() => {
    for (let index = 0; index < 10_000; index++) identities.peek("203.0.113.9", boundedValue(header(index)));
    return identities;
  });
  t.ok(bytes < 8 * MIB, `${Math.round(bytes / MIB)} MiB`);
});

t.test("values that are kept hold nothing of what they were cut from", async (t) => {
  const kept: string[] = [];
  const { bytes } = heldBy(() => {
    for (let index = 0; index < 1000; index++) {
      const text = header(index);
      kept.push(boundedValue(text), ownPart(text.slice(40, 90), text));
    }
  });
  t.ok(bytes < 2 * MIB, `${Math.round(bytes / 1024)} KiB for ${kept.length} values`);
  t.equal(kept[0]!.length, limits.contextValueMax);
});

t.test("a memory of texts is bounded in characters, and keeps no long one", async (t) => {
  const memo = new TextMemo<number>(1e6);
  const { bytes } = heldBy(() => {
    for (let index = 0; index < 100_000; index++) memo.set(`${index} ${"x".repeat(400)}`, index);
  });
  t.ok(bytes < 8 * MIB, `${Math.round(bytes / MIB)} MiB`);
  memo.set("y".repeat(limits.contextValueMax + 1), 1);
  t.equal(memo.get("y".repeat(limits.contextValueMax + 1)), undefined);
  t.equal(memo.get(`99999 ${"x".repeat(400)}`), 99_999, "the latest is remembered");
});

t.test("a subscriber's network", async (t) => {
  for (const [address, network] of [
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8::/64"],
    ["::1", "::/64"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["64:ff9b::cb00:7109", "64:ff9b::cb00:7109"],
    ["", ""],
  ] as const) {
    t.equal(subscriberNetwork(address), network, address);
  }
});
