/** Bands of every score for every threshold against the formula as the decisions state it, and the cap on JS-only evidence. */
import t from "tap";
import { bandOf, bandOfScore } from "../../src/verdict/bands.js";

const strength = ["definite", "confident_automated", "likely_automated", "likely_human"];

t.test("each score of 1 to 99 has the stated band for each threshold of 1 to 99", async (t) => {
  const wrong: string[] = [];
  for (let threshold = 1; threshold <= 99; threshold++) {
    for (let score = 1; score <= 99; score++) {
      let expected = "likely_human";
      if (score <= threshold - 1) expected = "likely_automated";
      if (score <= threshold - 1 && score <= Math.floor(threshold / 2)) expected = "confident_automated";
      if (score <= threshold - 1 && score <= Math.max(1, Math.floor(threshold / 6))) expected = "definite";
      if (bandOfScore(score, threshold) !== expected) wrong.push(`T ${threshold}, score ${score}`);
    }
  }
  t.same(wrong, []);
});

t.test("T = 30 gives 1-5, 6-15, 16-29, 30-99", async (t) => {
  const edges = [1, 5, 6, 15, 16, 29, 30, 99].map((score) => bandOfScore(score, 30));
  t.same(edges, [
    "definite",
    "definite",
    "confident_automated",
    "confident_automated",
    "likely_automated",
    "likely_automated",
    "likely_human",
    "likely_human",
  ]);
});

t.test("T = 1 has no bot band", async (t) => {
  for (let score = 1; score <= 99; score++) t.equal(bandOfScore(score, 1), "likely_human");
});

t.test("a lower score is never a weaker bot band", async (t) => {
  const weaker: string[] = [];
  for (let threshold = 1; threshold <= 99; threshold++) {
    let last = 0;
    for (let score = 1; score <= 99; score++) {
      const now = strength.indexOf(bandOfScore(score, threshold));
      if (now < last) weaker.push(`T ${threshold}, score ${score}`);
      last = now;
    }
  }
  t.same(weaker, []);
});

t.test("JS detection alone bands no lower than likely_automated, for any threshold", async (t) => {
  const wrong: string[] = [];
  for (let threshold = 1; threshold <= 99; threshold++) {
    for (let score = 1; score <= 99; score++) {
      for (const others of [null, 99]) {
        const band = bandOf({ heuristics: others, js_detection: score, behavioral: others }, score, threshold);
        const expected = score < threshold ? "likely_automated" : "likely_human";
        if (band !== expected) wrong.push(`T ${threshold}, JS ${score}, others ${others}: ${band}`);
      }
    }
  }
  t.same(wrong, []);
});

t.test(
  "JS detection does not weaken what the other engines say, and adds nothing below likely_automated",
  async (t) => {
    for (const [heuristics, js, behavioral, band] of [
      [3, 1, null, "definite"],
      [null, 1, 3, "definite"],
      [10, 1, null, "confident_automated"],
      [null, 1, 10, "confident_automated"],
      [20, 1, 60, "likely_automated"],
      [60, 1, 60, "likely_automated"],
      [3, 60, null, "definite"],
      [3, null, null, "definite"],
      [40, 35, 50, "likely_human"],
    ] as const) {
      const score = Math.min(heuristics ?? 99, js ?? 99, behavioral ?? 99);
      t.equal(
        bandOf({ heuristics, js_detection: js, behavioral }, score, 30),
        band,
        JSON.stringify([heuristics, js, behavioral]),
      );
    }
  },
);
