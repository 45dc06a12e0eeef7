/** The long form of fuzzing that follows coverage. */
import t from "tap";
import { fuzzBatches, fuzzRules } from "../resilience/guided-targets.js";

const seed = Date.now() % 1_000_000;

t.test("any body is a batch that leaves a score, or is refused", async (t) => {
  await fuzzBatches(t, 60_000, seed);
});

t.test("any text is a rule that prints as itself, or is refused", async (t) => {
  await fuzzRules(t, 60_000, seed);
});
