/** What strangers do to others: hundreds of hostile sessions behind an address change nothing for the honest visitors behind it. */
import t from "tap";
import type { EventPayload, IngestEvent } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { environmentOf, oddBrowsers } from "../detections/odd-browser.js";
import { chromeEnvironment, chromeFacts, event, wobblyPath } from "../engines/sessions.js";
import { Client } from "../support/keep-alive-client.js";
import { firstTenant, startServer } from "../support/server.js";

const crowded = "203.0.113.77";
const hostileSessions = 310;

function headersOf(facts: RequestFacts): Record<string, string> {
  const headers = {
    "user-agent": facts.userAgent,
    accept: facts.accept,
    "accept-language": facts.acceptLanguage,
    "accept-encoding": facts.acceptEncoding,
    origin: facts.origin,
    referer: facts.referer,
    "sec-ch-ua": facts.secChUa,
    "sec-ch-ua-mobile": facts.secChUaMobile,
    "sec-ch-ua-platform": facts.secChUaPlatform,
    "sec-fetch-site": facts.secFetchSite,
    "sec-fetch-mode": facts.secFetchMode,
    "sec-fetch-dest": facts.secFetchDest,
  };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
}

const reading = (environment: EventPayload): IngestEvent[] =>
  [event("page", { path: "/" }), event("env", environment), event("heartbeat", {})].map(now);

const moving = (seed: number): IngestEvent => {
  const rows = wobblyPath(120, seed);
  return now(
    event("mouse", { t: rows[0]![0], points: rows.map(([at, x, y]) => [at - rows[0]![0], x, y]), trusted: true }),
  );
};

const now = (each: IngestEvent): IngestEvent => ({ ...each, received_at: new Date().toISOString() });

t.test("hundreds of hostile sessions behind an address", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0", "--trusted-proxies", "127.0.0.1"]);
  const tenant = await firstTenant(server);
  const client = new Client(server.port);
  t.teardown(() => client.close());
  let id = 0;
  const visit = async (ip: string, facts: Partial<RequestFacts>, events: readonly IngestEvent[]) => {
    const { json } = await client.ask(
      "POST",
      "/v1/events",
      {
        ...headersOf({ ...chromeFacts, ...facts }),
        "content-type": "application/json",
        "x-forwarded-for": ip,
        "x-service-site-key": tenant.siteKey,
      },
      { session_token: null, events: events.map((each) => ({ ...each, request_id: `stranger-${id++}` })) },
    );
    const { json: verdict } = await client.ask("GET", `/v1/sessions/${json.session_token}/verdict`, {
      authorization: `Bearer ${tenant.privateKey}`,
    });
    return verdict;
  };

  // The same user agent, environment and path as an honest visitor's, and those of a declared tool.
  const ownPath = moving(1);
  const hostile = [
    () => visit(crowded, {}, [...reading({ ...chromeEnvironment, webdriver: true }), ownPath]),
    () => visit(crowded, {}, [...reading(chromeEnvironment), ownPath]),
    () => visit(crowded, { userAgent: "curl/8.5.0", secChUa: "" }, reading(chromeEnvironment)),
  ];
  const answers = await Promise.all(
    Array.from({ length: hostileSessions }, (_, index) => hostile[index % hostile.length]!()),
  );
  t.ok(answers.filter(({ verdict }) => verdict !== "likely_human").length > hostileSessions / 2, "they are found out");
  const again = await visit(crowded, {}, reading({ ...chromeEnvironment, webdriver: true }));
  const elsewhere = await visit("198.51.100.200", {}, reading({ ...chromeEnvironment, webdriver: true }));
  t.ok(again.score < elsewhere.score, "their number adds to what the next of them does itself");
  t.ok(again.detection_ids.includes(100301));

  let seed = 100;
  for (const [index, browser] of oddBrowsers().entries()) {
    await t.test(browser.name, async (t) => {
      const environment = environmentOf(browser);
      const among = await visit(crowded, browser.facts, reading(environment));
      const alone = await visit(`198.51.100.${index + 1}`, browser.facts, reading(environment));
      t.equal(among.verdict, "likely_human");
      t.equal(among.score, alone.score, "what others did changes nothing");
      const moved = await visit(crowded, browser.facts, [...reading(environment), moving(seed++)]);
      t.equal(moved.verdict, "likely_human");
    });
  }
});
