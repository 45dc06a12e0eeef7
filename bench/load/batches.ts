/** Ingest bodies as the browser SDK sends them, with the places of what differs from batch to batch. Built once, patched per request. */
import type { EventPayload, EventType } from "../../src/contract/events/events.js";

/** A UUID's length: what the SDK's request ids and idempotency keys look like. */
const uniqueLength = 36;

/** Writes unique ids: nothing else in this process or another gets the same. */
export class UniqueIds {
  readonly #head: Buffer;
  #count = 0;

  /** `shape`: a UUID, or the 16 digits of an event. */
  constructor(random: () => number = Math.random, shape: "uuid" | "event" = "uuid") {
    const digits = Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
    const uuid = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-8000-000000000000`;
    this.#head = Buffer.from(shape === "uuid" ? uuid : `${digits.slice(0, 8)}00000000`);
  }

  /** The next, at `at`. */
  write(into: Buffer, at: number): void {
    this.#head.copy(into, at);
    let rest = this.#count++;
    for (let index = at + this.#head.length - 1; rest > 0; index--) {
      const digit = rest % 16;
      into[index] = digit < 10 ? 48 + digit : 87 + digit;
      rest = (rest - digit) / 16;
    }
  }

  next(): string {
    const bytes = Buffer.alloc(this.#head.length);
    this.write(bytes, 0);
    return bytes.toString("latin1");
  }
}

const placeholder = "0".repeat(uniqueLength);
/** As long as the ids of the SDK's events, and as a site key that verdictd mints. */
export const eventIdPlaceholder = "0".repeat(16);
export const siteKeyPlaceholder = `pk_${"0".repeat(43)}`;
/** As long as a token that verdictd mints. */
export const tokenPlaceholder = `sess_${"A".repeat(28)}`;

/**
 * A hand's path: `count` rows about a frame apart, fast in the middle and slow at its ends, bent, with three digits a coordinate. The
 * last digits of y are varied per request (`jitterPlaces`), so that no path is a recording of another.
 */
function path(count: number, seed: number): [number, number, number][] {
  const rows: [number, number, number][] = [];
  let t = 0;
  const [reach, lift, bend] = [140 + ((seed * 37) % 180), ((seed * 53) % 160) - 80, 12 + (seed % 23)];
  for (let index = 0; index < count; index++) {
    const progress = (1 - Math.cos((Math.PI * index) / (count - 1))) / 2;
    const x = 180 + ((seed * 71) % 400) + reach * progress + 2 * Math.sin(index * 1.7 + seed);
    const y = 300 + ((seed * 29) % 200) + lift * progress + bend * Math.sin(Math.PI * progress);
    rows.push([Math.round(t), Math.round(x), Math.round(y)]);
    t += 15 + ((seed * 13 + index * 7) % 5);
  }
  return rows;
}

/** Payloads of a visit in progress, in turn: about 250 bytes an event with its envelope. */
const inTurn: ((seed: number) => readonly [EventType, EventPayload])[] = [
  (seed) => ["mouse", { t: 1000 + seed * 90, points: path(9, seed), count: 9, coalesced: 1.4, pointer_type: "mouse" }],
  (seed) => ["mouse", { t: 1900 + seed * 90, points: path(7, seed + 1), count: 7, fractional: 0, trusted: true }],
  (seed) => ["scroll", { t: 2500 + seed, dy: 320 + (seed % 90), depth: 0.31, direction: "down", count: 6 }],
  (seed) => ["mouse", { t: 3200 + seed * 90, points: path(11, seed + 2), count: 11, coalesced: 1.2, trusted: true }],
  (seed) => ["click", { t: 4100 + seed, x: 412, y: 305 + (seed % 60), dwell: 84, button: 0, target_tag: "button" }],
  (seed) => ["key", { count: 5, strokes: [0, 141, 262, 420, 555].map((t, i) => [t, 71 + ((seed + i * 7) % 40)]) }],
  (seed) => ["mouse", { t: 5000 + seed * 90, points: path(8, seed + 3), count: 8, dispatch_lag: 0.4, trusted: true }],
  () => ["heartbeat", { visible_ms: 15_000, active_ms: 9_200, idle_ms: 5_800 }],
  (seed) => ["scroll", { t: 6100 + seed, dy: -180, depth: 0.22, direction: "up", scroll_input: "wheel", count: 4 }],
  (seed) => ["page", { path: `/products/item-${seed % 97}`, host: "shop.example", state: "visible", nav_type: "spa" }],
];

/** Text of a batch of `size` events; `seed` varies its movement. Ids and token are placeholders of their final length. */
export function batchText(size: number, seed: number, firstContact: boolean): string {
  const events = Array.from({ length: size }, (_, index) => {
    const [type, payload] = inTurn[index % inTurn.length]!(seed + Math.floor(index / inTurn.length));
    return { request_id: placeholder, type, received_at: new Date().toISOString(), payload };
  });
  return JSON.stringify({ session_token: firstContact ? null : tokenPlaceholder, events });
}

/** Where each occurrence of an id's placeholder starts. */
export function idPlaces(bytes: Buffer, id = placeholder): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(id); at !== -1; at = bytes.indexOf(id, at + id.length)) {
    places.push(at);
  }
  return places;
}

/** Where the last digit of each path row's y stands: rows look like `[33,412,305]` or `[33.2,412.25,305]`. */
export function jitterPlaces(bytes: Buffer): number[] {
  const places: number[] = [];
  for (const { index, 0: row } of bytes.toString("latin1").matchAll(/\[[\d.]+,[\d.]+,[\d.]+\]/g)) {
    places.push(index + row.length - 2);
  }
  return places;
}

/** Changes these digits by up to two, so that no path is a recording of another. */
export function jitter(bytes: Buffer, places: readonly number[]): void {
  let noise = (Math.random() * 0x7fffffff) | 0;
  for (const at of places) {
    noise = (noise * 1103515245 + 12345) & 0x7fffffff;
    bytes[at] = 48 + ((bytes[at]! - 48 + ((noise >> 16) % 3)) % 10);
  }
}

/** For headers that carry a unique id. */
export const idPlaceholder = placeholder;
