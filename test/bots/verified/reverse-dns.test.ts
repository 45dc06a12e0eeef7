/** Reverse DNS against a real DNS server on loopback: what counts as confirmed, what as unknown, and that all of it is bounded. */
import t, { type Test } from "tap";
import { createReverseDns, type ReverseDns, type ReverseDnsOptions } from "../../../src/bots/verified/reverse-dns.js";
import { type DnsServer, startDnsServer } from "../../support/dns-server.js";

const address = "66.249.66.1";
const pointer = "1.66.249.66.in-addr.arpa";
const host = "crawl-66-249-66-1.googlebot.com";
const unknown = { isKnown: false, confirmed: [], unsure: [] };
const refuted = { isKnown: true, confirmed: [], unsure: [] };

interface Setting {
  readonly server: DnsServer;
  readonly dns: ReverseDns;
  /** The clock, ms. */
  readonly clock: { nowMs: number };
}

async function setting(t: Test, options: Partial<ReverseDnsOptions> = {}): Promise<Setting> {
  const server = await startDnsServer();
  const clock = { nowMs: 1_000_000 };
  const dns = createReverseDns({ servers: [server.address], timeoutMs: 20_000, now: () => clock.nowMs, ...options });
  t.teardown(async () => {
    dns.close();
    await server.close();
  });
  return { server, dns, clock };
}

function answerGooglebot(server: DnsServer, ttl = 300): void {
  server.on("PTR", pointer, { records: [host] });
  server.on("A", host, { records: [address], ttl });
}

t.test("a name whose forward record holds the address is confirmed", async (t) => {
  const { server, dns } = await setting(t);
  server.on("PTR", pointer, { records: ["CRAWL-66-249-66-1.GoogleBot.com."] });
  server.on("A", host, { records: ["192.0.2.9", address] });
  t.strictSame(await dns.resolve(address), { isKnown: true, confirmed: [host], unsure: [] });
  t.strictSame(server.questions, [`PTR ${pointer}`, `A ${host}`]);
});

t.test("an IPv6 address is asked for by nibbles and confirmed by AAAA", async (t) => {
  const { server, dns } = await setting(t);
  const nibbles = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa";
  server.on("PTR", nibbles, { records: ["bot.example.com"] });
  server.on("AAAA", "bot.example.com", { records: ["2001:db8:0:0:0:0:0:1"] });
  t.strictSame(await dns.resolve("2001:0DB8::0001"), { isKnown: true, confirmed: ["bot.example.com"], unsure: [] });
  t.strictSame(dns.peek("2001:db8::1"), { isKnown: true, confirmed: ["bot.example.com"], unsure: [] });
});

t.test("a PTR record alone proves nothing", async (t) => {
  const { server, dns } = await setting(t);
  server.on("PTR", pointer, { records: [host] });
  server.on("A", host, { records: ["192.0.2.1"] });
  t.strictSame(await dns.resolve(address), refuted, "the name belongs to another address");
  server.on("PTR", "2.2.0.192.in-addr.arpa", { records: ["nowhere.googlebot.com"] });
  t.strictSame(await dns.resolve("192.0.2.2"), refuted, "the name does not exist");
  server.on("PTR", "3.2.0.192.in-addr.arpa", { records: ["six.googlebot.com"] });
  server.on("AAAA", "six.googlebot.com", { records: ["2001:db8::1"] });
  t.strictSame(await dns.resolve("192.0.2.3"), refuted, "the name has no address of this family");
});

t.test("no PTR record is an answer, and a name that is no hostname is not asked for", async (t) => {
  const { server, dns } = await setting(t);
  t.strictSame(await dns.resolve("192.0.2.1"), refuted, "NXDOMAIN");
  server.on("PTR", "2.2.0.192.in-addr.arpa", { records: [] });
  t.strictSame(await dns.resolve("192.0.2.2"), refuted, "empty");
  server.on("PTR", "3.2.0.192.in-addr.arpa", { records: ["localhost"] });
  t.strictSame(await dns.resolve("192.0.2.3"), refuted, "one label");
  t.equal(server.questions.filter((each) => !each.startsWith("PTR")).length, 0);
});

t.test("a failure of DNS is unknown, not an answer", async (t) => {
  const { server, dns } = await setting(t, { timeoutMs: 300 });
  server.on("PTR", "1.2.0.192.in-addr.arpa", { fail: "SERVFAIL" });
  t.strictSame(await dns.resolve("192.0.2.1"), unknown, "SERVFAIL");
  server.on("PTR", "2.2.0.192.in-addr.arpa", { fail: "REFUSED" });
  t.strictSame(await dns.resolve("192.0.2.2"), unknown, "REFUSED");
  server.on("PTR", "3.2.0.192.in-addr.arpa", { silent: true });
  t.strictSame(await dns.resolve("192.0.2.3"), unknown, "silence, until the deadline");
  server.on("PTR", "4.2.0.192.in-addr.arpa", { truncated: true });
  t.strictSame(await dns.resolve("192.0.2.4"), unknown, "truncated, and nobody answers over TCP");
  t.equal(dns.stats().failures, 4);
});

t.test("a name whose forward record can't be read is unsure", async (t) => {
  const { server, dns } = await setting(t);
  server.on("PTR", pointer, { records: [host, "other.example.com"] });
  server.on("A", host, { fail: "SERVFAIL" });
  server.on("A", "other.example.com", { records: [address] });
  t.strictSame(await dns.resolve(address), { isKnown: true, confirmed: ["other.example.com"], unsure: [host] });
});

t.test("only the first few names of a PTR record are looked at", async (t) => {
  const { server, dns } = await setting(t);
  const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`);
  server.on("PTR", pointer, { records: names });
  t.strictSame(await dns.resolve(address), refuted);
  t.equal(server.questions.filter((each) => each.startsWith("A ")).length, 4);
});

t.test("an answer is remembered: no second question, and peek sees it", async (t) => {
  const { server, dns } = await setting(t);
  answerGooglebot(server);
  t.equal(dns.peek(address), undefined);
  t.equal(server.questions.length, 0, "peek asks nothing");
  const first = await dns.resolve(address);
  t.strictSame(await dns.resolve("::ffff:66.249.66.1"), first, "another spelling of the same address");
  t.strictSame(dns.peek(address), first);
  t.equal(server.questions.length, 2);
});

t.test("how long an answer is believed follows the record, within bounds", async (t) => {
  const bounds = { ttlMinMs: 60_000, ttlMaxMs: 600_000, refutedTtlMs: 30_000, unknownTtlMs: 5_000 };
  const { server, dns, clock } = await setting(t, bounds);
  const believedMs = async (ip: string) => {
    await dns.resolve(ip);
    const start = clock.nowMs;
    for (const ms of [5_000, 30_000, 60_000, 300_000, 600_000]) {
      clock.nowMs = start + ms - 1;
      if (dns.peek(ip) === undefined) return 0;
      clock.nowMs = start + ms;
      if (dns.peek(ip) === undefined) return ms;
    }
    return Number.POSITIVE_INFINITY;
  };
  answerGooglebot(server, 300);
  t.equal(await believedMs(address), 300_000, "the record's TTL");
  answerGooglebot(server, 1);
  t.equal(await believedMs(address), 60_000, "at least the lower bound");
  answerGooglebot(server, 1_000_000);
  t.equal(await believedMs(address), 600_000, "at most the upper bound");
  t.equal(await believedMs("192.0.2.1"), 30_000, "a refusal has its own");
  server.on("PTR", "2.2.0.192.in-addr.arpa", { fail: "SERVFAIL" });
  t.equal(await believedMs("192.0.2.2"), 5_000, "a failure a short one");
});

t.test("questions for one address at the same time are asked once", async (t) => {
  const { server, dns } = await setting(t);
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  server.on("PTR", pointer, { after: held, records: [host] });
  server.on("A", host, { records: [address] });
  const both = [dns.resolve(address), dns.resolve(`::ffff:${address}`)];
  await server.received(1);
  both.push(dns.resolve(address));
  release();
  for (const answer of await Promise.all(both)) t.strictSame(answer.confirmed, [host]);
  t.strictSame(server.questions, [`PTR ${pointer}`, `A ${host}`]);
});

t.test("questions at a time and questions waiting are bounded; the rest is dropped as unknown", async (t) => {
  const { server, dns } = await setting(t, { concurrencyMax: 2, waitingMax: 1 });
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  for (const net of [1, 2, 3]) server.on("PTR", `1.2.${net}.192.in-addr.arpa`, { after: held, records: [] });
  const asked = [1, 2, 3].map((net) => dns.resolve(`192.${net}.2.1`));
  await server.received(2);
  t.match(dns.stats(), { active: 2, waiting: 1, dropped: 0 });
  t.strictSame(await dns.resolve("192.4.2.1"), unknown, "no room left");
  t.match(dns.stats(), { active: 2, waiting: 1, dropped: 1 });
  t.equal(server.questions.length, 2, "the third waits its turn");
  release();
  for (const answer of await Promise.all(asked)) t.strictSame(answer, refuted);
  t.match(dns.stats(), { active: 0, waiting: 0, lookups: 3 });
  t.strictSame(await dns.resolve("192.4.2.1"), refuted, "what was dropped is not remembered");
});

t.test("a network with a silent reverse zone keeps no crawler from being verified", async (t) => {
  const { server, dns } = await setting(t, { concurrencyMax: 4, waitingMax: 8 });
  const zone = (n: number) => `${n.toString(16)}.${"0.".repeat(15)}2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa`;
  for (let n = 1; n < 16; n++) server.on("PTR", zone(n), { silent: true });
  answerGooglebot(server);
  const lost = Array.from({ length: 15 }, (_, n) => dns.resolve(`2001:db8:1:2::${(n + 1).toString(16)}`));
  await server.received(1);
  t.equal(dns.stats().active, 1, "a quarter of the questions at a time");
  t.equal(dns.stats().waiting, 2, "and of those that wait");
  t.strictSame((await dns.resolve(address)).confirmed, [host], "asked at once");
  dns.close();
  for (const answer of await Promise.all(lost)) t.strictSame(answer, unknown);
});

t.test("a network that fails has one question at a time and none that wait, all that fail a quarter", async (t) => {
  const { server, dns, clock } = await setting(t, { concurrencyMax: 8, waitingMax: 8, unknownTtlMs: 1000 });
  const zone = (n: number, net: number) => `${n}.2.${net}.192.in-addr.arpa`;
  for (const net of [1, 2, 3]) server.on("PTR", zone(1, net), { fail: "SERVFAIL" });
  for (const net of [1, 2, 3]) t.strictSame(await dns.resolve(`192.${net}.2.1`), unknown);
  for (const net of [1, 2, 3]) for (const n of [2, 3]) server.on("PTR", zone(n, net), { silent: true });
  const before = dns.stats().dropped;
  for (const net of [1, 2, 3]) for (const n of [2, 3]) void dns.resolve(`192.${net}.2.${n}`);
  t.match(dns.stats(), { waiting: 0, dropped: before + 4 }, "two of six are asked, of two networks");
  clock.nowMs += 1001;
  server.on("PTR", zone(4, 3), { records: [] });
  t.strictSame(await dns.resolve("192.3.2.4"), refuted, "forgotten when it is old");
});

t.test("failures are forgotten before what is known", async (t) => {
  const { server, dns } = await setting(t, { cacheMax: 3 });
  answerGooglebot(server);
  await dns.resolve(address);
  for (let last = 1; last <= 9; last++) {
    server.on("PTR", `${last}.2.0.192.in-addr.arpa`, { fail: "SERVFAIL" });
    await dns.resolve(`192.0.2.${last}`);
  }
  t.strictSame(dns.peek(address)?.confirmed, [host]);
  t.equal(dns.stats().cached, 3);
});

t.test("the cache forgets the address that was used longest ago", async (t) => {
  const { dns } = await setting(t, { cacheMax: 3 });
  for (const last of [1, 2, 3]) await dns.resolve(`192.0.2.${last}`);
  t.ok(dns.peek("192.0.2.1"), "used again");
  await dns.resolve("192.0.2.4");
  t.equal(dns.stats().cached, 3);
  t.equal(dns.peek("192.0.2.2"), undefined);
  for (const last of [1, 3, 4]) t.ok(dns.peek(`192.0.2.${last}`), `192.0.2.${last}`);
});

t.test("what is no address is unknown without a question", async (t) => {
  const { server, dns } = await setting(t);
  for (const text of ["", "google.com", "1.2.3", "1.2.3.4/32"]) t.strictSame(await dns.resolve(text), unknown, text);
  t.equal(server.questions.length, 0);
});

t.test("a server that is no address is refused at once", async (t) => {
  t.throws(() => createReverseDns({ servers: ["dns.example.com"], now: () => 0 }));
});

t.test("closing ends every question as unknown", async (t) => {
  const { server, dns } = await setting(t, { concurrencyMax: 1 });
  server.on("PTR", pointer, { silent: true });
  const asked = [dns.resolve(address), dns.resolve("192.0.2.1")];
  await server.received(1);
  dns.close();
  for (const answer of await Promise.all(asked)) t.strictSame(answer, unknown);
  t.strictSame(await dns.resolve("192.0.2.2"), unknown);
  t.match(dns.stats(), { active: 0, waiting: 0, cached: 0 });
});
