/** What describes an incident, and which attacks at once or one after the other are incidents of their own. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { minuteMs } from "../../src/contract/values/durations.js";
import type { CountedRequest } from "../../src/incidents/counted-request.js";
import { mondayMs, newDetector, personRequest, programRequest, runMinutes } from "./synthetic-traffic.js";

const noonMs = mondayMs + 12 * 60 * minuteMs;
const some = (count: number, make: (index: number) => CountedRequest): CountedRequest[] =>
  Array.from({ length: count }, (_, index) => make(index));

type Minute = (atMs: number, minute: number) => readonly CountedRequest[];

/** The incidents that begin, with the minute. */
async function begun(minutes: number, requestsOf: Minute): Promise<{ minute: number; what: Record<string, string> }[]> {
  const found: { minute: number; what: Record<string, string> }[] = [];
  await runMinutes(newDetector(noonMs), noonMs, minutes, requestsOf, (outcome, minute) => {
    for (const { opened } of outcome) for (const { what } of opened) found.push({ minute, what: { ...what } });
  });
  return found;
}

/** An attack on a path by one tool of one network. */
const attack = (path: string, net: string, asn: string, tool: string) => (atMs: number, perMinute: number) =>
  some(perMinute, (index) =>
    programRequest(atMs, {
      values: {
        path,
        ip: `${net}.${index % 50}`,
        network: `${net}.0/24`,
        asn,
        user_agent_family: tool,
        declared_bot: tool,
      },
    }),
  );
const onLogin = attack("/login", "185.220.101", "60729", "python-requests");
const onGiftCards = attack("/gift-card", "91.92.240", "394711", "Go-http-client");
const onCoupons = attack("/coupon", "80.94.95", "204428", "Scrapy");

t.test("an address that is too little for an incident of its own narrows the one of its path", async (t) => {
  const random = seededRandom(5);
  const values = { path: "/checkout", ip: "45.9.20.3", network: "45.9.20.0/24" };
  const found = await begun(66, (atMs, minute) => [
    ...some(20, () => personRequest(atMs, random, { values: { path: "/" } })),
    personRequest(atMs, random, { values: { path: "/checkout" } }),
    ...some(minute >= 62 ? 12 : 0, () => programRequest(atMs, { values })),
  ]);
  t.match(
    found.map(({ what }) => what),
    [{ path: "/checkout", ip: "45.9.20.3" }],
  );
});

for (const [share, name] of [
  [0.5, "half of whom have no session"],
  [1, "none of whom has a session"],
] as const) {
  t.test(`people, ${name}, and an attack in the first minute of a project hide no later attack`, async (t) => {
    const random = seededRandom(8);
    const found = await begun(40, (atMs, minute) => [
      ...some(84, () => personRequest(atMs, random, random() < share ? { hasSession: false } : {})),
      ...onLogin(atMs, 150),
      ...(minute >= 10 && minute < 13 ? onGiftCards(atMs, 140) : []),
      ...(minute >= 20 && minute < 24 ? onCoupons(atMs, 110) : []),
    ]);
    const narrow = found.filter(({ what }) => what.path !== undefined);
    t.match(narrow, [
      { what: { path: "/login", network: "185.220.101.0/24" } },
      { what: { path: "/gift-card", network: "91.92.240.0/24" } },
      { what: { path: "/coupon", network: "80.94.95.0/24" } },
    ]);
    t.equal(narrow.length, 3);
    t.ok(narrow[0]!.minute <= 3, "the first within two minutes of its 200th request");
    t.ok(narrow[1]!.minute <= 12 && narrow[2]!.minute <= 22, "the others within two minutes");
    t.ok(found.length <= 4, "people are one incident at most, as long as nothing else is known of them");
  });
}

t.test(
  "an attack from a project's second minute on is found in the incident of all people without a session",
  async (t) => {
    const random = seededRandom(9);
    const found = await begun(20, (atMs, minute) => [
      ...some(1000, () => personRequest(atMs, random, { hasSession: false })),
      ...onLogin(atMs, minute >= 1 ? 60 : 0),
    ]);
    t.match(found[0], { minute: 0 });
    t.equal(found[0]!.what.path, undefined);
    t.match(found.slice(1), [{ what: { path: "/login", network: "185.220.101.0/24" } }]);
    t.equal(found.length, 2);
  },
);

t.test("two attacks at once that a detection finds both are two incidents, by their narrowest values", async (t) => {
  const random = seededRandom(10);
  const found = await begun(75, (atMs, minute) => [
    ...some(60, () => personRequest(atMs, random)),
    ...(minute >= 62 ? [...onLogin(atMs, 30), ...onGiftCards(atMs, 40)] : []),
  ]);
  const [first, second] = found.map(({ what }) => what).sort((one, other) => (one.path! < other.path! ? -1 : 1));
  t.match(first, { path: "/gift-card", network: "91.92.240.0/24", declared_bot: "Go-http-client" });
  t.match(second, { path: "/login", network: "185.220.101.0/24", declared_bot: "python-requests" });
  t.equal(found.length, 2);
});

t.test("an attack on another path while one goes on is an incident of its own", async (t) => {
  const random = seededRandom(11);
  const found = await begun(90, (atMs, minute) => [
    ...some(60, () => personRequest(atMs, random)),
    ...onLogin(atMs, minute >= 62 ? 30 : 0),
    ...onCoupons(atMs, minute >= 70 ? 30 : 0),
  ]);
  t.match(found, [
    { minute: 63, what: { path: "/login" } },
    { minute: 71, what: { path: "/coupon" } },
  ]);
  t.equal(found.length, 2);
});

t.test("a wide attack of many addresses does not fall into an incident for each of them", async (t) => {
  const random = seededRandom(12);
  const found = await begun(90, (atMs, minute) => [
    ...some(60, () => personRequest(atMs, random)),
    ...(minute >= 62
      ? some(200, (index) => {
          const values = {
            path: `/${Math.floor(random() * 1e6)}.php`,
            ip: `9.${index % 10}.1.4`,
            network: `9.${index % 10}.1.0/24`,
            asn: String(index % 10),
          };
          return programRequest(atMs, { values });
        })
      : []),
  ]);
  t.match(found, [{ minute: 64, what: { declared_bot: "python-requests" } }]);
  t.equal(found.length, 1);
});
