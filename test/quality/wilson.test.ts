/** The interval of measured shares against published values. */
import t from "tap";
import { wilsonInterval } from "../../scripts/wilson.js";

t.test("Wilson's interval has its published values", async (t) => {
  const rounded = (hits: number, runs: number) => wilsonInterval(hits, runs).map((end) => Math.round(end * 1e4) / 1e4);
  // Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  t.same(rounded(81, 263), [0.2553, 0.3662]);
  t.same(rounded(15, 148), [0.0624, 0.1605]);
  t.same(rounded(0, 20), [0, 0.1611]);
  t.same(rounded(1, 29), [0.0061, 0.1718]);
  t.equal(rounded(50, 50)[1], 1);
});

t.test("no runs say nothing", async (t) => {
  t.same(wilsonInterval(0, 0), [0, 1]);
});
