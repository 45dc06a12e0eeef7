/** The long form of what must hold for every input: more than a million of them. */
import t from "tap";
import * as properties from "../resilience/fuzz-properties.js";
import { acceptedBatchesAreScored } from "../resilience/scored-batches.js";

t.test("every body is a batch or a refusal of the table", async (t) => {
  properties.bodiesAreBatchesOrRefused(t, 600_000);
});

t.test("whatever goes into a frame comes out of it, in order", async (t) => {
  properties.framesKeepRequests(t, 20_000);
});

t.test("records keep what they are given, and damaged ones are no exception", async (t) => {
  properties.recordsSurviveDamage(t, 200_000);
});

t.test("any order of batches, repeats and retried first contacts counts as sets would", async (t) => {
  await properties.countsAgreeWithSets(t, 3000);
});

t.test("every accepted batch leaves a score from 1 to 99", async (t) => {
  await acceptedBatchesAreScored(t, 20_000);
});
