/** Killed at random moments under ingest, a few times in a row on one store; the long form is in `test/long`. */
import t, { type Test } from "tap";
import { crashRun } from "./crash-run.js";

/** Kills a server on a store whose sessions are split over so many environments. */
async function killed(t: Test, kills: number, sessionStores: number): Promise<void> {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const flags = ["--scoring-threads", "2"];
  const figures = await crashRun(t, { kills, visitors: 12, seed, answersMax: 250, flags, sessionStores });
  t.comment(JSON.stringify(figures));
  t.ok(figures.acknowledged > 0);
}

t.test("killed at random moments, the store holds every acknowledged batch exactly once", (t) => killed(t, 2, 1));

t.test("and so it does when sessions are split over three environments", (t) => killed(t, 1, 3));
