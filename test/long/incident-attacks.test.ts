/**
 * Misses and false alarms: made-up attacks, fourteen calm days with a rhythm of the day, a newsletter and a deploy, and what the detector says to
 * each, of what an HTTP thread reports of them. The table of "Under attack" has the same rows.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { dayMs, minuteMs } from "../../src/contract/values/durations.js";
import type { CountedRequest } from "../../src/incidents/counted-request.js";
import type { OpenIncident } from "../../src/incidents/project-watch.js";
import { RequestReporter } from "../../src/incidents/reporter.js";
import {
  judgedFacts,
  mondayMs,
  newDetector,
  personRequest,
  programRequest,
  runMinutes,
} from "../incidents/synthetic-traffic.js";

const random = seededRandom(11);
const shuffling = seededRandom(12);
const reporter = new RequestReporter(seededRandom(13));

/** What an HTTP thread tells of these requests, which come mixed over the minute. */
function reported(atMs: number, requests: readonly CountedRequest[]): CountedRequest[] {
  const mixed = requests.map((request) => judgedFacts(request));
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(shuffling() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  for (const [index, facts] of mixed.entries())
    reporter.onJudged({ ...facts, atMs: atMs + Math.floor((index * minuteMs) / mixed.length) });
  return reporter.take();
}

/** Requests of a minute by the hour: few at night, twice as many from 8 on. */
function calm(atMs: number): CountedRequest[] {
  const hour = new Date(atMs).getUTCHours();
  const mean = hour < 6 ? 4 : hour < 8 ? 12 : hour < 18 ? 24 : 16;
  // One of ten is a crawler's, another one a first page, before its session is known.
  return many(Math.round(mean * (0.7 + 0.6 * random())), () => {
    const share = random();
    if (share < 0.1) return crawlerRequest(atMs);
    return person(atMs, share < 0.2 ? { hasSession: false } : {});
  });
}

/** One of 300 networks' people: more would only make the test slower. */
function person(atMs: number, { values, ...more }: Partial<CountedRequest> = {}): CountedRequest {
  const network = Math.floor(random() * 300);
  const ip = `${20 + (network >> 8)}.${network & 255}.3.${network % 7}`;
  return personRequest(atMs, random, {
    ...more,
    values: { ip, network: `${ip.split(".").slice(0, 3).join(".")}.0/24`, ...values },
  });
}

function crawlerRequest(atMs: number): CountedRequest {
  const values = {
    ip: "66.249.66.1",
    network: "66.249.66.0/24",
    asn: "15169",
    country: "US",
    verified_bot: "Google",
    agent: "Google",
    user_agent_family: "Other browser or crawler",
  };
  return personRequest(atMs, random, { hasSession: false, band: "verified", values });
}

function many(count: number, make: (index: number) => CountedRequest): CountedRequest[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** A visitor's network and what is known of it. */
const from = (ip: string, asn: string, country: string) => ({
  ip,
  network: `${ip.split(".").slice(0, 3).join(".")}.0/24`,
  asn,
  country,
});
/** A user agent that names no program. */
const browser = (user_agent_family: string) => ({ user_agent_family, declared_bot: "" });
/** As reports have it: without values that are not known. */
const program = (atMs: number, more: Partial<CountedRequest> = {}): CountedRequest => {
  const request = programRequest(atMs, more);
  return { ...request, values: Object.fromEntries(Object.entries(request.values).filter(([, value]) => value !== "")) };
};
const tool = (name: string) => ({ user_agent_family: name, declared_bot: name });

/** Credential stuffing, guessing of gift cards and of coupons: each by one tool of one network. */
const stuffing: Minute = (atMs) =>
  many(30, () => program(atMs, { values: { ...from("185.220.101.4", "60729", "DE"), ...tool("python-requests") } }));
const giftCards: Minute = (atMs) => {
  const values = { path: "/gift-card", ...from("91.92.240.7", "394711", "BG"), ...tool("Go-http-client") };
  return many(40, () => program(atMs, { values }));
};
const coupons: Minute = (atMs) =>
  many(25, () =>
    program(atMs, { values: { path: "/coupon", ...from("80.94.95.9", "204428", "RO"), ...tool("Scrapy") } }),
  );

type Minute = (atMs: number, minute: number) => CountedRequest[];

const floodTools = ["curl", "python-requests", "Scrapy", "Go-http-client"];

/** Each for a quarter of an hour at one in the afternoon or later. */
const attacks: readonly (readonly [name: string, requestsOf: Minute])[] = [
  ["Credential stuffing on `/login` from one network, 30 a minute", (atMs) => many(30, () => program(atMs))],
  [
    "Credential stuffing on `/login` from 400 networks with a browser's user agent, 60 a minute",
    (atMs) =>
      many(60, () => {
        const index = Math.floor(random() * 400);
        const ip = `${100 + (index % 100)}.${(index * 7) % 250}.9.4`;
        const values = { ...from(ip, String(200 + (index % 60)), "BR"), ...browser("Chrome") };
        return program(atMs, { band: "likely_automated", values });
      }),
  ],
  [
    "Scraping of products from 80 networks of one autonomous system, 80 a minute",
    (atMs) =>
      many(80, (index) => {
        const values = { path: "/products/*", ...from(`5.9.${index}.3`, "24940", "DE"), ...tool("Go-http-client") };
        return program(atMs, { values });
      }),
  ],
  [
    "A scan for weak points, a new path each time, 40 a minute",
    (atMs) =>
      many(40, () => {
        const path = `/${Math.floor(random() * 1e6).toString(36)}.php`;
        return program(atMs, { values: { path, ...tool("curl") } });
      }),
  ],
  [
    "Fake sign-ups by driven browsers with sessions, 15 a minute",
    (atMs) =>
      many(15, () => {
        const values = { path: "/signup", ...browser("Headless Chrome") };
        return program(atMs, { hasSession: true, band: "confident_automated", values });
      }),
  ],
  [
    "Card testing at `/checkout` from one address, 12 a minute",
    (atMs) =>
      many(12, () => {
        const values = { path: "/checkout", ...from("45.9.20.3", "49505", "RU"), ...browser("Chrome") };
        return program(atMs, { band: "confident_automated", values });
      }),
  ],
  [
    "A flood of `/` from one address, 2,000 a minute",
    (atMs) => many(2000, () => program(atMs, { values: { path: "/" } })),
  ],
  [
    "A flood of `/` from one network, 1,600 a second, four tools in turn",
    (atMs) => {
      const ofAddresses = many(200, (index) => {
        const values = {
          path: "/",
          ...from(`198.51.100.${index % 50}`, "64500", "NL"),
          ...tool(floodTools[index % 4]!),
        };
        return program(atMs, { values });
      });
      return many(96_000, (index) => ofAddresses[index % ofAddresses.length]!);
    },
  ],
  [
    "An AI crawler without a proof over all pages, 50 a minute",
    (atMs) =>
      many(50, () => {
        const path = `/blog/${Math.floor(random() * 30)}`;
        const values = { path, ...from("20.171.9.8", "8075", "US"), ...tool("GPTBot") };
        return program(atMs, { band: "likely_automated", values });
      }),
  ],
  [
    "Guessing of gift cards that a rule blocks already, by sessions like people's, 25 a minute",
    (atMs) =>
      many(25, () => {
        const values = { path: "/gift-card", ...from("91.2.3.4", "3320", "DE"), ...browser("Firefox") };
        return program(atMs, {
          hasSession: true,
          band: "likely_human",
          action: "block",
          isByRule: true,
          detectionIds: [],
          values,
        });
      }),
  ],
  [
    "Slow stuffing on `/login` from one address, 6 a minute",
    (atMs) => many(6, () => program(atMs, { values: { ...from("77.1.2.3", "77", "NL"), ...tool("okhttp") } })),
  ],
];

t.test("misses and false alarms are those of the documentation", async (t) => {
  let fromMs = mondayMs;
  let detector = newDetector(fromMs);
  const opened: { atMs: number; incident: OpenIncident }[] = [];
  /** Runs minutes; what opened in them. */
  const run = async (minutes: number, more: Minute = () => []) => {
    const before = opened.length;
    const startMs = fromMs;
    await runMinutes(
      detector,
      startMs,
      minutes,
      (atMs, minute) => reported(atMs, [...calm(atMs), ...more(atMs, minute)]),
      (outcome, minute) => {
        for (const project of outcome)
          for (const incident of project.opened) opened.push({ atMs: startMs + minute * minuteMs, incident });
      },
    );
    fromMs += minutes * minuteMs;
    return opened.slice(before);
  };
  const told = (found: typeof opened, startMs: number): string =>
    found.length === 0
      ? "no incident"
      : found
          .map(({ atMs, incident: { what } }) => {
            const values = Object.entries(what).map(([dimension, value]) => `\`${dimension}\` ${value}`);
            return `after ${(atMs - startMs) / minuteMs + 1} min: ${values.join(", ")}`;
          })
          .join("; ");

  const rows: (readonly [string, string, string])[] = [];
  const calmIncidents = await run((14 * dayMs) / minuteMs);
  t.equal(calmIncidents.length, 0, "calm days");
  rows.push(["Fourteen calm days, twice the traffic from 8 a.m. on", "none", told(calmIncidents, mondayMs)]);
  await run(13 * 60);
  for (const [name, requestsOf] of attacks) {
    await run(90);
    const startMs = fromMs;
    const found = await run(15, requestsOf);
    const isSlow = name.startsWith("Slow");
    t.equal(found.length, isSlow ? 0 : 1, name);
    rows.push([name, isSlow ? "missed: below 50 in five minutes" : "found", told(found, startMs)]);
    t.same(await run(30), [], `nothing more after: ${name}`);
  }
  await run(90);
  let startMs = fromMs;
  // Four pages each; the first one is judged before there is a session.
  const newsletter = await run(60, (atMs, minute) =>
    many(Math.round(400 / (1 + minute / 8)), () => {
      const isFirst = random() < 0.25;
      return person(atMs, isFirst ? { hasSession: false, values: { path: "/offers/winter" } } : {});
    }),
  );
  rows.push([
    "A newsletter: 400 pages a minute at once, a quarter of them the landing page before a session",
    newsletter.length === 0 ? "none" : "false alarm",
    told(newsletter, startMs),
  ]);
  for (const { incident } of newsletter) {
    t.ok(incident.ruleWould.likely_human > 0.9 * incident.ruleWould.newly_blocked, "it says that people would be hurt");
  }
  await run(120);
  startMs = fromMs;
  const deploy = await run(60, (atMs) =>
    many(12, () => {
      const path = ["/app/start", "/app/main", "/app/profile"][Math.floor(random() * 3)]!;
      return person(atMs, { ...(random() < 0.2 && { hasSession: false }), values: { path } });
    }),
  );
  rows.push(["A deploy: pages move to new paths", deploy.length === 0 ? "none" : "false alarm", told(deploy, startMs)]);
  await run(120);
  startMs = fromMs;
  const both = await run(15, (atMs, minute) => [...stuffing(atMs, minute), ...giftCards(atMs, minute)]);
  t.equal(both.length, 2, "two at once");
  rows.push([
    "Two attacks at once, on `/login` and `/gift-card`, of a network and a tool each",
    "found",
    told(both, startMs),
  ]);

  // A project of its own: nothing is known of it.
  fromMs += dayMs;
  detector = newDetector(fromMs);
  startMs = fromMs;
  const young = await run(40, (atMs, minute) => [
    ...many(60, () => person(atMs, random() < 0.7 ? { hasSession: false } : {})),
    ...(minute < 30 ? [1, 2, 3, 4, 5].flatMap(() => stuffing(atMs, minute)) : []),
    ...(minute >= 12 && minute < 15 ? giftCards(atMs, minute) : []),
    ...(minute >= 25 ? coupons(atMs, minute) : []),
  ]);
  t.same(
    young.map(({ incident: { what } }) => what.path),
    ["/login", "/gift-card", "/coupon"],
    "none hides another one, and people are none",
  );
  rows.push([
    "A new project: people, most without a session, and stuffing of `/login` from its first minute on, `/gift-card` 12 and `/coupon` 25 minutes later",
    "found",
    told(young, startMs),
  ]);
  const table = rows.map((row) => `| ${row.join(" | ")} |`);
  const documented = readFileSync(new URL("../../../src/docs/under-attack.md", import.meta.url), "utf8").split("\n");
  for (const row of table) t.ok(documented.includes(row), row);
});
