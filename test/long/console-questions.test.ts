/**
 * The twelve questions of an analyst on a day of a large site: 100,000 sessions and a million judged requests. It prints how long each answer took, from
 * the overview on, with the clicks; of times it claims nothing.
 */
import t from "tap";
import type { JudgedFacts } from "../../src/contract/traffic/traffic.js";
import type { Band } from "../../src/contract/verdicts/verdict.js";
import { JudgedRecords } from "../../src/recording/judged-records.js";
import { TrafficCounter } from "../../src/recording/traffic.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { Desk } from "../console/desk.js";
import { askAll, prepare } from "../console/questions.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";
import { json } from "../support/process.js";
import { startServer } from "../support/server.js";
import { storeScoredSession } from "../support/stored-session.js";

skipFileIf(t, noChromium);

const sessions = 100_000;
const requests = 1_000_000;
const hours = 24;
/** How long ago the attack on /login began, which a third of the requests are of. */
const attackHours = 1 / 3;
const hourMs = 3_600_000;
const agents = [
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "python-requests/2.32.3",
];
const bands: readonly Band[] = ["likely_human", "likely_human", "confident_automated", "definite"];

/** The `index`-th judged request: paths, addresses and so on recur as a site's do, some much more often. */
function factsOf(projectId: number, index: number, atMs: number): JudgedFacts {
  const mixed = (index * 2_654_435_761) % 2 ** 32;
  const isAttack = index % 3 === 0 && index > requests * (1 - attackHours / hours);
  const [host, kind] = [mixed % 5000, isAttack ? 3 : mixed % 4];
  const ip = isAttack ? `203.0.113.${mixed % 250}` : `${10 + (host % 90)}.${host >> 6}.7.${host & 63}`;
  const path = isAttack ? "/login" : index % 5 === 0 ? "/" : `/products/${mixed % 700}`;
  const isBot = kind > 1;
  return {
    projectId,
    weight: 1,
    atMs,
    subject: index % 4 === 0 && !isAttack ? "session" : "request",
    sessionToken: null,
    band: bands[kind]!,
    action: "allow",
    score: isBot ? 5 : 80,
    reason: "",
    detectionIds: isBot ? [100101 + (mixed % 5)] : [],
    rule: null,
    values: {
      path,
      host: "shop.example",
      ip,
      network: `${ip.slice(0, ip.lastIndexOf("."))}.0/24`,
      asn: String(3000 + (host % 300)),
      country: ["DE", "FR", "US", "BR"][host % 4]!,
      user_agent_family: ["Chrome", "Mobile Safari", "Firefox", "python-requests"][kind]!,
      declared_bot: kind === 3 ? "python-requests" : "",
      verified_bot: "",
      agent: "",
      rule: "",
    },
    isLoggedIn: false,
    impostorOf: "",
    impostorCategory: "",
    verifiedBotCategory: "",
    network: { country: "DE", asn: 3000 + (host % 300), asName: "A network" },
    request: undefined,
    method: "GET",
    path,
    userAgent: agents[kind]!,
  };
}

/** A day that ends now: a session each 0.9 s, and judged requests around the clock. */
async function fill(store: Store, projectId: number): Promise<void> {
  const startMs = Date.now() - hours * hourMs;
  let nowMs = startMs;
  const records = new JudgedRecords(store, () => nowMs, 2000);
  const counter = new TrafficCounter(store);
  for (let hour = 0; hour < hours; hour++) {
    const [from, until] = [(requests * hour) / hours, (requests * (hour + 1)) / hours].map(Math.floor) as [
      number,
      number,
    ];
    for (let index = from; index < until; index++) {
      nowMs = startMs + Math.floor((hours * hourMs * index) / requests);
      const facts = factsOf(projectId, index, nowMs);
      records.onJudged(facts);
      counter.countVerdict(projectId, facts.band, facts.action, facts.subject, nowMs);
    }
    await Promise.all([records.flush(), counter.flush()]);
    const begun: Promise<string>[] = [];
    for (let index = (sessions * hour) / hours; index < (sessions * (hour + 1)) / hours; index++) {
      const number = Math.floor(index);
      const beganMs = startMs + Math.floor((hours * hourMs * number) / sessions);
      begun.push(storeScoredSession(store, projectId, beganMs, number % 65_536, agents[number % agents.length]!));
    }
    await Promise.all(begun);
    await store.counts.add([
      {
        projectId,
        hour: hourOf(nowMs),
        traffic: { events: begun.length * 20, sessions: begun.length, verdicts: {}, actions: {} },
      },
    ]);
  }
}

const dataDir = t.testdir();
const made = await json<{ account_token: string; project_id: number }>(dataDir, "init");
const store = openStore(dataDir);
await fill(store, made.project_id);
await store.close();
const server = await startServer(t, ["--verdict-ttl", "0", "--alert-private-addresses"], dataDir);
const { json: keys } = await server.ask("POST", `/v1/projects/${made.project_id}/scoring`, {
  token: made.account_token,
});
const stored = await server.sessionCount();
if (stored < sessions) throw new Error(`${stored} sessions are stored`);
const tenant = {
  accountId: 1,
  userId: 1,
  projectId: made.project_id,
  token: made.account_token,
  siteKey: keys.site_key,
  privateKey: keys.private_key,
};
const desk = await Desk.open(t, await launch(t), server);
const scene = await prepare(t, server, tenant, desk);
await askAll(t, scene, (asked, clicks, ms) => t.comment(`${clicks} clicks, ${(ms / 1000).toFixed(1)} s: ${asked}`));
