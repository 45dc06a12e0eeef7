/** What an HTTP thread tells the detector of more requests than it tells one by one. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { JudgedFacts } from "../../src/contract/traffic/traffic.js";
import { RequestReporter } from "../../src/incidents/reporter.js";
import { limits } from "../../src/limits.js";
import { judgedFacts, programRequest } from "./synthetic-traffic.js";

const facts = judgedFacts(programRequest(0));

function factsOf(declared_bot: string, atMs: number, { projectId = 1, weight = 1 } = {}): JudgedFacts {
  return { ...facts, projectId, atMs, weight, values: { ...facts.values, declared_bot } };
}

t.test("of tools that take turns each is told of by its share, and all requests are stood for", async (t) => {
  const tools = ["curl", "python-requests", "Scrapy", "Go-http-client"];
  const [seconds, perSecond] = [10, 1600];
  const reporter = new RequestReporter(seededRandom(11));
  const told = new Map<string | undefined, number>();
  let all = 0;
  for (let second = 0; second < seconds; second++) {
    for (let each = 0; each < perSecond; each++) {
      reporter.onJudged(factsOf(tools[each % tools.length]!, second * 1000 + Math.floor((1000 * each) / perSecond)));
    }
    for (const { values, weight } of reporter.take()) {
      told.set(values.declared_bot, (told.get(values.declared_bot) ?? 0) + weight);
      all += weight;
    }
  }
  for (const tool of tools) {
    const share = (told.get(tool) ?? 0) / all;
    t.ok(share > 0.2 && share < 0.3, `${tool}: ${share}`);
  }
  t.ok(all > 0.99 * seconds * perSecond && all <= seconds * perSecond, `${all}`);
});

t.test(
  "requests of a project that come after another's burst count for themselves alone, and so does the burst",
  async (t) => {
    const rounds = 500;
    const burst = 1603;
    for (const weight of [1, 4]) {
      const reporter = new RequestReporter(seededRandom(12));
      const told = [0, 0, 0];
      for (let round = 0; round < rounds; round++) {
        const atMs = round * 10_000;
        for (let each = 0; each < burst; each++)
          reporter.onJudged(factsOf("curl", atMs + Math.floor(each / 2), { weight }));
        for (const second of [1, 2]) reporter.onJudged(factsOf("", atMs + 1000 * second, { projectId: 2 }));
        for (const { projectId, weight } of reporter.take()) told[projectId]! += weight;
      }
      const ofBurst = told[1]! / rounds / burst / weight;
      t.ok(ofBurst > 0.99 && ofBurst < 1.01, `the burst: ${ofBurst}`);
      const after = told[2]! / rounds / 2;
      t.ok(after > 0.7 && after < 1.3, `a request after it: ${after}`);
    }
  },
);

t.test("of a million requests in a minute about two hundred a second are told, which stand for all", async (t) => {
  const reporter = new RequestReporter(seededRandom(13));
  const perSecond = Math.ceil(1_000_000 / 60);
  let all = 0;
  let mostOfSecond = 0;
  for (let second = 0; second < 60; second++) {
    for (let each = 0; each < perSecond; each++)
      reporter.onJudged(factsOf("curl", second * 1000 + Math.floor((1000 * each) / perSecond)));
    const told = reporter.take();
    mostOfSecond = Math.max(mostOfSecond, told.length);
    all += told.reduce((sum, { weight }) => sum + weight, 0);
  }
  // Of the first second nobody knows how many come: blocks become larger as they do.
  t.ok(mostOfSecond < 5 * limits.incidentFactsOfSecond, `${mostOfSecond} in a second`);
  const share = all / (60 * perSecond);
  t.ok(share > 0.99 && share < 1.01, `stand for ${share} of them`);
});
