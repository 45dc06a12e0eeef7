/** Holds the one spelling of a host. */
import t from "tap";
import { canonicalHost } from "../../../src/contract/values/host.js";

t.test("a host has one spelling", async (t) => {
  const cases: readonly (readonly [host: string, canonical: string])[] = [
    ["shop.example", "shop.example"],
    ["SHOP.Example", "shop.example"],
    ["shop.example.", "shop.example"],
    ["shop.example:8443", "shop.example"],
    ["shop.example.:8443", "shop.example"],
    ["shop.example:", "shop.example"],
    ["shop.example..", "shop.example.."],
    ["MÜLLER.example", "xn--mller-kva.example"],
    ["müller.example:80", "xn--mller-kva.example"],
    ["shop\u3002example", "shop.example"],
    ["192.0.2.1:80", "192.0.2.1"],
    ["[2001:DB8::1]:443", "[2001:db8::1]"],
    ["[2001:db8:0:0::0001]", "[2001:db8::1]"],
    ["[::ffff:192.0.2.1]:80", "[::ffff:c000:201]"],
    ["[2001:db8::g]", "[2001:db8::g]"],
    ["[::1", "[::1"],
    ["::1", "::1"],
    [".", "."],
    ["", ""],
    ["a b/é", "a b/é"],
  ];
  for (const [host, canonical] of cases) {
    t.equal(canonicalHost(host), canonical, host);
    t.equal(canonicalHost(canonical), canonical, `${host}, twice`);
  }
});
