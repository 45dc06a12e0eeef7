/** What is fuzzed by coverage: the way of a batch from its bytes into a session, and the compiler of rules. */
import type { Test } from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { fields } from "../../src/rules/fields.js";
import { printExpression } from "../../src/rules/print.js";
import { batch, event } from "../support/batches.js";
import { fuzzGuided } from "./guided-fuzz.js";
import { openIngest } from "./ingest.js";

const noon = Date.UTC(2026, 10, 21, 12);

/** Any body is a batch, which leaves a session with a score from 1 to 99, or is refused as invalid. */
export async function fuzzBatches(t: Test, inputs: number, seed: number): Promise<void> {
  const { store, owner, take } = await openIngest(t);
  const sessions = new Sessions(store);
  const events = [
    {
      ...event("fuzzed-00", {
        x: 1,
        y: 2,
        t: 3,
        points: [
          [0, 1, 2],
          [5, 6, 7],
        ],
        trusted: true,
      }),
      type: "mouse",
    },
    {
      ...event("fuzzed-01", {
        strokes: [
          [0, 80],
          [120, 75],
        ],
        dwell: 80.5,
        flight: 40,
        count: 2,
      }),
      type: "key",
    },
    {
      ...event("fuzzed-02", { webdriver: false, languages: ["en", "de"], cpu: 8, timezone: "Europe/Berlin" }),
      type: "env",
    },
  ];
  const seeds = [batch("seed0000"), { session_token: null, events }, { events: [] }, [], null];
  const seen = { taken: 0, refused: 0 };
  const figures = await fuzzGuided({
    seeds: seeds.map((each) => Buffer.from(JSON.stringify(each))),
    words: [
      "null",
      "-0",
      "1e999",
      "[[0,0,0]]",
      '"__proto__":',
      '"points":',
      "\\u0000",
      "\\ud800",
      "{}",
      '"type":"scroll"',
      ",",
    ],
    files: /dist\/src\/(ingest|contract|engines|detections)\//,
    inputs,
    random: seededRandom(seed),
    run: (body) => {
      const [outcome] = take({ body, nowMs: noon });
      if (outcome !== undefined && "session_token" in outcome) {
        seen.taken++;
        const score = sessions.scoredState(owner.projectId, outcome.session_token)?.score ?? 0;
        if (!Number.isInteger(score) || score < 1 || score > 99) throw new Error(`a score of ${score}`);
        return true;
      }
      if (outcome === undefined || !("error" in outcome) || outcome.error !== "invalidPayload")
        throw new Error(`an outcome of ${JSON.stringify(outcome)}`);
      seen.refused++;
      return false;
    },
  });
  t.ok(seen.taken > 0 && seen.refused > 0, "some are taken, some refused");
  t.ok(figures.reached > figures.reachedBySeeds, "coverage leads further than the seeds");
  t.comment(`seed ${seed}: ${JSON.stringify({ ...figures, ...seen })}`);
}

/** Any text compiles, and its printed form compiles to the same tree, or is refused at a place inside it. */
export async function fuzzRules(t: Test, inputs: number, seed: number): Promise<void> {
  const sources = [
    'score < 30 AND path starts_with "/checkout"',
    'NOT (ip in {"10.0.0.0/8", "::1"} OR user_agent wildcard "*bot*")',
    'band == "definite" or verified_bot and detection_ids contains 100101',
  ];
  const operators = [
    "==",
    "!=",
    "<=",
    ">=",
    "contains",
    "in {",
    "wildcard",
    "AND",
    "OR",
    "NOT",
    "(",
    ")",
    '"',
    "\\",
    "true",
    "-1",
  ];
  const seen = { compiled: 0, refused: 0 };
  const figures = await fuzzGuided({
    seeds: sources.map((source) => Buffer.from(source)),
    words: [...operators, ...fields.map(({ name }) => name)].map((word) => ` ${word} `),
    files: /dist\/src\/rules\//,
    inputs,
    random: seededRandom(seed),
    run: (input) => {
      const source = input.toString("utf8");
      const compiled = compileRule(source);
      if (isRuleFault(compiled)) {
        seen.refused++;
        return false;
      }
      seen.compiled++;
      const printed = compileRule(printExpression(compiled.ast));
      if (isRuleFault(printed) || JSON.stringify(printed.ast) !== JSON.stringify(compiled.ast))
        throw new Error("its printed form is another rule");
      return true;
    },
  });
  t.ok(seen.compiled > 0 && seen.refused > 0, "some compile, some are refused");
  t.ok(figures.reached > figures.reachedBySeeds, "coverage leads further than the seeds");
  t.comment(`seed ${seed}: ${JSON.stringify({ ...figures, ...seen })}`);
}
