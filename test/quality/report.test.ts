/** What the live report says of a row: it never calls a goal reached that was not shown. */
import t from "tap";
import type { GoalName, Outcome } from "../../scripts/live/measurement.js";
import { isAnyMissed, judge, type Row, renderReport } from "../../scripts/live/report.js";
import type { Band } from "../../src/contract/verdicts/verdict.js";

const outcome = (verdict: Band, ...ids: number[]): Outcome => ({
  verdict: { verdict, score: 10, action: "allow", detection_ids: ids, reason: "" },
  detections: null,
});

const row = (goal: GoalName, outcomes: Outcome[], missing: string | null = null): Row => ({
  case: { goal, tool: "A tool", behavior: "some behaviour" },
  missing,
  outcomes,
});

t.test("unmodified automation must be proven in every visit", async (t) => {
  t.equal(judge(row("unmodified", [outcome("definite"), outcome("confident_automated")])), "reached");
  t.equal(judge(row("unmodified", [outcome("definite"), outcome("likely_automated")])), "missed");
});

t.test("hardened automation may be in any bot band, and few may escape", async (t) => {
  const caught = Array.from({ length: 19 }, () => outcome("likely_automated"));
  t.equal(judge(row("hardened", [...caught, outcome("likely_human")])), "reached");
  t.equal(judge(row("hardened", [...caught.slice(1), outcome("likely_human")])), "missed");
  t.equal(judge(row("hardened", [outcome("not_computed")])), "missed", "no score is no success");
});

t.test("a person in a bot band misses the goal", async (t) => {
  t.equal(judge(row("person", [outcome("likely_human")])), "reached");
  t.equal(judge(row("person", [outcome("likely_human"), outcome("likely_automated")])), "missed");
});

t.test("a visit that failed is never counted as a success", async (t) => {
  t.equal(judge(row("humanized", [outcome("definite"), { failure: "the browser ended" }])), "missed");
  t.equal(judge(row("humanized", [])), "missed");
  t.match(renderReport([row("humanized", [{ failure: "the browser ended" }])]), /1 failed[\s\S]*the browser ended/);
});

t.test("a tool that is not there is named, with the reason", async (t) => {
  const report = renderReport([row("unmodified", [], "/usr/bin/tool is missing")]);
  t.match(report, /A tool.*not run: \/usr\/bin\/tool is missing/);
  t.match(report, /0 rows reached their goal, 0 missed it, 1 not run/);
});

t.test("a row shows bands, shares with intervals, and how often each detection fired", async (t) => {
  const report = renderReport([row("unmodified", [outcome("definite", 100102, 300101), outcome("definite", 100102)])]);
  t.match(report, /2 definite .*100 % \(34 % to 100 %\)/);
  t.match(report, /100102 \(2\), 300101 \(1\)/);
});

t.test("a person with an aid may be likely automated, one kind in ten, and is never enforced upon", async (t) => {
  const human = Array.from({ length: 9 }, () => row("aided", [outcome("likely_human")]));
  const likely = row("aided", [outcome("likely_human"), outcome("likely_automated")]);
  t.equal(judge(likely), "reached");
  t.equal(judge(row("aided", [outcome("likely_human"), outcome("confident_automated")])), "missed");
  t.notOk(isAnyMissed([...human, likely]), "one in ten");
  t.ok(isAnyMissed([...human.slice(1), likely]), "one in nine");
  t.ok(isAnyMissed([...human, row("aided", [{ failure: "the browser ended" }])]), "a visit that failed");
  t.notOk(isAnyMissed([...human, row("aided", [], "/usr/bin/tool is missing")]), "a tool that is not there");
  t.match(renderReport([...human.slice(1), likely]), /some behaviour: 1 of 9 rows, at most 10 %: missed/);
});
