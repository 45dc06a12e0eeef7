/** Slots of keys as servers compute them, maps of `CLUSTER SLOTS`, redirections. */
import t from "tap";
import { keySlot, parseClusterSlots, parseRedirect, splitAddress } from "../../src/cluster/slots.js";

t.test("slots are those of redis-server", async (t) => {
  // Each from `CLUSTER KEYSLOT`; the test of the real cluster compares others.
  for (const [key, slot] of [
    ["123456789", 12739],
    ["foo", 12182],
    ["{user1000}.following", 3443],
    ["{user1000}.followers", 3443],
    ["foo{}{bar}", 8363],
    ["foo{{bar}}zap", 4015],
    ["foo{bar}{zap}", 5061],
    ["", 0],
    ["schlüssel", 7677],
  ] as const) {
    t.equal(keySlot(key), slot, key);
    t.equal(keySlot(Buffer.from(key)), slot, `${key}, as bytes`);
  }
});

t.test("a map tells masters and replicas; who does not know its own name is where it was asked", async (t) => {
  const node = (host: string | null, port: number) => [
    host === null ? null : Buffer.from(host),
    port,
    Buffer.from("id"),
  ];
  const map = parseClusterSlots(
    [
      [0, 99, node("10.0.0.1", 7000), node("", 7001), node("?", 7002)],
      [100, 200, node(null, 7003)],
      [300, 300, node("10.0.0.1", 7000), node("", 7001)],
    ],
    "seed:6379",
  )!;
  t.same(map.shard(99), { master: "10.0.0.1:7000", replicas: ["seed:7001"] });
  t.same(map.shard(200), { master: "seed:7003", replicas: [] });
  t.equal(map.shard(250), undefined);
  t.equal(map.shards.length, 2);
  t.equal(map.uncovered, 16_384 - 202);
  map.move(99, "seed:7003");
  t.equal(map.shard(99), map.shard(200));
  map.move(98, "new:1");
  t.same(map.shard(98), { master: "new:1", replicas: [] });
});

t.test("nodes at ports that do not exist are left out", async (t) => {
  const node = (port: number) => [Buffer.from("10.0.0.1"), port];
  const rows = [
    [0, 9, node(0)],
    [10, 19, node(65_536)],
    [20, 29, node(65_535), node(0)],
  ];
  const map = parseClusterSlots(rows, "seed:1")!;
  t.same([map.shard(5), map.shard(15)], [undefined, undefined]);
  t.same(map.shard(25), { master: "10.0.0.1:65535", replicas: [] });
});

t.test("what is no map is none", async (t) => {
  for (const reply of [null, "OK", [1], [[0, 16_384, []]], [[5, 4, []]], [["0", 1, []]]]) {
    t.equal(parseClusterSlots(reply, "seed:1"), undefined, JSON.stringify(reply));
  }
});

t.test("redirections name slot and node", async (t) => {
  t.same(parseRedirect("MOVED 3999 127.0.0.1:6381", "a:1"), { slot: 3999, address: "127.0.0.1:6381" });
  t.same(parseRedirect("ASK 1 :6381", "asked:1"), { slot: 1, address: "asked:6381" });
  t.same(parseRedirect("MOVED 1 ::1:6381", "a:1"), { slot: 1, address: "::1:6381" });
  t.same(splitAddress("::1:6381"), { host: "::1", port: 6381 });
  const ports = ["MOVED 1 127.0.0.1:0", "ASK 1 127.0.0.1:65536"];
  for (const message of ["MOVED", "MOVED x 127.0.0.1:1", "MOVED 1 nowhere", "MOVED 16384 127.0.0.1:1", ...ports])
    t.equal(parseRedirect(message, "a:1"), undefined, message);
});
