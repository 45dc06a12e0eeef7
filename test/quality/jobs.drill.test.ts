/** The bench of jobs itself, with clients that need no browser: what the recommended rules add to the bands, and that the shop's log says so. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { doWithClient, httpClients } from "../../scripts/jobs/client-jobs.js";
import { type RuleSetName, startGuarded } from "../../scripts/jobs/guarded.js";
import { type JobName, jobs } from "../../scripts/jobs/jobs.js";
import { outcomeOf } from "../../scripts/jobs/outcome.js";
import { peers } from "../../scripts/jobs/peers.js";
import { type ShopVisit, startShop } from "../../scripts/jobs/shop.js";

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const client = httpClients.find(({ name }) => name === "curl")!;

const allowed = { band: null, score: 0, detectionIds: [], isAgent: false };

for (const [number, set] of (["A", "B"] as const satisfies RuleSetName[]).entries()) {
  t.test(`rules ${set}`, { skip: client.missing() ?? false }, async (t) => {
    const guarded = await startGuarded(dist, set);
    t.teardown(() => guarded.stop());
    const shop = await startShop(guarded.gate, number);
    t.teardown(() => shop.close());
    const run = async (job: JobName, copied: boolean) => {
      const visit = shop.open({ tellsPlaces: false });
      await doWithClient(client, jobs[job], visit, copied);
      return outcomeOf(jobs[job], visit, null, null, false, null);
    };
    t.match(await run("contact", false), { result: "stopped", band: "definite", stop: { number: 1, action: "block" } });
    const form = await run("contact", true);
    const catalogue = await run("catalogue", true);
    if (set === "A") {
      t.match(form, { result: "done", stop: null, requests: 2 }, "a browser's headers are a person's first page");
      t.match(catalogue, { result: "done", stop: null, requests: 6 });
    } else {
      t.match(form, { result: "stopped", stop: { number: 2, action: "challenge" } }, "a POST without a session");
      t.match(catalogue, { result: "stopped", stop: { number: 6, action: "challenge" } }, "the sixth page of a minute");
    }
  });
}

t.test(
  "the same jobs run behind the peers, whose pages have no SDK",
  { skip: client.missing() ?? false },
  async (t) => {
    const stops = { isbot: ["stopped", "done"], BotD: ["done", "done"], ALTCHA: ["stopped", "stopped"] } as const;
    for (const [number, name] of (["isbot", "BotD", "ALTCHA"] as const).entries()) {
      const shop = await startShop(peers[name](), 2 + number);
      t.teardown(() => shop.close());
      const results = [false, true].map(async (copied) => {
        const visit = shop.open({ tellsPlaces: false });
        t.equal(visit.isWithoutSdk, true);
        await doWithClient(client, jobs.contact, visit, copied);
        return outcomeOf(jobs.contact, visit, null, null, false, null).result;
      });
      t.same(await Promise.all(results), stops[name], `${name}: a client by default, and with a browser's headers`);
    }
  },
);

t.test("a person has come through where his last page was shown, and met what stood before it", async (t) => {
  const judged = (...actions: string[]) =>
    actions.map((action, index) => ({ ...allowed, atMs: index, request: "GET /", action }));
  const met = (...actions: string[]) => {
    const visit = { judged: judged(...actions), passes: 1, isRefused: false, served: new Set() };
    const { result, stop } = outcomeOf(jobs.contact, visit as unknown as ShopVisit, null, null, true, null);
    return [result, stop?.action ?? null];
  };
  t.same(met("allow", "allow"), ["done", null]);
  t.same(met("challenge", "allow"), ["done", "challenge"]);
  t.same(met("allow", "challenge"), ["stopped", "challenge"]);
  t.same(met("allow", "block"), ["stopped", "block"]);
});

t.test("of verdicts in one band the lowest score is told", async (t) => {
  const judged = [60, 31, 48].map((score) => ({
    band: "likely_human",
    request: "POST /contact",
    score,
    detectionIds: [],
    isAgent: score === 48,
    action: "allow",
    atMs: 0,
  }));
  const visit = { judged, passes: 0, isRefused: false } as unknown as ShopVisit;
  t.match(outcomeOf([], visit, null, null, true, null), {
    result: "done",
    band: "likely_human",
    score: 31,
    forms: { sent: 3, seen: 1 },
  });
});
