/** Folding: the same stream comes to the same features however it is cut, and odd times and places do no harm. */
import fc from "fast-check";
import t from "tap";
import type { EventPayload, IngestEvent } from "../../src/contract/events/events.js";
import { countFields, factFields } from "../../src/engines/feature-fields.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { turnHashes } from "../../src/engines/path-turns.js";
import { runEngines } from "../../src/engines/score.js";
import {
  F,
  newFeatures,
  packedBytes,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  unpackFeatures,
} from "../../src/engines/session-features.js";
import { eventTypes } from "../../src/ingest/payload-kinds.js";
import { holds } from "../support/property.js";
import { alone, chromeEnvironment, chromeFacts, event, folded, lastRequest, startMs, wobblyPath } from "./sessions.js";

/** What depends on requests rather than on events. */
const perRequest = [
  F.shapeSessionsMax,
  F.batches,
  F.firstSeenMs,
  F.lastSeenMs,
  F.clockSkewMin,
  F.clockSkewMax,
  F.clockSkewLast,
  F.networkHash,
  // What is told of a batch: its last event, the order in it, what opens the session.
  F.earlyEvents,
  F.stampReversals,
  F.pagelessStart,
  F.pageOrigin,
];

function ofEvents(features: SessionFeatures): number[] {
  return features.numbers.map((each, index) => (perRequest.includes(index) ? 0 : each));
}

function singleMoves(points: number, seed: number): IngestEvent[] {
  return wobblyPath(points, seed).map(([t, x, y]) => event("mouse", { t, x, y }, startMs + t));
}

t.test("one batch and many batches fold to the same features", async (t) => {
  const moves = singleMoves(300, 7);
  const events = [
    event("env", chromeEnvironment),
    ...moves.slice(0, 150),
    event("click", { x: 500, y: 500, t: 2600, dwell: 90 }, startMs + 2600),
    ...moves.slice(150),
    ...[80, 95, 70].map((dwell, index) => event("key", { dwell, flight: 120, t: 6000 + index * 200 })),
    ...[1, 2, 3].map((index) => event("scroll", { dy: 100, t: 7000 + index * 40 })),
  ];
  const whole = ofEvents(folded(events, { batchSize: 1000 }));
  for (const batchSize of [1, 3, 10, 77]) {
    t.same(ofEvents(folded(events, { batchSize })), whole, `batches of ${batchSize}`);
  }
});

t.test("packing between batches changes nothing that scoring can see", async (t) => {
  const events = singleMoves(400, 3);
  const straight = folded(events, { batchSize: 10 });
  let packed = newFeatures();
  const bytes = Buffer.alloc(packedBytesMax);
  for (let from = 0; from < events.length; from += 10) {
    foldBatch(packed, events.slice(from, from + 10), { ...chromeFacts, nowMs: startMs + from }, alone);
    packed = unpackFeatures(bytes, 0, packFeatures(packed, bytes, 0))!;
  }
  const expected = ofEvents(straight);
  for (const [index, value] of ofEvents(packed).entries()) {
    const tolerance = 1e-4 * Math.max(1, Math.abs(expected[index]!));
    if (Math.abs(value - expected[index]!) > tolerance) t.fail(`field ${index}: ${value}, not ${expected[index]}`);
  }
  t.same(runEngines(packed, lastRequest), runEngines(straight, lastRequest));
});

t.test("single moves and rows of points fold to the same path", async (t) => {
  const rows = wobblyPath(200, 5);
  const asRows = [0, 50, 100, 150].map((from) => {
    const part = rows.slice(from, from + 50);
    const t0 = part[0]![0];
    return event("mouse", { t: t0, points: part.map(([t, x, y]) => [t - t0, x, y]) });
  });
  const single = folded(rows.map(([t, x, y]) => event("mouse", { t, x, y })));
  const grouped = folded(asRows);
  for (const name of [
    "points",
    "steps",
    "pairsSame",
    "turnSum",
    "gapSum",
    "movements",
    "straightSum",
    "triplesSmooth",
  ] as const) {
    t.equal(grouped.numbers[F[name]], single.numbers[F[name]], name);
  }
});

t.test("shingles of a path are the same however it is cut, and at any speed", async (t) => {
  const rows = wobblyPath(100, 9);
  const hashesOf = (batchSize: number, pace: number) => {
    const features = newFeatures();
    const events = rows.map(([t, x, y]) => event("mouse", { t: t * pace, x: x + 31, y: y - 12 }));
    const hashes: number[] = [];
    for (let from = 0; from < events.length; from += batchSize) {
      const batch = events.slice(from, from + batchSize);
      hashes.push(...shingleHashes(features, batch));
      foldBatch(features, batch, chromeFacts, alone);
    }
    t.equal(features.numbers[F.shingles], hashes.length);
    return hashes;
  };
  const whole = hashesOf(100, 1);
  t.ok(whole.length > 20, `${whole.length} shingles`);
  t.same(hashesOf(3, 1), whole);
  t.same(hashesOf(11, 1.7), whole);
});

t.test(
  "turns of a path outlive another pace, another place, every cut, and the loss of every other point",
  async (t) => {
    const rows = wobblyPath(1200, 9);
    const hashesOf = (batchSize: number, pace: number, isKept: (index: number) => boolean) => {
      let features = newFeatures();
      const bytes = Buffer.alloc(packedBytesMax);
      const kept = rows.filter((_, index) => isKept(index));
      const events = kept.map(([t, x, y]) => event("mouse", { t: t * pace, x: x + 31, y: y - 12 }));
      const hashes: number[] = [];
      for (let from = 0; from < events.length; from += batchSize) {
        hashes.push(...turnHashes(features, events.slice(from, from + batchSize)));
        features = unpackFeatures(bytes, 0, packFeatures(features, bytes, 0))!;
      }
      t.equal(features.numbers[F.turnHashes], hashes.length);
      return hashes;
    };
    const whole = hashesOf(40, 1, () => true);
    t.ok(whole.length >= 20, `${whole.length} hashes`);
    t.same(
      hashesOf(11, 1.7, () => true),
      whole,
    );
    const known = new Set(whole);
    const thinned = hashesOf(40, 0.6, (index) => index % 2 === 0);
    const shared = thinned.filter((hash) => known.has(hash)).length;
    t.ok(shared >= 0.4 * thinned.length, `${shared} of ${thinned.length}`);
    const others = new Set(
      turnHashes(
        newFeatures(),
        wobblyPath(1200, 10).map(([t, x, y]) => event("mouse", { t, x, y })),
      ),
    );
    t.equal([...others].filter((hash) => known.has(hash)).length, 0, "another path has other turns");
  },
);

t.test("a typical session of 20 events packs into 450 bytes", async (t) => {
  const rows = wobblyPath(120, 2);
  const events = [
    event("page", { path: "/", host: "shop.example", t: 300 }),
    event("env", chromeEnvironment),
    event("timing", { ttfb: 80, dcl: 500, load: 900, raf_mean: 16.7, raf_sd: 0.8 }),
    ...[0, 1, 2, 3, 4, 5].map((index) =>
      event("mouse", {
        t: rows[index * 20]![0],
        points: rows.slice(index * 20, index * 20 + 20).map(([at, x, y]) => [at - rows[index * 20]![0], x, y]),
        coalesced: 2.1,
        fractional: 0,
        dispatch_lag: 1.2,
        movement_mismatch: 0,
        trusted: true,
      }),
    ),
    ...[1, 2, 3, 4].map((index) => event("scroll", { dy: 100 + index, t: 4000 + 90 * index, trusted: true })),
    ...[1, 2].map((index) => event("click", { x: 300, y: 200, t: 5000 * index, dwell: 80 + index, trusted: true })),
    ...[1, 2, 3].map((index) =>
      event("key", {
        t: 6000 * index,
        strokes: [
          [0, 80],
          [150, 77],
          [290, 91],
        ],
      }),
    ),
    event("heartbeat", { active_ms: 4000 }),
    event("visibility", { state: "hidden" }),
  ];
  t.equal(events.length, 20);
  const bytes = packedBytes(folded(events));
  t.ok(bytes <= 450, `${bytes} bytes`);
});

const anyTime = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -5, max: 5000 }));
const anyPlace = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -50, max: 3000 }));
const anyPayload = fc.record(
  {
    x: anyPlace,
    y: anyPlace,
    dx: anyPlace,
    dy: anyPlace,
    t: anyTime,
    dt: anyTime,
    dwell: anyTime,
    flight: anyTime,
    depth: fc.double({ min: 0, max: 1, noNaN: true }),
    count: anyTime,
    backspaces: anyTime,
    pastes: anyTime,
    fill_ms: anyTime,
    cpu: anyTime,
    inner_w: anyTime,
    points: fc.array(fc.tuple(anyTime, anyPlace, anyPlace), { maxLength: 12 }),
    strokes: fc.array(fc.tuple(anyTime, anyTime), { maxLength: 12 }),
    languages: fc.oneof(fc.string(), fc.array(fc.oneof(fc.string(), fc.boolean(), fc.integer()))),
    plugins: fc.oneof(fc.string(), fc.array(fc.string()), fc.integer(), fc.boolean()),
    native_tampered: fc.oneof(fc.string(), fc.array(fc.string()), fc.integer(), fc.boolean()),
    driver_artifacts: fc.oneof(fc.string(), fc.array(fc.string())),
  },
  { requiredKeys: [] },
);
const anyType = fc.constantFrom(...eventTypes);

/** Every number is finite; an unobserved fact is NaN. */
function areFinite(features: SessionFeatures): boolean {
  return features.numbers.every(
    (each, index) => Number.isFinite(each) || (Number.isNaN(each) && index >= countFields.length),
  );
}

t.test("times and durations near the largest number overflow nothing", async (t) => {
  const huge = 1.797e308;
  const features = newFeatures();
  const events = [
    event("key", { t: 2.69e293, strokes: [[huge, 0]] }),
    event("key", {
      t: huge,
      strokes: [
        [huge, huge],
        [-huge, huge],
      ],
    }),
    event("key", { dwell: 80, flight: huge, backspaces: huge, pastes: huge, dt: huge }),
    event("form", { count: huge, unkeyed: huge, pastes: huge, backspaces: huge }),
    event("form", { count: huge, unkeyed: huge, pastes: huge, backspaces: huge }),
    event("mouse", {
      t: huge,
      points: [
        [huge, 1, 2],
        [-huge, 3, 4],
      ],
    }),
    event("mouse", { dt: huge, dx: huge, dy: -huge }),
    event("click", { t: -huge, x: huge, y: -huge, dwell: huge }),
    event("scroll", { t: huge, dx: huge, dy: -huge }),
  ];
  foldBatch(features, events, chromeFacts, alone);
  foldBatch(features, events, chromeFacts, alone);
  t.ok(areFinite(features));
});

t.test("whatever valid events say, folding keeps every number finite and the record readable", async (t) => {
  holds(
    t,
    fc.property(fc.array(fc.tuple(anyType, anyPayload), { minLength: 1, maxLength: 30 }), (drafts) => {
      const events = drafts.map(([type, payload]) => event(type, payload as EventPayload));
      const features = newFeatures();
      shingleHashes(features, events);
      turnHashes(features, events);
      foldBatch(features, events, chromeFacts, alone);
      if (!areFinite(features)) return false;
      const bytes = Buffer.alloc(packedBytesMax);
      const read = unpackFeatures(bytes, 0, packFeatures(features, bytes, 0));
      if (read === null) return false;
      const { heuristics, js_detection, behavioral } = runEngines(read, lastRequest);
      return [heuristics, js_detection, behavioral].every(
        ({ score }) => score === null || (Number.isInteger(score) && score >= 1 && score <= 99),
      );
    }),
  );
});

t.test("a record whose numbers are all at their bounds is folded on, packed and scored", async (t) => {
  const bounds = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff, f32: 3.4e38, f64: Number.MAX_VALUE };
  const fields = [...countFields, ...factFields];
  holds(
    t,
    fc.property(
      fc.array(fc.constantFrom(0, 1, -1), { minLength: fields.length, maxLength: fields.length }),
      fc.array(fc.tuple(anyType, anyPayload), { minLength: 1, maxLength: 10 }),
      (signs, drafts) => {
        let features = newFeatures();
        for (const [position, { kind }] of fields.entries())
          features.numbers[position] = signs[position]! * bounds[kind];
        const bytes = Buffer.alloc(packedBytesMax);
        for (let round = 0; round < 3; round++) {
          const read = unpackFeatures(bytes, 0, packFeatures(features, bytes, 0));
          if (read === null) return false;
          const events = drafts.map(([type, payload]) => event(type, payload as EventPayload));
          shingleHashes(read, events);
          turnHashes(read, events);
          foldBatch(read, events, chromeFacts, alone);
          const results = Object.values(runEngines(read, lastRequest));
          if (results.some(({ score }) => score !== null && !(score >= 1 && score <= 99))) return false;
          features = read;
        }
        return true;
      },
    ),
  );
});

t.test("reports as the SDK makes them are in order, whatever the clocks do but run backwards", async (t) => {
  const opened = startMs - 400;
  const page = event("page", { path: "/", t: 120 }, opened + 120);
  const env = event("env", chromeEnvironment, startMs);
  const click = (at: number, stampedAt: number) => event("click", { t: at, x: 5, y: 5, dwell: 70 }, stampedAt);
  const read = (batches: IngestEvent[][]) => {
    const features = newFeatures();
    for (const events of batches) foldBatch(features, events, { ...chromeFacts, nowMs: startMs + 50 }, alone);
    const { numbers } = unpackFeatures(packed(features), 0, packed(features).length)!;
    return [F.earlyEvents, F.stampReversals, F.pagelessStart].map((position) => numbers[position]);
  };
  const usual = [page, env];
  t.same(read([usual, [click(1500, opened + 1510)], [click(9000, opened + 9020)]]), [0, 0, 0]);
  t.same(read([usual, [click(1500, opened + 3_600_000)]]), [0, 0, 0], "the computer slept");
  t.same(read([usual, [click(1500, opened + 900)]]), [0, 0, 0], "a clock set back by half a second");
  t.same(
    read([usual, [click(60_000, opened + 2000)], [click(90_000, opened + 2100)]]),
    [2, 0, 0],
    "a minute in a second",
  );
  const moves = event(
    "mouse",
    {
      t: 800,
      points: [
        [0, 1, 1],
        [40_000, 9, 9],
      ],
    },
    opened + 1000,
  );
  t.same(read([usual, [moves]]), [1, 0, 0], "the path ends after its stamp");
  t.same(read([usual, [click(1500, opened + 1510), click(1600, opened + 1400)]]), [0, 1, 0]);
  t.same(read([[env], [page]]), [0, 0, 1], "an environment of no page");
  t.same(read([[click(1500, opened + 1510)]]), [0, 0, 0], "a client that is not the SDK and reports what it likes");
  const older = event("page", { path: "/", t: 500_000 }, opened + 200);
  t.same(read([usual, [older], [click(499_000, opened + 300)]]), [0, 0, 0], "of two tabs, the older one counts");
});

function packed(features: SessionFeatures): Buffer {
  const record = Buffer.alloc(packedBytesMax);
  return record.subarray(0, packFeatures(features, record, 0));
}
