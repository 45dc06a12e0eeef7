/** Browsers that are odd but used by people: none may be called a bot, whether somebody moves in them or only reads. */
import t from "tap";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { chromeFacts, event, folded, startMs, wobblyPath } from "../engines/sessions.js";
import { environmentOf, oddBrowsers } from "./odd-browser.js";

const likelyBotThreshold = 30;

for (const browser of oddBrowsers()) {
  t.test(`${browser.name} stays human: ${browser.why}`, async (t) => {
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
