/** What `npm test` shows of a run. */
import t from "tap";
import TestReporter from "../../scripts/test-reporter.js";

const run = `TAP version 14
1..3
# Subtest: dist/test/good.test.js
    ok 1 - fine
    1..1
ok 1 - dist/test/good.test.js # time=12.5ms

# Subtest: dist/test/bad.test.js
    # Subtest: inner – äußerst
        ok 1 - fine
        not ok 2 - wrong
          ---
          diff: |
            -2
            +1
            ok 3 - a line of the difference
          ...
        ok 3 - fine again
          ---
          nobody: wants to read this
          ...
        1..3
    not ok 1 - inner – äußerst # time=1ms
      ---
      at: what the point has said
      ...
    ok 2 - left out # SKIP no browser
    1..2
not ok 2 - dist/test/bad.test.js # time=30ms
  ---
  exitCode: 1
  ...

not ok 3 - dist/test/long.test.js
  ---
${"  a line\n".repeat(5000)}  ...
# { total: 6, pass: 4, fail: 1, skip: 1 }
# time=50ms`;

const shown = `ok 1 - dist/test/good.test.js # time=12.5ms
dist/test/bad.test.js > inner – äußerst > not ok 2 - wrong
          diff: |
            -2
            +1
            ok 3 - a line of the difference
dist/test/bad.test.js > not ok 1 - inner – äußerst # time=1ms
dist/test/bad.test.js > ok 2 - left out # SKIP no browser
not ok 2 - dist/test/bad.test.js # time=30ms
  exitCode: 1
not ok 3 - dist/test/long.test.js
${"  a line\n".repeat(120)}# { total: 6, pass: 4, fail: 1, skip: 1 }
# time=50ms
`;

/** What the reporter writes of a text that comes in pieces of so many bytes. */
async function reported(text: string, pieceBytes: number): Promise<string> {
  const reporter = new TestReporter();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) reporter.write(bytes.subarray(at, at + pieceBytes));
  reporter.end();
  const pieces: Buffer[] = [];
  for await (const piece of reporter) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

t.test("a run is a line a file, whatever failed or was skipped, and the counts", async (t) => {
  for (const pieceBytes of [1, 7, 1 << 20])
    t.equal(await reported(run, pieceBytes), shown, `${pieceBytes} bytes a piece`);
});
