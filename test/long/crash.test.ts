/** Eighty kills at random moments, in four settings. */
import t from "tap";
import { type CrashRun, crashRun } from "../resilience/crash-run.js";

const settings: Readonly<Record<string, Pick<CrashRun, "flags">>> = {
  "two scoring threads": { flags: ["--scoring-threads", "2"] },
  "two HTTP threads": { flags: ["--scoring-threads", "2", "--http-threads", "2"] },
  "power-loss durability": { flags: ["--scoring-threads", "1", "--durability", "power-loss"] },
  "four scoring threads": { flags: ["--scoring-threads", "4", "--http-threads", "2"] },
};

for (const [name, setting] of Object.entries(settings)) {
  t.test(`killed 20 times with ${name}, the store holds every acknowledged batch exactly once`, async (t) => {
    const seed = Date.now() % 1_000_000;
    t.comment(`seed ${seed}`);
    const figures = await crashRun(t, { kills: 20, visitors: 24, seed, answersMax: 2000, ...setting });
    t.comment(JSON.stringify(figures));
    t.ok(figures.acknowledged > 0);
  });
}
