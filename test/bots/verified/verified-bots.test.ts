/** Who is verified, who is spoofed, and when nothing can be said; DNS is a real server on loopback. */
import t, { type Test } from "tap";
import { scriptRunnersOf, shippedCatalogue } from "../../../src/bots/verified/catalogue.js";
import { createClaimMatcher, shippedClaimTokens } from "../../../src/bots/verified/claims.js";
import { createReverseDns } from "../../../src/bots/verified/reverse-dns.js";
import { createVerifiedBots, type VerifiedBots } from "../../../src/bots/verified/verified-bots.js";
import type { VerifiedBotEntry } from "../../../src/contract/bots/verified-bots.js";
import { VisitorIdentities } from "../../../src/ingest/visitor-identities.js";
import { type DnsServer, startDnsServer } from "../../support/dns-server.js";

const claims = createClaimMatcher(shippedClaimTokens());
const catalogue = shippedCatalogue();
const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const gptbot = "Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const searchbot = "Mozilla/5.0 (compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot)";
const meta = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)";
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";
const unknown = { outcome: "unknown" };

async function setting(
  t: Test,
  entries: readonly VerifiedBotEntry[] = catalogue.entries,
  timeoutMs = 20_000,
  now = () => 0,
) {
  const server: DnsServer = await startDnsServer();
  const reverseDns = createReverseDns({ servers: [server.address], timeoutMs, now });
  t.teardown(async () => {
    reverseDns.close();
    await server.close();
  });
  const bots: VerifiedBots = createVerifiedBots({ catalogue: { version: "1", entries }, claims, reverseDns });
  /** Gives 192.0.2.`last` this confirmed name. */
  const name = (last: number, host: string) => {
    server.on("PTR", `${last}.2.0.192.in-addr.arpa`, { records: [host] });
    server.on("A", host, { records: [`192.0.2.${last}`] });
  };
  return { server, reverseDns, bots, name };
}

t.test("addresses of the shipped catalogue belong to their operator", async (t) => {
  const bots = createVerifiedBots({ catalogue, claims });
  const samples: Record<string, [string, string]> = {
    "66.249.64.1": ["Google", "search"],
    "2001:4860:4801:10::1": ["Google", "search"],
    "::ffff:66.249.64.1": ["Google", "search"],
    "17.241.208.161": ["Apple", "search"],
    "157.55.39.1": ["Microsoft Bing", "search"],
    "5.102.173.71": ["Mojeek", "search"],
    "77.75.76.3": ["Seznam", "search"],
    "100.24.149.244": ["Amazon", "ai_crawler"],
    "85.208.98.130": ["Semrush", "seo"],
  };
  for (const [ip, [name, category]] of Object.entries(samples)) t.strictSame(bots.lookup(ip), { name, category }, ip);
  for (const ip of ["127.0.0.1", "8.8.8.8", "100.24.149.245", "2001:db8::1", "", "x"]) {
    t.equal(bots.lookup(ip), undefined, ip);
  }
});

t.test("the first and last address of every shipped range are found", async (t) => {
  const bots = createVerifiedBots({ catalogue: { ...catalogue, script_runners: [] }, claims });
  const ranges = catalogue.entries.filter((entry) => entry.match_method === "ip_cidr");
  const missed = ranges.filter((entry) => bots.lookup(entry.match_value.split("/")[0]!)?.name !== entry.name);
  t.strictSame(missed, []);
  t.equal(ranges.length, 2794);
});

t.test("an address that runs anybody's scripts verifies nobody, unless the catalogue says so", async (t) => {
  const bots = createVerifiedBots({ catalogue, claims });
  const trusting = createVerifiedBots({ catalogue: { ...catalogue, script_runners: [] }, claims });
  const pingdom = "Mozilla/5.0 (compatible; Pingdom.com_bot_version_1.4_(http://www.pingdom.com/))";
  for (const name of scriptRunnersOf(catalogue)) {
    const entry = catalogue.entries.find((each) => each.name === name && each.match_method === "ip_cidr")!;
    const ip = entry.match_value.split("/")[0]!;
    t.equal(bots.lookup(ip), undefined, name);
    t.equal(trusting.lookup(ip)?.name, name);
    if (name !== "Pingdom") continue;
    t.same(bots.peekClaim(ip, pingdom), { outcome: "unknown" }, "the claim is no lie there, and proves nothing");
    t.match(trusting.peekClaim(ip, pingdom), { outcome: "verified" });
  }
  t.match(bots.peekClaim("192.0.2.1", pingdom), { outcome: "spoofed" }, "elsewhere it is one");
});

t.test("a claim from a listed address is verified without DNS, in the claimed category", async (t) => {
  const { bots, server } = await setting(t);
  t.strictSame(await bots.resolveClaim("66.249.64.1", googlebot), {
    outcome: "verified",
    bot: { name: "Google", category: "search" },
  });
  const shared = "74.7.175.130";
  t.strictSame(await bots.resolveClaim(shared, gptbot), {
    outcome: "verified",
    bot: { name: "OpenAI", category: "ai_crawler" },
  });
  t.strictSame(await bots.resolveClaim(shared, searchbot), {
    outcome: "verified",
    bot: { name: "OpenAI", category: "ai_search" },
  });
  t.match(await bots.resolveClaim("52.230.152.1", searchbot), { outcome: "verified" }, "any category of the operator");
  t.equal(server.questions.length, 0);
});

t.test("a claim that no range holds is spoofed when the operator has ranges only", async (t) => {
  const { bots, server } = await setting(t);
  const spoofed = { outcome: "spoofed", operator: "OpenAI" };
  t.strictSame(bots.peekClaim("192.0.2.1", gptbot), spoofed);
  t.strictSame(await bots.resolveClaim("192.0.2.1", gptbot), spoofed);
  t.strictSame(await bots.resolveClaim("66.249.64.1", gptbot), spoofed, "also from another operator's address");
  t.equal(server.questions.length, 0);
});

t.test("a confirmed hostname below the suffix verifies, and lookup knows it from then on", async (t) => {
  const { bots, name, server } = await setting(t);
  const google = { name: "Google", category: "search" };
  name(1, "crawl-192-0-2-1.GoogleBot.com");
  t.equal(bots.peekClaim("192.0.2.1", googlebot), undefined, "DNS has to be asked");
  t.equal(bots.lookup("192.0.2.1"), undefined);
  t.strictSame(await bots.resolveClaim("192.0.2.1", googlebot), { outcome: "verified", bot: google });
  t.strictSame(bots.peekClaim("192.0.2.1", googlebot), { outcome: "verified", bot: google });
  t.strictSame(bots.lookup("192.0.2.1"), google);
  t.strictSame(await bots.resolveClaim("::ffff:192.0.2.1", googlebot), { outcome: "verified", bot: google });
  t.equal(server.questions.length, 2);
});

t.test("who is at an address follows what DNS proves, for as long as it holds", async (t) => {
  let nowMs = 0;
  const { bots, name } = await setting(t, undefined, undefined, () => nowMs);
  const identities = new VisitorIdentities(() => bots);
  const nobody = { verifiedBot: null, crawlerClaim: "none" };
  name(1, "crawl-192-0-2-1.googlebot.com");
  t.strictSame(identities.peek("192.0.2.1", browser), nobody);
  await identities.resolve("192.0.2.1", googlebot);
  t.match(identities.peek("192.0.2.1", browser), { verifiedBot: { name: "Google" }, crawlerClaim: "none" });
  nowMs = 25 * 60 * 60 * 1000;
  t.strictSame(identities.peek("192.0.2.1", browser), nobody, "a day later it has to be proved again");
});

t.test("names that only look like the suffix are spoofed", async (t) => {
  const { bots, name } = await setting(t);
  const tricks = [
    "evil-googlebot.com",
    "googlebot.com.evil.org",
    "googlebot.com",
    "crawl.googlebot.com.",
    "x.search.msn.com",
  ];
  for (const [index, host] of tricks.entries()) name(index + 1, host.replace(/\.$/, ""));
  for (const last of [1, 2, 3, 5]) {
    const expected = { outcome: "spoofed", operator: "Google" };
    t.strictSame(await bots.resolveClaim(`192.0.2.${last}`, googlebot), expected, `${tricks[last - 1]}`);
  }
  t.match(await bots.resolveClaim("192.0.2.4", googlebot), { outcome: "verified" }, "a trailing dot is no trick");
  t.strictSame(
    bots.lookup("192.0.2.5"),
    { name: "Microsoft Bing", category: "search" },
    "confirmed, as another operator",
  );
});

t.test("a PTR record that its own name does not confirm is spoofed", async (t) => {
  const { bots, server } = await setting(t);
  server.on("PTR", "1.2.0.192.in-addr.arpa", { records: ["crawl-66-249-66-1.googlebot.com"] });
  server.on("A", "crawl-66-249-66-1.googlebot.com", { records: ["66.249.66.1"] });
  t.strictSame(await bots.resolveClaim("192.0.2.1", googlebot), { outcome: "spoofed", operator: "Google" });
  t.strictSame(await bots.resolveClaim("192.0.2.9", googlebot), { outcome: "spoofed", operator: "Google" }, "NXDOMAIN");
  t.equal(bots.lookup("192.0.2.1"), undefined);
});

t.test("a failure of DNS never makes a claim spoofed", async (t) => {
  const { bots, server, reverseDns } = await setting(t, catalogue.entries, 300);
  server.on("PTR", "1.2.0.192.in-addr.arpa", { fail: "SERVFAIL" });
  server.on("PTR", "2.2.0.192.in-addr.arpa", { silent: true });
  server.on("PTR", "3.2.0.192.in-addr.arpa", { records: ["crawl.googlebot.com"] });
  server.on("A", "crawl.googlebot.com", { fail: "SERVFAIL" });
  for (const last of [1, 2, 3]) t.strictSame(await bots.resolveClaim(`192.0.2.${last}`, googlebot), unknown, `${last}`);
  t.strictSame(createVerifiedBots({ catalogue, claims }).peekClaim("192.0.2.1", googlebot), unknown, "no DNS at all");
  reverseDns.close();
  t.strictSame(await bots.resolveClaim("192.0.2.4", googlebot), unknown, "closed");
});

t.test("a broken name elsewhere does not hide a false claim", async (t) => {
  const { bots, server } = await setting(t);
  server.on("PTR", "1.2.0.192.in-addr.arpa", { records: ["broken.evil.org"] });
  server.on("A", "broken.evil.org", { fail: "SERVFAIL" });
  t.strictSame(await bots.resolveClaim("192.0.2.1", googlebot), { outcome: "spoofed", operator: "Google" });
});

t.test("claims that can't be verified are never spoofed, but may be confirmed", async (t) => {
  const { bots, name } = await setting(t);
  name(1, "fwdproxy-1.fbsv.net");
  t.match(await bots.resolveClaim("192.0.2.1", meta), { outcome: "verified", bot: { name: "Meta" } });
  t.strictSame(await bots.resolveClaim("192.0.2.2", meta), unknown);
  t.strictSame(await bots.resolveClaim("192.0.2.2", "Bytespider"), unknown);
  t.strictSame(await bots.resolveClaim("192.0.2.2", `${googlebot} PTST/1`), unknown);
});

t.test("who claims nothing is asked nothing, and what is no address is unknown", async (t) => {
  const { bots, server } = await setting(t);
  t.strictSame(await bots.resolveClaim("192.0.2.1", browser), unknown);
  t.strictSame(bots.peekClaim("66.249.64.1", browser), unknown);
  for (const ip of ["", "localhost"]) {
    t.strictSame(await bots.resolveClaim(ip, gptbot), unknown);
    t.strictSame(bots.peekClaim(ip, googlebot), unknown);
  }
  t.equal(server.questions.length, 0);
});

t.test("an operator that the catalogue does not list can't be spoofed", async (t) => {
  const entries: VerifiedBotEntry[] = [
    { name: "Mine", category: "monitoring", match_method: "ip_cidr", match_value: "192.0.2.0/24" },
  ];
  const { bots } = await setting(t, entries);
  t.match(bots.claim(gptbot), { operator: "OpenAI", isVerifiable: false });
  t.strictSame(await bots.resolveClaim("203.0.113.1", gptbot), unknown);
  t.strictSame(bots.lookup("192.0.2.1"), { name: "Mine", category: "monitoring" });
});

t.test("a suffix without a leading dot also fits the name itself", async (t) => {
  const entries: VerifiedBotEntry[] = [
    { name: "Google", category: "search", match_method: "rdns_suffix", match_value: "bots.example.com" },
  ];
  const { bots, name } = await setting(t, entries);
  name(1, "bots.example.com");
  name(2, "a.bots.example.com");
  name(3, "abots.example.com");
  t.match(await bots.resolveClaim("192.0.2.1", googlebot), { outcome: "verified" });
  t.match(await bots.resolveClaim("192.0.2.2", googlebot), { outcome: "verified" });
  t.match(await bots.resolveClaim("192.0.2.3", googlebot), { outcome: "spoofed" });
});
