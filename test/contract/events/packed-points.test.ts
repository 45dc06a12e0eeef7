/** Points as the SDK packs them and as ingest reads them: nothing is lost, and nothing else is taken. */
import fc from "fast-check";
import t from "tap";
import { parseJsonObject } from "../../../src/contract/api/json-body.js";
import type { EventPayload, IngestBatch, IngestEvent, PointRow } from "../../../src/contract/events/events.js";
import { unpackPoints } from "../../../src/contract/events/packed-points.js";
import { Refusal } from "../../../src/errors.js";
import { batchOf, checkBatch, idHashesOf, readBody } from "../../../src/ingest/decode-batch.js";
import { withEvents } from "../../../src/recording/timeline.js";
import { joinEvents } from "../../../src/sdk/agents/joined-events.js";
import { delta, packPoints, shorter } from "../../../src/sdk/probes/packed-points.js";
import { pointRow, type Told } from "../../../src/sdk/recorder.js";
import { event } from "../../support/batches.js";
import { holds } from "../../support/property.js";

const understood = () => ({ times: 1 });
const unpacked = (text: string) => unpackPoints(Buffer.from(text), 0, Buffer.byteLength(text));
const bodyOf = (payload: object, type = "mouse"): Buffer =>
  Buffer.from(JSON.stringify({ session_token: null, events: [{ ...event("packed000", {}), type, payload }] }));

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

/** Whole ms and pixels, as window systems without parts of them tell them; leaps among small steps. */
const wholeRows = fc
  .array(fc.tuple(fc.nat({ max: 200 }), fc.integer({ min: -9, max: 9 }), fc.integer({ min: -900, max: 9 })), {
    maxLength: 512,
  })
  .map((moves) => {
    let [at, x, y] = [0, 400, 300];
    return moves.map(([ms, across, down]) => {
      at += ms;
      x += across;
      y += down;
      return pointRow(at, x, y);
    });
  });
const join = (events: IngestEvent[], packing: number | undefined = 2) =>
  joinEvents(events, { times: 3, packing }, shorter, delta);
const asSent = (payload: EventPayload, type: IngestEvent["type"] = "mouse", ms = 0): IngestEvent => ({
  request_id: `packed-${type}-${ms}`,
  type,
  received_at: new Date(Date.UTC(2026, 10, 27) + ms).toISOString(),
  payload,
});

t.test(
  "the form for whole numbers comes back to the last bit, never longer; the older one stays beside it",
  async (t) => {
    holds(
      t,
      fc.property(fc.oneof(wholeRows, rows), (points) => {
        const payload = packPoints({ points }, understood()) as EventPayload;
        const [sent] = join([asSent(payload)])!;
        t.strictSame(unpacked(sent!.payload.packed_points!), JSON.parse(JSON.stringify(points)));
        t.strictSame(unpacked(payload.packed_points!), JSON.parse(JSON.stringify(points)));
        return join([asSent(payload)], 1) === undefined;
      }),
      { numRuns: 200 },
    );
    const hand = Array.from({ length: 60 }, (_, at): PointRow => [8 * at, 300 + at * 3 + (at % 3), 200 + (at >> 2)]);
    const { packed_points: before } = packPoints({ points: hand }, understood())!;
    const [after] = join([asSent(packPoints({ points: hand }, understood()) as EventPayload)])!;
    t.ok(after!.payload.packed_points!.length < 0.7 * before!.length, "two characters a row instead of three");
  },
);

const clicksOf = fc.array(
  fc.record({
    wait: fc.nat({ max: 100_000 }),
    lag: fc.nat({ max: 400 }),
    place: fc.tuple(place, place),
    dwell: fc.option(fc.nat({ max: 9000 }), { nil: undefined }),
    off: fc.option(fc.nat({ max: 1000 }), { nil: undefined }),
    button: fc.constantFrom(0, 0, 0, 2),
    type: fc.constantFrom("click", "click", "click", "focus"),
  }),
  { minLength: 1, maxLength: 50 },
);

t.test("clicks that are sent as one come back as they were, in their order, by both ways of reading", async (t) => {
  holds(
    t,
    fc.property(clicksOf, (made) => {
      let ms = 0;
      const events = made.map(({ wait, lag, place: [x, y], dwell, off, button, type }, at): IngestEvent => {
        ms += wait + 401;
        const [, across, down] = pointRow(0, x, y);
        const told = {
          dwell: dwell === undefined ? undefined : dwell / 10,
          off_center: off === undefined ? undefined : off / 1000,
        };
        const payload = {
          t: ms + 0.7,
          x: across,
          y: down,
          button,
          trusted: true,
          target_tag: `x${at % 2}`,
          ...told,
        } as EventPayload;
        return asSent(JSON.parse(JSON.stringify(payload)), type as "click", ms + lag);
      });
      const joined = join(events)!;
      const bytes = Buffer.from(JSON.stringify({ session_token: null, events: joined }));
      const ways = [bytes, Buffer.from(` ${bytes}`)].map((body) => {
        const read = readBody(body);
        const batch = batchOf(read) as IngestBatch;
        return { events: batch.events, hashes: idHashesOf(read, batch) };
      });
      // The kind of element is the first one's alone.
      const facts = (each: readonly IngestEvent[]) =>
        each.map(({ request_id: _, payload: { target_tag: __, ...payload }, ...fact }) => ({ ...fact, payload }));
      t.strictSame(facts(ways[0]!.events), facts(events));
      t.strictSame(ways[1], ways[0]);
      const hashes = Array.from({ length: events.length }, (_, at) => ways[0]!.hashes.slice(2 * at, 2 * at + 2).join());
      return new Set(hashes).size === events.length;
    }),
    { numRuns: 100 },
  );
  const few = [0, 900, 1800].map((ms) => asSent({ t: ms, x: 5, y: 5, dwell: 80, off_center: 0.5 }, "click", ms));
  t.equal(join(few)!.length, 1);
  t.same(withEvents(null, join(few)!, 0), withEvents(null, few, 0), "the timeline has all of them");
});

t.test("what are no packed clicks is refused, whoever reads it", async (t) => {
  const click = { t: 5, x: 1, y: 2, dwell: 80, off_center: 0.1 };
  const refused: [string, EventPayload][] = [
    ["click", { ...click, packed_clicks: "#####" }],
    ["click", { ...click, packed_clicks: "# ####" }],
    ["click", { t: 5, packed_clicks: "######" }],
    ["mouse", { ...click, packed_clicks: "######" }],
    ["click", { ...click, x: 1e307, packed_clicks: "######" }],
    // 85 clicks.
    ["click", { ...click, packed_clicks: "######".repeat(84) }],
  ];
  for (const [type, payload] of refused) {
    const some = Array.from({ length: 16 }, (_, at) => event(`filler-${100 + at}`, {}));
    const events = [...some, { ...asSent(payload), type }];
    const body = Buffer.from(JSON.stringify({ session_token: null, events }));
    const read = batchOf(readBody(body));
    t.ok(read instanceof Refusal && read.error === "invalidPayload", JSON.stringify(payload).slice(0, 60));
    t.match((read as Refusal).message, /packed.clicks/);
  }
  for (const far of [1e300, 3.3e40, -7.7e25, 1.2e17]) {
    const body = bodyOf({ ...click, t: far, packed_clicks: "$%&'()" }, "click");
    t.strictSame(batchOf(readBody(Buffer.from(` ${body}`))), batchOf(readBody(body)), `${far} ms`);
  }
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
    ...[
      "",
      "&",
      "%#",
      "%W",
      "%#v",
      "#W",
      "#WW",
      "#WWP",
      "#PPPPPPPP##",
      "$W W",
      "#é##",
      "\\##",
      `#${"###".repeat(513)}`,
    ].map((text) => ({
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
