/** The short form of what must hold for every input. A failure prints the seed and the smallest counterexample. */
import t from "tap";
import * as properties from "./fuzz-properties.js";
import { fuzzBatches, fuzzRules } from "./guided-targets.js";
import { acceptedBatchesAreScored } from "./scored-batches.js";

t.test("every body is a batch or a refusal of the table", async (t) => {
  properties.bodiesAreBatchesOrRefused(t, 1500);
});

t.test("whatever goes into a frame comes out of it, in order", async (t) => {
  properties.framesKeepRequests(t, 300);
});

t.test("records keep what they are given, and damaged ones are no exception", async (t) => {
  properties.recordsSurviveDamage(t, 500);
});

t.test("any order of batches, repeats and retried first contacts counts as sets would", async (t) => {
  await properties.countsAgreeWithSets(t, 30);
});

t.test("inputs that coverage leads to are batches with a score or refused, rules or refused", async (t) => {
  await fuzzBatches(t, 120, Date.now() % 1_000_000);
  await fuzzRules(t, 250, Date.now() % 1_000_000);
});

t.test("every accepted batch leaves a score from 1 to 99", async (t) => {
  await acceptedBatchesAreScored(t, 75);
});
