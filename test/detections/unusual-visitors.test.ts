/**
 * People whom something other than a program makes look odd in a session: names before the user agent, updates, the server's own clock, a tab that was
 * never shown. None may be called a program.
 */
import t from "tap";
import type { IngestEvent } from "../../src/contract/events/events.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { foldBatch, setCrawlerClaim } from "../../src/engines/fold-batch.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { newFeatures, type SessionFeatures } from "../../src/engines/session-features.js";
import {
  alone,
  chromeAgent,
  chromeEnvironment,
  chromeFacts,
  event,
  folded,
  startMs,
  wobblyPath,
} from "../engines/sessions.js";

const likelyBotThreshold = 30;
const confidentScoreMax = 15;
const hour = 3_600_000;

function scored(features: SessionFeatures, userAgent: string): { score: number; slugs: string[] } {
  const last = { ip: chromeFacts.ip, userAgent, path: "/", host: "shop.example" };
  return {
    score: combine(runEngines(features, last)).score,
    slugs: explain(features, last).map(({ slug }) => slug),
  };
}

const chromeOf = (version: number, system = "Windows NT 10.0; Win64; x64", mobile = "") =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0${mobile} Safari/537.36`;
const phoneAgent = chromeOf(156, "Linux; Android 10; K", " Mobile");
const webView =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/156.0.0.0 Mobile Safari/537.36";
const iosView =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";

const named: Record<string, string> = {
  "an app that names itself first": `ShopApp/4.2 ${webView}`,
  "Facebook's prefix on Android": `[FBAN/FB4A;FBAV/520.0.0.1;]${webView}`,
  "an app with words before": `Shop App 4.2 Android ${webView}`,
  "an app on a telephone of Apple": `ShopApp/4.2 ${iosView}`,
};

for (const [name, userAgent] of Object.entries(named)) {
  t.test(`${name} is a person's`, async (t) => {
    const hints = { secChUa: "", secChUaMobile: "", secChUaPlatform: "" };
    const facts: RequestFacts = { ...chromeFacts, ...hints, userAgent };
    const { score, slugs } = scored(
      folded([event("page", { path: "/" }), event("heartbeat", {})], { facts }),
      userAgent,
    );
    t.ok(score >= likelyBotThreshold, `${score}: ${slugs}`);
  });
}

t.test("a client that repeats the header's name, or has a name alone, is none", async (t) => {
  for (const userAgent of [`User-Agent: ${chromeAgent}`, `"user-agent": ${chromeAgent}`, "shop-tester 1.0", "Mozil"]) {
    const { score } = scored(
      folded([event("page", { path: "/" })], { facts: { ...chromeFacts, userAgent } }),
      userAgent,
    );
    t.ok(score < likelyBotThreshold, `${userAgent}: ${score}`);
  }
});

/** A session whose batches come with these agents, so many ms after the one before. */
function withAgents(agents: readonly string[], gapMs: number): SessionFeatures {
  const features = newFeatures();
  for (const [index, userAgent] of agents.entries()) {
    const nowMs = startMs + index * gapMs;
    foldBatch(features, [event("heartbeat", {}, nowMs)], { ...chromeFacts, userAgent, nowMs }, alone);
  }
  return features;
}

const safari = (version: string) =>
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Safari/605.1.15`;
const desktop = chromeOf(156, "X11; Linux x86_64");
const lives: Record<string, readonly [agents: readonly string[], gapMs: number]> = {
  "five updates of Chrome in one long session": [
    [151, 152, 153, 154, 155, 156].map((each) => chromeOf(each)),
    30 * 24 * hour,
  ],
  "updates within an hour": [[152, 153, 154, 155, 156].map((each) => chromeOf(each)), 60_000],
  "small updates of Safari": [["18.1", "18.2", "18.3", "18.4", "18.5"].map(safari), 60_000],
  "updates of an app around a web view": [[1, 2, 3, 4, 5].map((each) => `${webView} ShopApp/4.${each}`), 60_000],
  "desktop sites switched on and off three times": [
    [phoneAgent, desktop, phoneAgent, desktop, phoneAgent, desktop, phoneAgent],
    60_000,
  ],
  "a developer's three devices, hours apart": [[chromeAgent, phoneAgent, desktop, iosView, safari("18.2")], 2 * hour],
};

for (const [name, [agents, gapMs]] of Object.entries(lives)) {
  t.test(`${name}: no token from many agents`, async (t) => {
    const { slugs } = scored(withAgents(agents, gapMs), agents.at(-1)!);
    t.notOk(slugs.includes("token-from-many-agents"), `${slugs}`);
  });
}

t.test("one token with four agents within an hour counts, and no longer an hour after the last", async (t) => {
  const agents = [chromeAgent, phoneAgent, iosView, safari("18.2"), desktop];
  const features = withAgents(agents, 60_000);
  t.ok(scored(features, desktop).slugs.includes("token-from-many-agents"));
  const nowMs = startMs + 3 * hour;
  foldBatch(features, [event("heartbeat", {}, nowMs)], { ...chromeFacts, userAgent: desktop, nowMs }, alone);
  t.notOk(scored(features, desktop).slugs.includes("token-from-many-agents"));
});

t.test("a lower version is a change", async (t) => {
  const { slugs } = scored(
    withAgents(
      [156, 150, 140, 130, 120].map((each) => chromeOf(each)),
      60_000,
    ),
    chromeOf(120),
  );
  t.ok(slugs.includes("token-from-many-agents"), `${slugs}`);
});

/** A visit of batches every 10 s: the ms by which the server's and the visitor's clocks are off from the given batch on. */
function withClocks(server: (batch: number) => number, visitor: (batch: number) => number): string[] {
  const features = newFeatures();
  for (let batch = 0; batch < 12; batch++) {
    const at = startMs + batch * 10_000;
    const events: IngestEvent[] = [event("heartbeat", { t: batch * 10_000 }, at + visitor(batch))];
    foldBatch(features, events, { ...chromeFacts, nowMs: at + server(batch) }, alone);
  }
  return scored(features, chromeAgent).slugs;
}

const day = 24 * hour;
t.test("a server whose clock is corrected during a visit says nothing of the visitor", async (t) => {
  const right = () => 0;
  const corrections = {
    "two days on": 2 * day,
    "two days back": -2 * day,
    "half a day and a bit on": 0.6 * day,
    "a week back": -7 * day,
  };
  for (const [name, shift] of Object.entries(corrections)) {
    t.same(
      withClocks((batch) => (batch < 6 ? -shift : 0), right),
      [],
      `${name}, wrong until then`,
    );
  }
});

t.test("a visitor's clock that is wrong, or set once during a visit, says nothing either", async (t) => {
  const right = () => 0;
  for (const shift of [2 * day, -2 * day, 0.9 * day, 40 * day]) {
    t.same(
      withClocks(right, () => shift),
      [],
      `${shift / day} days, all the time`,
    );
    t.same(
      withClocks(right, (batch) => (batch < 6 ? shift : 0)),
      [],
      `${shift / day} days, then set`,
    );
  }
});

t.test("a visitor's clock that leaps to and fro does", async (t) => {
  for (const shift of [0.9 * day, -0.9 * day]) {
    const slugs = withClocks(
      () => 0,
      (batch) => (batch % 6 < 3 ? 0 : shift),
    );
    t.ok(slugs.includes("unsteady-clock"), `${slugs}`);
  }
  const future = withClocks(
    () => 0,
    (batch) => (batch % 2) * 3 * day,
  );
  t.ok(future.includes("events-from-the-future"), `${future}`);
});

/** A visit whose page reports, with a hand's moves. */
function visit(userAgent: string, more: Partial<RequestFacts> = {}): { score: number; slugs: string[] } {
  const facts: RequestFacts = { ...chromeFacts, ...noHints, ...more, userAgent };
  const environment = event("env", { ...chromeEnvironment, user_agent: userAgent });
  const features = folded([environment, event("mouse", { points: wobblyPath(90) })], { facts });
  if (/WhatsApp|Telegram/.test(userAgent)) setCrawlerClaim(features, "unverifiable");
  return scored(features, userAgent);
}

const noHints = { secChUa: "", secChUaMobile: "", secChUaPlatform: "" };

const replaced: Record<string, string> = {
  "an app that replaced the whole user agent": "MyBank/7.1 (Android 14; SM-S918B)",
  "an app on a telephone of Apple that did": "MyBank iOS 5.2",
  "a desktop's application that did": "MyDesk/2.0",
  "somebody whose filter removes the user agent": "",
  "a view in WhatsApp": `${iosView} WhatsApp/2.24.10`,
  "a view in WhatsApp on Android": `${webView} WhatsApp/2.24.24.78`,
  "WhatsApp's desktop application": chromeOf(134).replace(" Safari/", " WhatsApp/2.2450.6 Electron/33.2.1 Safari/"),
};

for (const [name, userAgent] of Object.entries(replaced)) {
  t.test(`${name} is a person's visit, and a header less makes no enforced bot of it`, async (t) => {
    const { score, slugs } = visit(userAgent);
    t.ok(score >= likelyBotThreshold, `${score}: ${slugs}`);
    for (const lack of [{ acceptLanguage: "" }, { acceptEncoding: "gzip, deflate" }, { accept: "" }]) {
      const less = visit(userAgent, lack);
      t.ok(less.score > confidentScoreMax, `without ${Object.keys(lack)}: ${less.score}: ${less.slugs}`);
    }
  });
}

t.test("a name that no browser has, without a page that reports, is a program's as before", async (t) => {
  for (const userAgent of ["MyBank/7.1 (Android 14; SM-S918B)", ""]) {
    const facts: RequestFacts = { ...chromeFacts, ...noHints, userAgent };
    const { score, slugs } = scored(folded([event("page", { path: "/" })], { facts }), userAgent);
    t.ok(score <= confidentScoreMax, `${score}: ${slugs}`);
  }
  const bot = "Mozilla/5.0 (compatible; TelegramBot/2.0)";
  t.ok(visit(bot).score < likelyBotThreshold, "and a bot is no view");
});

t.test("a tab that was opened in the background has no outer window, and is no program for it", async (t) => {
  const hidden = { ...chromeEnvironment, outer_w: 0, outer_h: 0 };
  const alike = [hidden, { ...hidden, plugins: 0, chrome_object: false }, { ...hidden, webgl_renderer: "llvmpipe" }];
  for (const environment of alike) {
    const without = { ...environment, outer_w: 1920, outer_h: 1040 };
    const [seen, usual] = [environment, without].map(
      (each) => scored(folded([event("env", each), event("mouse", { points: wobblyPath(90) })]), chromeAgent).score,
    );
    t.equal(seen, usual);
    t.ok(seen! >= likelyBotThreshold, `${seen}`);
  }
});
