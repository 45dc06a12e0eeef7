/** Times of events: the best clock an event offers, in every form of ISO-8601 that the contract lets through. */
import t from "tap";
import { eventTimeMs, receivedMs } from "../../src/engines/event-time.js";
import { event } from "./sessions.js";

const noonMs = Date.UTC(2026, 10, 21, 12);

t.test("every accepted form of a time is read, UTC where it names no zone", async (t) => {
  for (const text of [
    "2026-11-21T12:00:00.000Z",
    "2026-11-21T12:00:00Z",
    "2026-11-21t12:00:00z",
    "2026-11-21 12:00",
    "2026-11-21T12:00:00,000",
    "2026-11-21T13:00:00+01:00",
    "2026-11-21T13:00:00.000000000+0100",
    "2026-11-21T07:00-05",
  ]) {
    t.equal(receivedMs(text), noonMs, text);
  }
});

t.test("a date that does not exist reads as 0, not as NaN", async (t) => {
  t.equal(receivedMs("2026-13-45T99:99:99.000Z"), 0);
  t.equal(receivedMs("2026-13-45T99:99Z"), 0);
});

t.test("the page's clock comes before the interval, and that before the time of sending", async (t) => {
  t.equal(eventTimeMs(event("mouse", { t: 5, dt: 3 }, noonMs), 100), 5);
  t.equal(eventTimeMs(event("mouse", { dt: 3 }, noonMs), 100), 103);
  t.equal(eventTimeMs(event("mouse", { dt: 3 }, noonMs), 0), noonMs);
  t.equal(eventTimeMs(event("mouse", {}, noonMs), 100), noonMs);
});
