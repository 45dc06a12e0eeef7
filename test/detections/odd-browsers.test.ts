/** Browsers that are odd but used by people: none may be called a bot, whether somebody moves in them or only reads. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { EventPayload } from "../../src/contract/events.js";
import type { RequestFacts } from "../../src/contract/evidence.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { chromeEnvironment, chromeFacts, event, folded, startMs, wobblyPath } from "../engines/sessions.js";

interface OddBrowser {
  readonly why: string;
  readonly facts: Partial<RequestFacts>;
  /** null takes a fact away: the browser does not offer it. */
  readonly environment: Record<string, EventPayload[keyof EventPayload] | null>;
}

const folder = fileURLToPath(new URL("../../../test/detections/odd-browsers", import.meta.url));
const likelyBotThreshold = 30;

function environmentOf(browser: OddBrowser): EventPayload {
  const merged = { ...chromeEnvironment, ...browser.environment };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

for (const file of readdirSync(folder)) {
  const browser = JSON.parse(readFileSync(join(folder, file), "utf8")) as OddBrowser;
  t.test(`${file.replace(".json", "")} stays human: ${browser.why}`, async (t) => {
    const facts = { ...chromeFacts, ...browser.facts };
    const last = { ip: facts.ip, userAgent: facts.userAgent, path: "/", host: "shop.example" };
    const reading = [event("page", { path: "/" }), event("env", environmentOf(browser)), event("heartbeat", {})];
    const moving = wobblyPath(400).map(([at, x, y]) => event("mouse", { t: at, x, y, trusted: true }, startMs + at));
    const byKey = [1, 2, 3, 4].map((index) => event("click", { t: index * 900, x: 0, y: 0, pointer_type: "none" }));
    for (const events of [reading, [...reading, ...moving], [...reading, ...byKey]]) {
      const features = folded(events, { facts });
      const { score } = combine(runEngines(features, last));
      t.ok(score >= likelyBotThreshold, `${score}: ${explain(features, last).map((each) => each.slug)}`);
    }
  });
}
