/** Whatever is accepted folds into a session with a score, however extreme its numbers are. */
import fc from "fast-check";
import type { Test } from "tap";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { eventTypes } from "../../src/ingest/payload-kinds.js";
import { event } from "../support/batches.js";
import { holds } from "../support/property.js";
import { openIngest } from "./ingest.js";

const extremes = fc.constantFrom(0, -0, -1, 1e308, -1e308, 5e-324, 2 ** 53, -(2 ** 31), 0.1, 17, 1_000_000);
const number = fc.oneof(extremes, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
const text = fc.oneof(
  fc.string({ maxLength: 512 }),
  fc.constantFrom("", "mouse", "touch", "none", "/", "Europe/Berlin", "\ud800"),
);
const rows = (width: 2 | 3) => fc.array(fc.array(number, { minLength: width, maxLength: width }), { maxLength: 40 });

const payload = fc.record(
  {
    x: number,
    y: number,
    dx: number,
    dy: number,
    t: number,
    dt: number,
    button: number,
    pressure: number,
    radius: number,
    dwell: number,
    flight: number,
    coalesced: number,
    count: number,
    backspaces: number,
    fill_ms: number,
    field_count: number,
    visible_ms: number,
    active_ms: number,
    idle_ms: number,
    off_center: number,
    dispatch_lag: number,
    depth: fc.double({ min: 0, max: 1, noNaN: true }),
    fractional: fc.double({ min: 0, max: 1, noNaN: true }),
    direction: fc.constantFrom("up", "down", "left", "right"),
    pointer_type: text,
    path: text,
    host: text,
    target_tag: text,
    trusted: fc.boolean(),
    honeypot: fc.boolean(),
    submit: fc.boolean(),
    autofill: fc.boolean(),
    webdriver: fc.boolean(),
    points: rows(3),
    strokes: rows(2),
    languages: fc.array(text, { maxLength: 8 }),
    user_agent: text,
    platform: text,
    cpu: number,
    memory: number,
    screen_w: number,
    screen_h: number,
    inner_w: number,
    outer_w: number,
    dpr: number,
    tz_offset: number,
    webgl_renderer: text,
    ttfb: number,
    dcl: number,
    load: number,
    raf_mean: number,
    raf_sd: number,
    rtt: number,
  },
  { requiredKeys: [] },
);
const type = fc.constantFrom(...eventTypes);
const anyEvent = fc.record({ type, payload, skewMs: fc.integer({ min: -(10 ** 9), max: 10 ** 9 }) });
const visit = fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });

/** Each visit of up to four batches ends with a whole score from 1 to 99, and a store without faults. */
export async function acceptedBatchesAreScored(t: Test, numRuns: number): Promise<void> {
  const { store, owner, take } = await openIngest(t);
  const sessions = new Sessions(store);
  const start = Date.UTC(2026, 10, 21, 12);
  const seen = { batches: 0, events: 0 };
  let run = 0;
  holds(
    t,
    fc.property(visit, fc.integer({ min: -(10 ** 10), max: 10 ** 10 }), (batches, stepMs) => {
      run++;
      let token: string | null = null;
      for (const [index, some] of batches.entries()) {
        const nowMs = start + index * stepMs;
        const events = some.map(({ type, payload, skewMs }, at) => ({
          ...event(`run${run}-${index}-${String(at).padStart(4, "0")}`, payload),
          type,
          received_at: new Date(nowMs + skewMs).toISOString(),
        }));
        // biome-ignore lint/suspicious/noExplicitAny: an answer, as no batch may be refused
        const answer = take({ body: { session_token: token, events }, nowMs })[0] as any;
        if (answer.accepted !== events.length) throw new Error(JSON.stringify(answer));
        token = answer.session_token;
        const score = sessions.scoredState(owner.projectId, token!)?.score ?? 0;
        if (!Number.isInteger(score) || score < 1 || score > 99) throw new Error(`a score of ${score}`);
        seen.batches++;
        seen.events += events.length;
      }
      return true;
    }),
    { numRuns },
  );
  const { faultCount, faults } = checkStore(store);
  t.same([faultCount, faults], [0, []], "every session's features are read back as they should be");
  t.comment(JSON.stringify(seen));
}
