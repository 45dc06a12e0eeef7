/** What every observer of judged requests is told of a verdict. */
import t from "tap";
import { type JudgedFacts, singleDimensions, valuesInOrder } from "../../src/contract/traffic/traffic.js";
import type { Verdict } from "../../src/contract/verdicts/verdict.js";
import { limits } from "../../src/limits.js";
import { type Judged, JudgedTraffic, type JudgedTrafficSources } from "../../src/recording/judged-traffic.js";

const network = { country: "DE", asn: 3320, asName: "Deutsche Telekom AG" };
const verdict: Verdict = { verdict: "definite", score: 3, action: "block", detection_ids: [400101], reason: "r" };
const judged: Judged = {
  projectId: 7,
  subject: "request",
  sessionToken: null,
  state: null,
  request: undefined,
  proved: null,
  agent: () => ({ name: "GPTBot" }),
  context: {
    method: "GET",
    path: "/orders/4711",
    host: "Shop.Example:443",
    ip: "192.0.2.77",
    userAgent: "Googlebot/2.1",
  },
  verdict,
  isLoggedIn: false,
  rule: { id: 12, name: "no bots" },
  atMs: 1_000_000,
};

function factsOf(changed: Partial<Judged>, sources: Partial<JudgedTrafficSources> = {}): JudgedFacts {
  const traffic = new JudgedTraffic({
    addresses: { networkOf: () => network },
    declaredBotOf: () => ({ name: "Googlebot" }),
    claimOf: () => ({ operator: "Google", category: "search" }),
    ipStorage: "full",
    onFailure: (error) => t.error(error),
    ...sources,
  });
  const seen: JudgedFacts[] = [];
  traffic.observe({ onJudged: (facts) => seen.push(facts) });
  traffic.observe({ onJudged: (facts) => t.equal(facts, seen.at(-1), "each observer gets the same") });
  traffic.record({ ...judged, ...changed }, 1);
  traffic.tell();
  return seen[0]!;
}

t.test("a request's facts have one value for each dimension", async (t) => {
  const facts = factsOf({});
  t.strictSame(facts.values, {
    path: "/orders/*",
    host: "shop.example",
    ip: "192.0.2.77",
    network: "192.0.2.0/24",
    asn: "3320",
    country: "DE",
    user_agent_family: "Googlebot",
    declared_bot: "Googlebot",
    verified_bot: "",
    agent: "GPTBot",
    rule: "12",
  });
  t.equal(facts.impostorOf, "Google");
  t.strictSame([facts.band, facts.action, facts.path, facts.network], ["definite", "block", "/orders/4711", network]);
});

t.test("what the request does not tell is the session's", async (t) => {
  const last = { ip: "2001:db8:1:2::3", userAgent: "Mozilla/5.0 Firefox/140.0", path: "/a", host: "b.example" };
  const { values } = factsOf({ subject: "session", sessionToken: "t", state: { last }, context: {}, rule: null });
  t.match(values, { path: "/a", host: "b.example", ip: last.ip, network: "2001:db8:1::/48", rule: "" });
  t.equal(values.user_agent_family, "Firefox");
});

t.test("an address is kept as --ip-storage says; country and network's number stay", async (t) => {
  t.match(factsOf({}, { ipStorage: "truncated" }).values, { ip: "192.0.2.0", network: "192.0.2.0/24", asn: "3320" });
  t.match(factsOf({}, { ipStorage: "none" }).values, { ip: "", network: "", asn: "3320", country: "DE" });
});

t.test("a verified bot is an agent and no impostor", async (t) => {
  const proved = { name: "Google", category: "search" };
  const agent = () => ({ name: "Google" });
  const facts = factsOf({ proved, agent, verdict: { ...verdict, verdict: "verified", detection_ids: [] } });
  t.match(facts, {
    isLoggedIn: false,
    impostorOf: "",
    verifiedBotCategory: "search",
    values: { verified_bot: "Google", agent: "Google" },
  });
});

t.test("the values in order are those of the dimensions in order", async (t) => {
  const { values } = factsOf({});
  t.strictSame(
    valuesInOrder(values),
    singleDimensions.map((name) => values[name as keyof typeof values]),
  );
});

t.test("what is remembered of an address is never another one's, and looked up anew each minute", async (t) => {
  let country = "DE";
  const seen: JudgedFacts[] = [];
  const traffic = new JudgedTraffic({
    addresses: { networkOf: (ip) => ({ country, asn: Number(ip.split(".")[3]), asName: "" }) },
    declaredBotOf: () => undefined,
    claimOf: () => undefined,
    ipStorage: "full",
    onFailure: (error) => t.error(error),
  });
  traffic.observe({ onJudged: (facts) => seen.push(facts) });
  const ask = (ip: string, host: string, atMs: number) => {
    traffic.record({ ...judged, context: { ...judged.context, ip, host }, atMs }, 1);
    traffic.tell();
    return seen.at(-1)!.values;
  };
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 3000; n++) {
      const ip = `198.${n >> 8}.7.${n & 255}`;
      const { ip: told, network, asn, host } = ask(ip, `Shop-${n % 3}.example`, 0);
      if (
        told !== ip ||
        network !== `198.${n >> 8}.7.0/24` ||
        asn !== String(n & 255) ||
        host !== `shop-${n % 3}.example`
      )
        t.fail(`${ip}: ${told}, ${network}, ${asn}, ${host}`);
    }
  }
  const again = ask("198.0.7.9", "a.example", 1000);
  country = "FR";
  t.match([again.country, ask("198.0.7.9", "a.example", 59_999).country], ["DE", "DE"]);
  t.match(ask("198.0.7.9", "a.example", 60_000).country, "FR");
});

t.test(
  "verdicts wait for each other for milliseconds, are told in order and once, and one that fails costs no other",
  async (t) => {
    const failures: unknown[] = [];
    const told: number[] = [];
    const failing = new Error("no facts");
    let areThree = () => {};
    const three = new Promise<void>((resolve) => {
      areThree = resolve;
    });
    const traffic = new JudgedTraffic({
      addresses: {
        networkOf: (ip) => {
          if (ip === "192.0.2.2") throw failing;
          return network;
        },
      },
      declaredBotOf: () => undefined,
      claimOf: () => undefined,
      ipStorage: "full",
      onFailure: (error) => failures.push(error),
    });
    traffic.observe({ onJudged: ({ score }) => told.push(score) === 3 && areThree() });
    const record = (score: number, ip = "192.0.2.1") =>
      traffic.record({ ...judged, verdict: { ...verdict, score }, context: { ...judged.context, ip } }, 1);
    for (const score of [1, 2, 3]) record(score);
    record(4, "192.0.2.2");
    t.strictSame(told, [], "not on the path of the answer");
    await three;
    traffic.tell();
    t.strictSame([told, failures], [[1, 2, 3], [failing]]);
    for (let score = 5; told.length === 3; score++) record(score);
    t.equal(told.length, 3 + limits.judgedWaitingMax, "no more wait than this");
  },
);
