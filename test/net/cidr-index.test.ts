/** The index agrees with trying every range one after another. */
import assert from "node:assert/strict";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import t from "tap";
import { type Cidr, isCidrFault, parseCidr } from "../../src/net/cidr.js";
import { createCidrIndex } from "../../src/net/cidr-index.js";
import { holds } from "../support/property.js";

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (isCidrFault(parsed)) throw new Error(`${text} ${parsed.reason}`);
  return parsed;
}

/** Ranges of a small corner of the address space, so that random ones nest, repeat and touch. */
const rangeV4 = fc
  .tuple(fc.constantFrom(0, 10, 203, 255), fc.nat(3), fc.nat(255), fc.integer({ min: 0, max: 32 }))
  .map(([a, b, d, prefix]) => {
    const network = ipaddr.IPv4.networkAddressFromCIDR(`${a}.${b}.255.${d}/${prefix}`);
    return `${network.toString()}/${prefix}`;
  });
const rangeV6 = fc
  .tuple(fc.constantFrom("::", "2001:db8::", "ffff:ffff:ffff:ffff::"), fc.nat(0xffff), fc.integer({ min: 0, max: 128 }))
  .map(([head, tail, prefix]) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${head}${tail.toString(16)}/${prefix}`);
    return `${network.toString()}/${prefix}`;
  });
const addressV4 = fc
  .tuple(fc.constantFrom(0, 9, 10, 203, 255), fc.nat(4), fc.constantFrom(0, 254, 255), fc.nat(255))
  .map((parts) => parts.join("."));
const addressV6 = fc
  .tuple(fc.constantFrom("::", "2001:db8::", "2001:db9::", "ffff:ffff:ffff:ffff::"), fc.nat(0xffff))
  .map(([head, tail]) => `${head}${tail.toString(16)}`);

/** Indexes of the ranges around an address, longest prefix first, by trying each. */
function naive(ranges: readonly string[], address: string): number[] {
  const ip = ipaddr.process(address);
  return ranges
    .map((text, index) => ({ index, range: ipaddr.parseCIDR(text) }))
    .filter(({ range }) => range[0].kind() === ip.kind() && ip.match(range))
    .sort((a, b) => b.range[1] - a.range[1] || a.index - b.index)
    .map(({ index }) => index);
}

t.test("any address finds the ranges that hold it, longest prefix first, then in the order given", async (t) => {
  holds(
    t,
    fc.property(
      fc.array(fc.oneof(rangeV4, rangeV6), { maxLength: 40 }),
      fc.array(
        fc.oneof(
          addressV4,
          addressV6,
          addressV4.map((ip) => `::ffff:${ip}`),
        ),
        { maxLength: 40 },
      ),
      (ranges, addresses) => {
        const index = createCidrIndex([...ranges.keys()], (at) => cidr(ranges[at]!));
        for (const address of addresses) {
          const expected = naive(ranges, address);
          assert.deepEqual(index.all(address), expected);
          assert.equal(index.lookup(address), expected[0]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

t.test("the edges of the address space are inside ranges that reach them", async (t) => {
  const ranges = ["0.0.0.0/8", "255.255.255.0/24", "255.255.255.255/32", "::/16", "ffff::/16", "::1/128"];
  const index = createCidrIndex(ranges, cidr);
  t.equal(index.lookup("0.0.0.0"), "0.0.0.0/8");
  t.strictSame(index.all("255.255.255.255"), ["255.255.255.255/32", "255.255.255.0/24"]);
  t.equal(index.lookup("255.255.254.255"), undefined);
  t.strictSame(index.all("::1"), ["::1/128", "::/16"]);
  t.equal(index.lookup("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), "ffff::/16");
});

t.test("what is no address is in no range, and an empty index holds nothing", async (t) => {
  const everything = createCidrIndex(["0.0.0.0/0", "::/0"], cidr);
  for (const text of ["", "x", "1.2.3", "1.2.3.4/32", "1.2.3.4:80", "[::1]", "::1%eth0"]) {
    t.strictSame(everything.all(text), [], text);
  }
  t.equal(createCidrIndex([], cidr).lookup("1.2.3.4"), undefined);
  t.equal(createCidrIndex([], cidr).lookup("::1"), undefined);
});

t.test("ranges come out in canonical spelling", async (t) => {
  t.equal(cidr("2001:0DB8:0::/32").text, "2001:db8::/32");
  t.equal(cidr("::ffff:192.0.2.0/120").text, "192.0.2.0/24");
  const bare = parseCidr("192.0.2.1", true);
  t.equal("text" in bare && bare.text, "192.0.2.1/32");
});

t.test("a fault of a range says what was meant", async (t) => {
  const reason = (text: string) => {
    const parsed = parseCidr(text);
    return isCidrFault(parsed) ? parsed.reason : "none";
  };
  t.match(reason("192.0.2.1/24"), /host bits set: the range is 192\.0\.2\.0\/24/);
  t.match(reason("2001:db8::1/32"), /host bits set: the range is 2001:db8::\/32/);
  t.match(reason("192.0.2.1"), /write 192\.0\.2\.1\/32/);
  t.match(reason("2001:db8::"), /write 2001:db8::\/128/);
  for (const text of ["192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/08", "::/129", "192.0.2.0/24/24"]) {
    t.match(reason(text), /prefix length/, text);
  }
  t.match(reason("::ffff:0.0.0.0/90"), /wider than IPv4/);
  for (const text of ["", "/8", "google.com/8", "192.0.2/24"]) t.match(reason(text), /is not an address range/, text);
});
