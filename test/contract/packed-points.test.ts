/** Points as the SDK packs them and as ingest reads them: nothing is lost, and nothing else is taken. */
import fc from "fast-check";
import t from "tap";
import type { EventPayload, PointRow } from "../../src/contract/events.js";
import { parseJsonObject } from "../../src/contract/json-body.js";
import { unpackPoints } from "../../src/contract/packed-points.js";
import { Refusal } from "../../src/errors.js";
import { batchOf, checkBatch, readBody } from "../../src/ingest/decode-batch.js";
import { withEvents } from "../../src/recording/timeline.js";
import { packPoints } from "../../src/sdk/probes/packed-points.js";
import { pointRow, type Told } from "../../src/sdk/recorder.js";
import { event } from "../support/batches.js";
import { holds } from "../support/property.js";

const understood = () => ({ times: 1 });
const unpacked = (text: string) => unpackPoints(Buffer.from(text), 0, Buffer.byteLength(text));
const bodyOf = (payload: object): Buffer =>
  Buffer.from(JSON.stringify({ session_token: null, events: [{ ...event("packed000", {}), type: "mouse", payload }] }));

const place = fc.oneof(
  fc.integer({ min: -300, max: 4000 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.double({ min: 0, max: 1920, noNaN: true }),
);
const rows = fc
  .array(fc.tuple(fc.double({ min: -1, max: 5000, noNaN: true }), place, place), { maxLength: 512 })
  .map((moves) => {
    let at = 0;
    return moves.map(([ms, x, y]) => {
      at += ms;
      return pointRow(at, x, y);
    });
  });

t.test("what is packed comes back to the last bit, and is short enough for the contract", async (t) => {
  holds(
    t,
    fc.property(rows, (points) => {
      const payload = packPoints({ t: 1, points, count: 3 }, understood())!;
      t.equal("points" in payload, false);
      // No zero has a sign on the wire.
      t.strictSame(unpacked(payload.packed_points!), JSON.parse(JSON.stringify(points)));
      return bodyOf(payload).length < 10_000;
    }),
    { numRuns: 200 },
  );
});

t.test("both ways of reading a body put the points in their place", async (t) => {
  const points = [
    [0, 10, 20],
    [8.3, 11.25, 19],
    [16.7, 13, -4.5],
  ] as [number, number, number][];
  const { packed_points } = packPoints({ points }, understood())!;
  const payload = { t: 5, packed_points, count: 3 };
  const bytes = bodyOf(payload);
  const spaced = Buffer.from(` ${bytes}`);
  for (const body of [bytes, spaced]) {
    const batch = batchOf(readBody(body));
    const events = batch instanceof Refusal ? [] : batch.events;
    t.equal(JSON.stringify(events[0]?.payload), JSON.stringify({ t: 5, points, count: 3 }));
  }
});

t.test("what is no packed path is refused, whoever reads it", async (t) => {
  const refused: object[] = [
    ...["", "%", "#W", "#WW", "#WWP", "#PPPPPPPP##", "$W W", "#é##", "\\##", `#${"###".repeat(513)}`].map((text) => ({
      packed_points: text,
    })),
    { packed_points: "#", points: [] },
    { points: [], packed_points: "#" },
    { packed_points: ["#"] },
    { packed_points: "#".repeat(8193) },
  ];
  for (const payload of refused) {
    const body = bodyOf(payload);
    const parsed = parseJsonObject(body);
    const told = parsed instanceof Refusal ? parsed : checkBatch(parsed);
    const read = batchOf(readBody(body));
    t.ok(told instanceof Refusal && told.error === "invalidPayload", JSON.stringify(payload).slice(0, 60));
    t.match((told as Refusal).message, /packed_points/);
    t.equal((read as Refusal).message, (told as Refusal).message);
  }
});

t.test("a server that does not say that it understands gets rows, and no more than the contract allows", async (t) => {
  const told: Told = { times: 0 };
  const payload: EventPayload = { points: [[0, 1, 2]] };
  t.equal(packPoints(payload, told), undefined);
  t.equal(told.rows, undefined);
  told.times = 3;
  t.ok(packPoints(payload, told)?.packed_points);
  t.equal(told.rows, 512);
  t.equal(packPoints({ count: 1 }, told), undefined, "nothing to pack");
});

t.test("a session's timeline has the same path, whichever way it came", async (t) => {
  const points: PointRow[] = [
    [0, 180, 90],
    [16.7, 240, 120],
    [33.4, 300.25, 180.5],
  ];
  const packed = packPoints({ points, count: 3 }, understood());
  t.type(packed?.packed_points, "string");
  const timelineOf = (payload: object) =>
    withEvents(null, [{ request_id: "mouse-0001", type: "mouse", received_at: "2026-11-26T12:00:00Z", payload }], 0);
  t.same(timelineOf(packed!), timelineOf({ points, count: 3 }));
  t.ok(timelineOf(packed!).points.length > 1);
});
