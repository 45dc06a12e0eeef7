/** URLs of a store: what they mean, and that no fault repeats any part of one. */
import fc from "fast-check";
import t from "tap";
import { describeStoreUrl, parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { holds } from "../support/property.js";

const good: Readonly<Record<string, StoreUrl>> = {
  "valkey://a": { scheme: "valkey", isTls: false, seeds: ["a:6379"] },
  "redis://a:1,b:2,c": { scheme: "redis", isTls: false, seeds: ["a:1", "b:2", "c:6379"] },
  "VALKEYS://a/": { scheme: "valkeys", isTls: true, seeds: ["a:6379"] },
  "rediss://user:p%40ss%2F%25@a:1/0": {
    scheme: "rediss",
    isTls: true,
    seeds: ["a:1"],
    user: "user",
    password: "p@ss/%",
  },
  "valkey://:secret@a": { scheme: "valkey", isTls: false, seeds: ["a:6379"], password: "secret" },
  "valkey://:se:c@ret@a": { scheme: "valkey", isTls: false, seeds: ["a:6379"], password: "se:c@ret" },
  "valkey://user@a": { scheme: "valkey", isTls: false, seeds: ["a:6379"], user: "user" },
  "valkey://[::1]:7000,[fe80::1],127.0.0.1:7000": {
    scheme: "valkey",
    isTls: false,
    seeds: ["::1:7000", "fe80::1:6379", "127.0.0.1:7000"],
  },
  "valkey://a:1,a:1": { scheme: "valkey", isTls: false, seeds: ["a:1"] },
};
for (const [text, url] of Object.entries(good)) {
  t.test(`${text} is a store`, async (t) => t.same(parseStoreUrl(text), url));
}

const bad: Readonly<Record<string, RegExp>> = {
  "": /must begin with/,
  "a:6379": /must begin with/,
  "http://a": /must begin with/,
  "constructor://a": /must begin with/,
  "valkey://": /^must name a host behind valkey:\/\/, such as valkey:\/\/10\.0\.0\.1:6379$/,
  "rediss:///0": /^must name a host behind rediss:\/\//,
  "valkey://:6379": /^must name hosts as HOST or HOST:PORT.*: host 1 of 1 is none$/,
  "valkey://a,,b": /^must have a host in each place between its commas: host 2 of 3 is empty$/,
  "valkey://a,": /: host 2 of 2 is empty$/,
  "valkey://a b": /^must name hosts as HOST or HOST:PORT.*: host 1 of 1 is none$/,
  "valkey://::1:7000": /^must have IPv6 addresses in brackets: write \[::1\]:7000 as host 1 of 1$/,
  "valkey://a,2001:db8::5": /IPv6 addresses in brackets: write \[2001:db8::5\] as host 2 of 2$/,
  "valkey://::x:7000": /IPv6 addresses in brackets: host 1 of 1 is none$/,
  "valkey://a:0": /^must have ports from 1 to 65535: host 1 of 1 has another$/,
  "valkey://a,b:65536": /host 2 of 2 has another$/,
  "valkey://a:port": /host 1 of 1 has another$/,
  "valkey://a/1": /^must not name a database behind its hosts/,
  "valkey://a?db=1": /^must end with the last host and port/,
  "valkey://a,valkey://b": /^must have its scheme once, in front of the first host$/,
  "valkey://@a": /^must have a user or a password before the @, or no @$/,
  "valkey://user:100%@a": /percent-encoded/,
  [`valkey://${"a,".repeat(64)}a`]: /more than 64/,
};
for (const [text, fault] of Object.entries(bad)) {
  t.test(`${text.slice(0, 30) || "nothing"} is none`, async (t) => {
    const parsed = parseStoreUrl(text);
    t.match("fault" in parsed ? parsed.fault : "no fault", fault);
  });
}

t.test("no fault and no description has the password, wherever it stands", async (t) => {
  const secret = "hunter2xyzzy";
  const places = [`valkey://u:${secret}%@a`, `valkey://${secret}:x`, `valkey://a:${secret}`, `valkey://a/${secret}`];
  for (const text of [
    ...places,
    `${secret}://a`,
    secret,
    `valkey://u:${secret}@a:b c`,
    `valkey://u:${secret}@a,${secret}!`,
  ]) {
    const parsed = parseStoreUrl(text);
    t.ok("fault" in parsed && !parsed.fault.includes(secret), text);
  }
  t.equal(
    describeStoreUrl(parseStoreUrl(`rediss://u:${secret}@[::1],b:7`) as StoreUrl),
    "rediss://[::1]:6379,b:7",
    "its scheme stays",
  );
});

t.test("any password comes through when it is encoded", async (t) => {
  holds(
    t,
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (password) => {
      const parsed = parseStoreUrl(`valkey://user:${encodeURIComponent(password)}@a`);
      return "password" in parsed && parsed.password === password;
    }),
  );
});
