/** How late the event loop is, by a clock of the test's own. */
import t from "tap";
import { LoopDelayMonitor } from "../../src/metrics/loop-delay.js";

const probeMs = 50;
const halfMs = 30_000;

t.test("the delay is what comes beyond a probe's time, and is kept for half a minute at least", async (t) => {
  let nowMs = 0;
  const monitor = new LoopDelayMonitor(() => nowMs);
  t.teardown(() => monitor.stop());
  const probeAfter = (ms: number) => {
    nowMs += ms;
    monitor.probe();
  };
  t.strictSame(monitor.read(), { p50Ms: 0, p99Ms: 0, maxMs: 0 }, "nothing measured");
  for (let each = 0; each < 98; each++) probeAfter(probeMs);
  for (let each = 0; each < 2; each++) probeAfter(probeMs + 200);
  const { p50Ms, p99Ms, maxMs } = monitor.read();
  t.ok(p50Ms < 0.01, `${p50Ms}`);
  for (const ms of [p99Ms, maxMs]) t.ok(Math.abs(ms - 200) < 1, `${ms}`);

  nowMs += halfMs;
  t.ok(monitor.read().maxMs > 199, "still, after half a minute");
  nowMs += halfMs;
  t.equal(monitor.read().maxMs, 0, "gone after a minute");
});
