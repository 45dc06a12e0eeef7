/** An address has one network of each size, however it is spelled; checked against ipaddr.js. */
import assert from "node:assert/strict";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import t from "tap";
import { canonicalAddress } from "../../src/net/address-text.js";
import { networkOf, operatorNetwork, subscriberNetwork } from "../../src/net/network.js";
import { holds } from "../support/property.js";

t.test("the network holds the address, has no host bits and is that of each spelling", async (t) => {
  holds(
    t,
    fc.property(
      fc.oneof(fc.ipV4(), fc.ipV6()),
      fc.integer({ min: 1, max: 32 }),
      fc.integer({ min: 1, max: 128 }),
      (text, v4, v6) => {
        const network = networkOf(text, v4, v6);
        const address = ipaddr.process(canonicalAddress(text));
        const [first, bits] = ipaddr.parseCIDR(network);
        assert.equal(bits, address.kind() === "ipv4" ? v4 : v6);
        assert.ok(address.match(ipaddr.parseCIDR(network)));
        const lowest = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
        assert.equal(lowest.networkAddressFromCIDR(network).toString(), first.toString());
        assert.equal(networkOf(address.toNormalizedString(), v4, v6), network);
        assert.equal(`${canonicalAddress(network.split("/")[0]!)}/${bits}`, network, "canonical text");
      },
    ),
    { numRuns: 2000 },
  );
});

t.test("spellings that six places once cut differently", async (t) => {
  for (const [one, other] of [
    ["2001:db8::1", "2001:db8:0:1::1"],
    ["2400::1", "2400:0:0:ffff::1"],
    ["::ffff:203.0.113.9", "203.0.113.77"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::2"],
  ] as const)
    t.equal(operatorNetwork(one), operatorNetwork(other), `${one}, ${other}`);
  t.equal(subscriberNetwork("2001:db8::1"), subscriberNetwork("2001:0db8:0:0:1::"));
  t.equal(operatorNetwork("nobody"), "");
});
