/** Times of events: the best clock an event offers. */
import t from "tap";
import { eventTimeMs } from "../../src/engines/event-time.js";
import { limits } from "../../src/limits.js";
import { event } from "./sessions.js";

const noonMs = Date.UTC(2026, 10, 21, 12);

t.test("the page's clock comes before the interval, and that before the time of sending", async (t) => {
  t.equal(eventTimeMs(event("mouse", { t: 5, dt: 3 }, noonMs), 100, noonMs), 5);
  t.equal(eventTimeMs(event("mouse", { dt: 3 }, noonMs), 100, noonMs), 103);
  t.equal(eventTimeMs(event("mouse", { dt: 3 }, noonMs), 0, noonMs), noonMs);
  t.equal(eventTimeMs(event("mouse", {}, noonMs), 100, noonMs), noonMs);
  t.equal(
    eventTimeMs(event("mouse", {}, noonMs), 100, noonMs + 10 * limits.clockSkewMs),
    noonMs + 9 * limits.clockSkewMs,
  );
});
