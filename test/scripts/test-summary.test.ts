/** The summary that CI trusts: a skipped or unfinished test must never look like a passed one. */
import t from "tap";
import { tallyOf } from "../../scripts/test-summary.js";

const counts = (tap: string) => {
  const { passed, failed, skipped } = tallyOf(tap);
  return { passed, failed, skipped };
};

t.test("passed and failed are a file's outermost tests", async (t) => {
  const tap = [
    "TAP version 14",
    "# Subtest: one",
    "    ok 1 - inner",
    "    not ok 2 - inner",
    "    1..2",
    "not ok 1 - one # time=3ms",
    "ok 2 - two # time=1ms",
    "1..2",
  ];
  t.same(counts(tap.join("\n")), { passed: 1, failed: 1, skipped: 0 });
});

t.test("a file that skips itself, a skipped test and a skipped inner test all count", async (t) => {
  t.same(counts("TAP version 14\n1..0 # no chromium: it is missing\n"), { passed: 0, failed: 0, skipped: 1 });
  t.same(counts("ok 1 - one # SKIP later\nok 2 - two # TODO\n1..2\n"), { passed: 0, failed: 0, skipped: 2 });
  t.same(counts("    ok 1 - inner # SKIP\n    1..1\nok 1 - outer # time=1ms\n1..1\n"), {
    passed: 1,
    failed: 0,
    skipped: 1,
  });
});

t.test("a file without a plan and a bail out are failures", async (t) => {
  t.same(counts("TAP version 14\nok 1 - one\n"), { passed: 1, failed: 1, skipped: 0 });
  t.same(counts("ok 1 - one\nBail out! no\n1..1\n"), { passed: 1, failed: 1, skipped: 0 });
});

t.test("a name that speaks of skipping is no skip", async (t) => {
  t.same(counts("ok 1 - a missing field skips the detection\n1..1\n"), { passed: 1, failed: 0, skipped: 0 });
  t.same(counts("ok 1 - escaped \\# skip in a name\n1..1\n"), { passed: 1, failed: 0, skipped: 0 });
});
