/** Rhythm of typing: what hands do from key to key, and what delays drawn by lot do. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import type { EventPayload, IngestEvent, StrokeRow } from "../../src/contract/events/events.js";
import { combine, runEngines } from "../../src/engines/score.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { event, folded, lastRequest, startMs } from "./sessions.js";

const unvaried = 300211;
const byLot = 300212;

/** Holds, and times from press to press, in ms. */
type Press = readonly [dwell: number, toNext: number];
type Typist = (random: () => number, key: number) => Press;

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const programs: Record<string, Typist> = {
  "delays between two bounds": (random) => {
    const dwell = 60 + 60 * random();
    return [dwell, dwell + 50 + 100 * random()];
  },
  "normal delays": (random) => {
    const dwell = 100 + 12 * normal(random);
    return [dwell, dwell + Math.max(5, 120 + 40 * normal(random))];
  },
  "log-normal delays": (random) => {
    const dwell = 90 * Math.exp(0.2 * normal(random));
    return [dwell, dwell + 90 * Math.exp(0.45 * normal(random))];
  },
};

/** Presses that wait for no key to come up, fast inside a word and slow after it. */
const hand: Typist = (random, key) => {
  const dwell = Math.max(30, 110 + 35 * normal(random));
  const pause = key % 6 === 5 ? 260 + 500 * random() : 0;
  return [dwell, 45 + 80 * Math.exp(0.4 * normal(random)) + pause];
};

/** The times from release to press of that hand, drawn one by one, whatever the hold. */
const drawn: Typist = (random, key) => {
  const [dwell] = hand(random, key);
  const [other, toNext] = hand(random, Math.floor(1000 * random()));
  return [dwell, Math.max(4, dwell + toNext - other)];
};

function strokesOf(typist: Typist, keys: number, seed: number): StrokeRow[] {
  const random = seededRandom(seed);
  let at = 0;
  return Array.from({ length: keys }, (_, key) => {
    const [dwell, toNext] = typist(random, key);
    const row: StrokeRow = [Math.round(at), Math.round(dwell)];
    at += toNext;
    return row;
  });
}

function typed(payload: EventPayload): IngestEvent {
  return event("key", payload, startMs + (payload.t ?? 0));
}

function inOneEvent(strokes: readonly StrokeRow[]): IngestEvent[] {
  return [typed({ t: 500, strokes: [...strokes], count: strokes.length, trusted: true })];
}

const fired = (events: readonly IngestEvent[]) => combine(runEngines(folded(events), lastRequest)).detectionIds;

t.test("delays drawn from one distribution are told, whatever it is", async (t) => {
  for (const [name, typist] of Object.entries(programs)) {
    for (let seed = 1; seed <= 5; seed++) {
      t.ok(fired(inOneEvent(strokesOf(typist, 120, seed))).includes(unvaried), `${name}, seed ${seed}`);
    }
  }
});

t.test("a hand is not, however much it types", async (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const ids = fired(inOneEvent(strokesOf(hand, 240, seed)));
    t.notOk(ids.includes(unvaried) || ids.includes(byLot), `seed ${seed}`);
  }
});

t.test("a hand's own times, drawn one by one, are told", async (t) => {
  const told = Array.from({ length: 20 }, (_, seed) => fired(inOneEvent(strokesOf(drawn, 220, seed))).includes(byLot));
  t.ok(told.filter(Boolean).length >= 10, `${told.filter(Boolean).length} of 20`);
});

t.test("too few keys say nothing", async (t) => {
  t.notOk(fired(inOneEvent(strokesOf(programs["normal delays"]!, 40, 1))).includes(unvaried));
  t.notOk(fired(inOneEvent(strokesOf(drawn, 90, 1))).includes(byLot));
});

t.test("it is the same in one event, in many, and key by key", async (t) => {
  const strokes = strokesOf(hand, 130, 3);
  const parts = [0, 40, 80].map((from, index, starts) => {
    const rows = strokes.slice(from, starts[index + 1] ?? strokes.length);
    const first = rows[0]![0];
    return typed({ t: 500 + first, strokes: rows.map(([at, dwell]): StrokeRow => [at - first, dwell]), trusted: true });
  });
  const single = strokes.map(([at, dwell]) => typed({ t: 500 + at, dwell, trusted: true }));
  const rhythm = (events: readonly IngestEvent[]) => {
    const { keyPairs, pressVariation, keyPauseShare, keyOverlapShare, closeKeyShare, holdGapCorrelation } = evidenceOf(
      folded(events, { batchSize: 20 }),
      lastRequest,
    );
    return { keyPairs, pressVariation, keyPauseShare, keyOverlapShare, closeKeyShare, holdGapCorrelation };
  };
  const whole = rhythm(inOneEvent(strokes));
  t.ok(whole.keyPairs! >= 120 && whole.holdGapCorrelation! < -0.2, JSON.stringify(whole));
  t.same(rhythm(parts), whole);
  t.same(rhythm(single), whole);
});

t.test("wild times leave numbers", async (t) => {
  const wild = [0, 1e300, -1e300, 5, Number.MAX_VALUE, 7];
  const events = Array.from({ length: 120 }, (_, index) =>
    event("key", {
      t: wild[index % 6]!,
      dwell: wild[(index * 5) % 6]!,
      strokes: [[wild[(index * 7) % 6]!, wild[index % 5]!]],
    }),
  );
  const { numbers } = folded(events);
  t.ok(numbers.every((each) => Number.isNaN(each) || Number.isFinite(each)));
});
