/** Scoring threads that end under load, a few of two; the long form, of one, is in `test/long`. */
import t from "tap";
import { endThreads } from "./faulty.js";

t.test("a thread that ends costs the batches it held a 503, and is replaced", async (t) => {
  await endThreads(t, 8, 2);
});
