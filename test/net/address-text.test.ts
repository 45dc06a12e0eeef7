/** Addresses are read strictly and spelled one way; checked against node:net and the URL parser. */
import assert from "node:assert/strict";
import { isIP } from "node:net";
import fc from "fast-check";
import t from "tap";
import { canonicalAddress, parseV4, parseV6, reverseName } from "../../src/net/address-text.js";
import { holds } from "../support/property.js";

/** Text that is an address, or nearly one. */
const nearlyAnAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ unit: fc.constantFrom(..."0123456789abcfF:.:./%[] "), maxLength: 42 }),
  fc.array(fc.constantFrom("0", "ffff", "1", "00a0", "", "1.2.3.4", "10000"), { maxLength: 9 }).map((p) => p.join(":")),
  fc.tuple(fc.ipV6(), fc.nat(40), fc.constantFrom("", ":", "0", "g")).map(([ip, at, put]) => ip.slice(0, at) + put),
);

/** The spelling of the WHATWG URL parser, which follows RFC 5952 too (ipaddr.js takes `::1.2.3.4` for a mapped address). */
function oracle(text: string): string {
  if (isIP(text) === 4) return text;
  const spelled = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(spelled);
  if (mapped === null) return spelled;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

t.test("what is an address is what node:net says is one, but for zones", async (t) => {
  holds(
    t,
    fc.property(nearlyAnAddress, (text) => {
      const expected = text.includes("%") ? 0 : isIP(text);
      assert.equal(parseV4(text) >= 0, expected === 4);
      assert.equal(parseV6(text, new Uint16Array(8)), expected === 6);
    }),
    { numRuns: 3000 },
  );
});

t.test("the canonical spelling is that of RFC 5952, with IPv4-mapped addresses as IPv4", async (t) => {
  holds(
    t,
    fc.property(nearlyAnAddress, (text) => {
      assert.equal(canonicalAddress(text), isIP(text) === 0 || text.includes("%") ? "" : oracle(text));
    }),
    { numRuns: 3000 },
  );
});

t.test("addresses as uWebSockets.js prints them become canonical", async (t) => {
  t.equal(canonicalAddress("0000:0000:0000:0000:0000:ffff:7f00:0001"), "127.0.0.1");
  t.equal(canonicalAddress("0000:0000:0000:0000:0000:0000:0000:0001"), "::1");
  t.equal(canonicalAddress("2001:0db8:0000:0000:0001:0000:0000:0001"), "2001:db8::1:0:0:1");
  t.equal(canonicalAddress("2001:DB8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1", "one zero group is not shortened");
  t.equal(canonicalAddress("203.0.113.9"), "203.0.113.9");
});

t.test("text that is no address has no canonical spelling", async (t) => {
  for (const text of [
    "",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "256.1.1.1",
    "1.2.3.4 ",
    "::1%lo",
    ":::",
    "1::2::3",
    "g::",
  ]) {
    t.equal(canonicalAddress(text), "", JSON.stringify(text));
    t.equal(reverseName(text), "", JSON.stringify(text));
  }
});

t.test("the PTR name is the octets or nibbles backwards", async (t) => {
  t.equal(reverseName("192.0.2.1"), "1.2.0.192.in-addr.arpa");
  t.equal(reverseName("::ffff:192.0.2.1"), "1.2.0.192.in-addr.arpa");
  t.equal(
    reverseName("2001:db8::567:89ab"),
    "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
  );
});
