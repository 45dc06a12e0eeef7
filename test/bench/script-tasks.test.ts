/** What a trace of Chromium says of the SDK's tasks. */
import t from "tap";
import { scriptTasks, type TraceEvent } from "../../bench/sdk/page-run.js";

const call = (atMs: number, url: string, tdurMs: number, name = "FunctionCall", tid = 1): TraceEvent => ({
  name,
  tid,
  ts: 1000 * (5000 + atMs),
  // What the clock says is more: others were at work.
  dur: 10_000 * tdurMs,
  tdur: 1000 * tdurMs,
  args: { data: { url } },
});

t.test("the longest call of the start and of what follows, by processor time, of this script alone", async (t) => {
  const sdk = "http://127.0.0.1/sdk.js";
  const events = [
    call(0, sdk, 7, "EvaluateScript"),
    call(500, sdk, 12),
    call(600, "http://127.0.0.1/shop.js", 90),
    call(700, sdk, 80, "Layout"),
    call(2500, sdk, 3),
    call(3000, sdk, 1),
    call(3500, "", 50),
  ];
  t.same(scriptTasks(events, /\/sdk\.js$/, 6), { startMs: 12, restMs: 3, aMinuteMs: 40 });
  t.throws(() => scriptTasks(events, /other/, 6), /no call/);
});

t.test("what goes on after an await is the script's, counted once, on the page's own thread", async (t) => {
  const sdk = "http://127.0.0.1/sdk.js";
  const worker = 2;
  const events = [
    call(-20, "", 90, "TimerFire"),
    call(0, sdk, 3, "EvaluateScript"),
    call(100, "", 20, "TimerFire"),
    call(101, sdk, 15),
    call(400, sdk, 60, "FunctionCall", worker),
    call(420, "", 70, "TimerFire", worker),
    call(2100, "", 5, "FireIdleCallback"),
    call(2500, sdk, 2),
    call(2501, "", 1, "RunMicrotasks"),
  ];
  t.same(scriptTasks(events, /\/sdk\.js$/, 6), { startMs: 20, restMs: 5, aMinuteMs: 70 });
});
