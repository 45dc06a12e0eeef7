/** Times as clients write them: every form that the contract lets through is read alike, and no further from the server's clock than a day. */
import fc from "fast-check";
import t from "tap";
import { isoDateOrTimeMs, isoTimeMs, receivedAtMs } from "../../../src/contract/values/iso-time.js";
import { limits } from "../../../src/limits.js";
import { holds } from "../../support/property.js";

const noonMs = Date.UTC(2026, 10, 21, 12);

t.test("every accepted form of a time is read, UTC where it names no zone", async (t) => {
  for (const text of [
    "2026-11-21T12:00:00.000Z",
    "2026-11-21T12:00:00Z",
    "2026-11-21t12:00:00z",
    "2026-11-21 12:00",
    "2026-11-21T12:00:00,000",
    "2026-11-21T13:00:00+01",
    "2026-11-21T13:00:00+01:00",
    "2026-11-21T13:00:00.000000000+0100",
    "2026-11-21T07:00-05",
  ]) {
    t.equal(isoTimeMs(text), noonMs, text);
    t.equal(receivedAtMs(text, noonMs), noonMs, text);
  }
  t.equal(isoTimeMs("2026-11-21T12:00:00,5Z"), noonMs + 500);
  t.equal(isoTimeMs("2026-11-21 12:00:00.1239999"), noonMs + 123);
});

t.test("texts of the usual length are read as they are alone, whatever day was read before", async (t) => {
  const text = "2026-11-21T12:34:56.789Z";
  const character = fc.constantFrom(..."0129T:.Zz+- /");
  holds(
    t,
    fc.property(fc.array(fc.tuple(fc.nat(text.length - 1), character), { maxLength: 3 }), (changes) => {
      const changed = [...text];
      for (const [at, put] of changes) changed[at] = put;
      isoTimeMs("1999-12-31T23:59:59.999Z");
      const alone = isoTimeMs(changed.join(""));
      isoTimeMs(text);
      return Object.is(isoTimeMs(changed.join("")), alone);
    }),
  );
  t.equal(isoTimeMs(text), Date.parse(text));
  for (const time of ["29:00:00", "12:60:00", "12:00:60", "12:00:0a"]) {
    t.ok(Number.isNaN(isoTimeMs(`2026-11-21T${time}.000Z`)), time);
  }
  t.equal(isoTimeMs("2026-11-21T23:59:59.000Z"), Date.UTC(2026, 10, 21, 23, 59, 59));
});

t.test("what is no time, or can't be one, is NaN; as a time of arrival it counts as now", async (t) => {
  for (const text of [
    "",
    "noon",
    "2026-11-21",
    "21 Nov 2026 12:00",
    "2026-13-45T99:99:99.000Z",
    "2026-02-30T00:00Z",
    "2025-02-29T00:00:00,5Z",
    "2026-11-21T12:00.5Z",
    "2026-11-21T12:00:00+24",
    "2026-11-21T12:00:00Z\n",
  ]) {
    t.ok(Number.isNaN(isoTimeMs(text)), text);
    t.equal(receivedAtMs(text, noonMs), noonMs);
  }
});

t.test("a clock that is further off than a day counts as a day off", async (t) => {
  const { clockSkewMs } = limits;
  t.equal(receivedAtMs("1970-01-01T00:00:00Z", noonMs), noonMs - clockSkewMs);
  t.equal(receivedAtMs("9999-12-31T23:59:59,9+01", noonMs), noonMs + clockSkewMs);
  t.equal(receivedAtMs("2026-11-20T12:00:00.001Z", noonMs), noonMs - clockSkewMs + 1);
});

t.test("a date alone is its first moment where a date is asked for", async (t) => {
  t.equal(isoDateOrTimeMs("2026-11-21"), noonMs - 12 * 3_600_000);
  t.equal(isoDateOrTimeMs("2026-11-21T13:00:00+01"), noonMs);
  t.ok(Number.isNaN(isoDateOrTimeMs("2026-02-30")));
});
