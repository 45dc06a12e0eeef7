/** Sessions for tests and measurements: the request of a plain Chrome, its environment, and events from pointer paths. */
import { seededRandom } from "../../scripts/live/randomness.js";
import type { EventPayload, EventType, IngestEvent, PointRow } from "../../src/contract/events/events.js";
import type { CrossSessionCounts, LastRequest } from "../../src/contract/evidence/evidence.js";
import type { RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { newFeatures, type SessionFeatures } from "../../src/engines/session-features.js";
import { ticketIn } from "../../src/ingest/start-ticket.js";

export const startMs = Date.parse("2026-11-21T12:00:00Z");

export const chromeAgent =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

/** What a Chrome on an https page sends with a batch. */
export const chromeFacts: RequestFacts = {
  nowMs: startMs,
  ip: "198.51.100.7",
  userAgent: chromeAgent,
  acceptLanguage: "en-US,en;q=0.9",
  accept: "*/*",
  acceptEncoding: "gzip, deflate, br, zstd",
  origin: "https://shop.example",
  referer: "https://shop.example/",
  secChUa: '"Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"',
  secChUaMobile: "?0",
  secChUaPlatform: '"Windows"',
  secFetchSite: "cross-site",
  secFetchMode: "cors",
  secFetchDest: "empty",
  contentType: "application/json",
};

export const chromeEnvironment: EventPayload = {
  webdriver: false,
  driver_artifacts: [],
  user_agent: chromeAgent,
  ua_brands: ["Chromium/156", "Google Chrome/156", "Not?A_Brand/99"],
  ua_mobile: false,
  platform: "Win32",
  languages: ["en-US", "en"],
  timezone: "America/New_York",
  tz_offset: 300,
  cpu: 8,
  memory: 8,
  touch_points: 0,
  plugins: 5,
  mime_types: 2,
  screen_w: 1920,
  screen_h: 1080,
  avail_w: 1920,
  avail_h: 1040,
  inner_w: 1903,
  inner_h: 937,
  outer_w: 1920,
  outer_h: 1040,
  dpr: 1,
  color_depth: 24,
  webgl_vendor: "Google Inc. (Intel)",
  webgl_renderer: "ANGLE (Intel, Intel(R) UHD Graphics 620 (0x00003EA0) Direct3D11 vs_5_0 ps_5_0, D3D11)",
  chrome_object: true,
  permissions_mismatch: false,
  notification_permission: "default",
  native_tampered: [],
  iframe_mismatch: [],
  worker_mismatch: [],
  eval_length: 33,
  stack_probe: false,
  rtt: 50,
};

export const alone: CrossSessionCounts = {
  sessionsFromIp: 1,
  sessionsWithShape: 1,
  replayedShingles: 0,
  replayedTurns: 0,
  sessionsWithEnvironment: 1,
  startTicket: null,
};

/**
 * The same for a batch of a recorded visit. Ingest checks a ticket by the project's key, which no recording has: one that came with the visit was the
 * visit's own.
 */
export const aloneAsRecorded = (events: readonly IngestEvent[]): CrossSessionCounts => ({
  ...alone,
  startTicket: ticketIn(events) === undefined ? null : "fresh",
});

export const lastRequest: LastRequest = { ip: chromeFacts.ip, userAgent: chromeAgent, path: "/", host: "shop.example" };

let count = 0;

/** An event as the SDK sends it; its id is unique within the process. */
export function event(type: EventType, payload: EventPayload, atMs = startMs): IngestEvent {
  count += 1;
  return { request_id: `event-${count}`, type, received_at: new Date(atMs).toISOString(), payload };
}

/** The events cut into batches and folded into new features, the clock of each request at its last event. */
export function folded(
  events: readonly IngestEvent[],
  { facts = chromeFacts, crossSession = alone, batchSize = 100 } = {},
): SessionFeatures {
  const features = newFeatures();
  for (let from = 0; from < events.length; from += batchSize) {
    const batch = events.slice(from, from + batchSize);
    const nowMs = Date.parse(batch[batch.length - 1]!.received_at);
    foldBatch(features, batch, { ...facts, nowMs }, crossSession);
  }
  return features;
}

/** A path with pauses, of a hand: curved, uneven in time. */
export function wobblyPath(points: number, seed = 1): PointRow[] {
  const random = seededRandom(seed);
  const rows: PointRow[] = [];
  let t = 0;
  let x = 400;
  let y = 300;
  let heading = random() * 6;
  for (let index = 0; index < points; index++) {
    const pace = 2 + 14 * random() * Math.abs(Math.sin(index / 9));
    heading += (random() - 0.5) * 0.7;
    if (x < 100 || x > 1500 || y < 100 || y > 800) heading = Math.atan2(450 - y, 800 - x);
    x = Math.round(x + pace * Math.cos(heading));
    y = Math.round(y + pace * Math.sin(heading));
    t += index % 40 === 39 ? 400 : 8 + Math.floor(random() * 10);
    rows.push([t, x, y]);
  }
  return rows;
}
