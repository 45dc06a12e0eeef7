/** Sixty kills at random moments, in three settings. */
import t from "tap";
import { crashRun } from "../resilience/crash-run.js";

const settings: Readonly<Record<string, readonly string[]>> = {
  "two scoring threads": ["--scoring-threads", "2"],
  "two HTTP threads": ["--scoring-threads", "2", "--http-threads", "2"],
  "power-loss durability": ["--scoring-threads", "1", "--durability", "power-loss"],
};

for (const [name, flags] of Object.entries(settings)) {
  t.test(`killed 20 times with ${name}, the store holds every acknowledged batch exactly once`, async (t) => {
    const seed = Date.now() % 1_000_000;
    t.comment(`seed ${seed}`);
    const figures = await crashRun(t, { kills: 20, visitors: 24, seed, answersMax: 2000, flags });
    t.comment(JSON.stringify(figures));
    t.ok(figures.acknowledged > 0);
  });
}
