/** Which addresses are a visitor's: the edges of every range that IANA sets apart. */
import t from "tap";
import { F } from "../../src/engines/session-features.js";
import { isVisitorAddress } from "../../src/net/visitor-address.js";
import { alone, chromeFacts, event, folded } from "../engines/sessions.js";

t.test("special addresses are no visitor's; their neighbours are", async (t) => {
  const special = `0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 169.254.0.0
    169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0
    198.19.255.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 100::1 fc00::1 fdff::1 fe80::1 febf::1 fec0::1 ff02::1
    64:ff9b:1::1 2001:2::1 2001:10::1 2001:1ff::1 5f00::1 4000::1`;
  const open = `1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
    172.15.255.255 172.32.0.0 192.0.1.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
    198.51.100.7 203.0.113.9 2000::1 2001::1 2001:200::1 2001:db8::1 2002:c000:204::1 2a00:1450::1 3fff:ffff::1 64:ff9b::c000:221`;
  for (const ip of special.split(/\s+/)) t.equal(isVisitorAddress(ip), false, ip);
  for (const ip of open.split(/\s+/)) t.equal(isVisitorAddress(ip), true, ip);
  for (const text of ["", "nonsense", "10.0.0", "1.2.3.4.5"]) t.equal(isVisitorAddress(text), false, text);
});

t.test("sessions of one address count only where it is a visitor's", async (t) => {
  const crossSession = { ...alone, sessionsFromIp: 310 };
  for (const [ip, count] of [
    ["100.64.0.1", 1],
    ["169.254.10.1", 1],
    ["fe80::1", 1],
    ["", 1],
    ["198.51.100.7", 310],
  ] as const) {
    const features = folded([event("page", { path: "/" })], { facts: { ...chromeFacts, ip }, crossSession });
    t.equal(Math.max(1, features.numbers[F.ipSessionsMax]!), count, ip);
  }
});
