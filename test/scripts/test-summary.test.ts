/** The summary that CI trusts: a skipped or unfinished test must never look like a passed one. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

t.test("several runs are added up, and one in which nothing passed is a failure", async (t) => {
  const results = () => ({ dist: { test: { "imports.test.js.tap": "ok 1 - one\n1..1\n" } } });
  const dir = t.testdir({ one: results(), two: results(), empty: {} });
  const script = fileURLToPath(new URL("../../scripts/test-summary.js", import.meta.url));
  const summary = (...folders: string[]) =>
    spawnSync(process.execPath, [script, ...folders.map((name) => join(dir, name))], { encoding: "utf8" });
  const good = summary("one", "two");
  t.same([good.status, good.stdout], [0, "2 passed, 0 failed, 0 skipped\n"]);
  const bad = summary("one", "empty");
  t.equal(bad.status, 1);
  t.match(bad.stdout, /empty: no test passed\n1 passed, 0 failed, 0 skipped\n$/);
});
