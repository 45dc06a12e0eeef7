/** Killed at random moments under ingest, a few times in a row on one store; the long form is in `test/long`. */
import t from "tap";
import { crashRun } from "./crash-run.js";

t.test("killed at random moments, the store holds every acknowledged batch exactly once", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const flags = ["--scoring-threads", "2"];
  const figures = await crashRun(t, { kills: 2, visitors: 12, seed, answersMax: 250, flags });
  t.comment(JSON.stringify(figures));
  t.ok(figures.acknowledged > 0);
});
