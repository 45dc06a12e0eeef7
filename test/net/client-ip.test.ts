/** The visitor's address can't be forged by a header that no trusted proxy wrote. */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { clientIp, parseTrustedProxies, type TrustedProxies } from "../../src/net/client-ip.js";
import { holds } from "../support/property.js";

function trusted(list: string): TrustedProxies {
  const parsed = parseTrustedProxies(list);
  if ("faults" in parsed) throw new Error(parsed.faults.join("; "));
  return parsed;
}

const proxies = trusted("10.0.0.0/8, 2001:db8:aa::/48,127.0.0.1");

t.test("the socket's address counts when it is no trusted proxy, whatever the header says", async (t) => {
  t.equal(clientIp("203.0.113.5", "66.249.64.1", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", "66.249.64.1", trusted("")), "10.0.0.1");
  t.equal(clientIp("10.0.0.1", "", proxies), "10.0.0.1");
});

t.test("behind a trusted proxy the rightmost address that is no proxy counts", async (t) => {
  t.equal(clientIp("10.0.0.1", "203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", "66.249.64.1, 203.0.113.5", proxies), "203.0.113.5", "the left one may be forged");
  t.equal(clientIp("10.0.0.1", "66.249.64.1, 203.0.113.5, 10.9.9.9", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", "66.249.64.1,203.0.113.5,10.9.9.9,2001:db8:aa::7", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", "10.0.0.3, 10.0.0.2", proxies), "10.0.0.3", "the leftmost when all are proxies");
});

t.test("an entry that is no address ends the walk at the hop that passed it on", async (t) => {
  t.equal(clientIp("10.0.0.1", "203.0.113.5, unknown", proxies), "10.0.0.1");
  t.equal(clientIp("10.0.0.1", "203.0.113.5, unknown, 10.0.0.2", proxies), "10.0.0.2");
  for (const header of [",", "203.0.113.5,", " ", "_hidden", "1.2.3.4:999999", "[::1", "::1]:80", "1.2.3.4, 5"]) {
    t.equal(clientIp("10.0.0.1", header, proxies), "10.0.0.1", JSON.stringify(header));
  }
  t.equal(clientIp("10.0.0.1", ",203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", ",10.0.0.2", proxies), "10.0.0.2");
});

t.test("ports and brackets are taken off, and addresses come out canonical", async (t) => {
  t.equal(clientIp("10.0.0.1", "203.0.113.5:4711", proxies), "203.0.113.5");
  t.equal(clientIp("10.0.0.1", "[2001:DB8::0001]:443", proxies), "2001:db8::1");
  t.equal(clientIp("10.0.0.1", "[2001:db8::1]", proxies), "2001:db8::1");
  t.equal(clientIp("10.0.0.1", "2001:db8:0:0::1", proxies), "2001:db8::1");
  t.equal(clientIp("10.0.0.1", "::ffff:203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("0000:0000:0000:0000:0000:ffff:0a00:0001", "203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("0000:0000:0000:0000:0000:ffff:7f00:0001", "203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("2001:0db8:00aa:0000:0000:0000:0000:0001", "203.0.113.5", proxies), "203.0.113.5");
  t.equal(clientIp("203.0.113.5:4711", "", proxies), "203.0.113.5", "that of the last hop, which a proxy wrote");
  t.equal(clientIp("[2001:db8::1]:80", "", proxies), "2001:db8::1");
  t.equal(clientIp("", "203.0.113.5", proxies), "", "a socket without an address has none");
});

t.test("whatever a visitor puts into the header, a proxy's own entry decides", async (t) => {
  holds(
    t,
    fc.property(fc.string({ maxLength: 200 }), fc.ipV4(), (forged, visitor) => {
      fc.pre(!proxies.has(visitor));
      assert.equal(clientIp("10.0.0.1", `${forged}, ${visitor}`, proxies), visitor);
    }),
  );
});

t.test("a list names every mistake, and refuses to trust everybody", async (t) => {
  const parsed = parseTrustedProxies("10.0.0.0/8,0.0.0.0/0, ::/0,::ffff:0:0/96,nonsense,10.0.0.1/8");
  const faults = "faults" in parsed ? parsed.faults : [];
  t.equal(faults.length, 5);
  t.match(faults[0], '"0.0.0.0/0" trusts every address');
  t.match(faults[1], '"::/0" trusts every address');
  t.match(faults[2], '"::ffff:0:0/96" trusts every address');
  t.match(faults[3], '"nonsense" is not an address range');
  t.match(faults[4], '"10.0.0.1/8" has host bits set: the range is 10.0.0.0/8');
  t.ok("faults" in parseTrustedProxies(Array.from({ length: 1001 }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join(",")));
});

t.test("a list is read with spaces, bare addresses and both families", async (t) => {
  t.strictSame(proxies.ranges, ["10.0.0.0/8", "2001:db8:aa::/48", "127.0.0.1/32"]);
  t.strictSame(trusted(" , ").ranges, []);
});
