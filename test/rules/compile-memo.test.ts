/** A source is compiled once while it is asked for, however many others are, and what is kept is bounded. */
import t from "tap";
import { limits } from "../../src/limits.js";
import { CompileMemo } from "../../src/rules/compile-memo.js";

t.test("a source that is asked for again is not compiled again", (t) => {
  const memo = new CompileMemo();
  const first = memo.compile("score < 5");
  t.equal(memo.compile("score < 5"), first);
  t.equal(memo.compile("score <"), memo.compile("score <"), "nor is one that is wrong");
  t.end();
});

t.test("what nobody asks for any more goes, and what is in use stays", (t) => {
  const memo = new CompileMemo();
  const used = memo.compile("score < 6");
  const left = memo.compile("score < 7");
  const filler = (number: number): string => `path == "${String(number).padStart(1900, "0")}"`;
  const count = Math.ceil((1.1 * limits.compiledSourceCharactersMax) / 1900);
  for (let number = 0; number < count; number++) {
    memo.compile(filler(number));
    if (memo.compile("score < 6") !== used) t.fail("a source in use was compiled again");
  }
  t.not(memo.compile("score < 7"), left);
  t.end();
});
