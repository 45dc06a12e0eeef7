/** Killed at random moments under ingest, five times in a row on one store; the long form is in `test/long`. */
import t from "tap";
import { crashRun } from "./crash-run.js";

t.test("killed at random moments, the store holds every acknowledged batch exactly once", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const figures = await crashRun(t, {
    kills: 5,
    visitors: 12,
    seed,
    answersMax: 250,
    flags: ["--scoring-threads", "2"],
  });
  t.comment(JSON.stringify(figures));
  t.ok(figures.acknowledged > 0);
});
