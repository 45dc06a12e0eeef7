/** Reports that have arrived and are not scored yet, as two threads of a process see them. */
import t from "tap";
import { encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { newReportsUnderWay, ReportsUnderWay } from "../../src/requests/reports-under-way.js";

const memory = newReportsUnderWay();
const [ingest, verdicts] = [new ReportsUnderWay(memory), new ReportsUnderWay(memory)];
const tokenOf = (byte: number) => encodeSessionToken(mintSessionToken(1_000_000, (into) => into.fill(byte)));
const [token, other] = [tokenOf(1), tokenOf(2)];
const bodyOf = (session_token: string | null) => Buffer.from(JSON.stringify({ session_token, events: [] }));
const now = 1_700_000_000_000;

t.test("nothing is counted until somebody may wait for it, nor an hour later", async (t) => {
  t.equal(ingest.begin(bodyOf(token), now), null);
  verdicts.expect(now);
  t.equal(ingest.begin(bodyOf(token), now + 3_600_000), null);
  t.notOk(verdicts.has(token));
});

t.test("each report of a session counts until it ends, on every thread", async (t) => {
  verdicts.expect(now);
  const [first, second] = [ingest.begin(bodyOf(token), now), verdicts.begin(bodyOf(token), now)];
  t.ok(verdicts.has(token));
  t.notOk(verdicts.has(other));
  first?.end();
  t.ok(verdicts.has(token));
  second?.end();
  t.notOk(ingest.has(token));
});

t.test("a text that only begins like a token does not hide the token behind it", async (t) => {
  verdicts.expect(now);
  const bodyAfter = (count: number) =>
    Buffer.from(JSON.stringify({ events: Array(count).fill({ request_id: "sess_new" }), session_token: token }));
  const report = ingest.begin(bodyAfter(3), now);
  t.ok(verdicts.has(token));
  report?.end();
  t.notOk(verdicts.has(token));
  t.equal(ingest.begin(bodyAfter(4), now), null, "the search is bounded");
});

t.test("what names no session is not counted", async (t) => {
  verdicts.expect(now);
  for (const body of [bodyOf(null), bodyOf("sess_"), bodyOf(`sess_${"!".repeat(28)}`), Buffer.alloc(0)]) {
    t.equal(ingest.begin(body, now), null, body.toString());
  }
  t.notOk(verdicts.has("sess_"));
});
