/**
 * Events as somebody makes them up who has read the API and never opened a browser: plausible kinds and numbers at random. What
 * the plain HTTP clients of the measurement post.
 */
import type { EventPayload, EventType, IngestEvent, PointRow, StrokeRow } from "../../src/contract/events/events.js";
import { between, integerBetween, type Random } from "./randomness.js";

/** How a made-up path goes: to random neighbours, along a smooth curve with a little noise, or from anywhere to anywhere. */
export type MadeUpPath = "wandering" | "smooth" | "scattered";

/** What the client claims to be. */
interface ClaimedBrowser {
  readonly userAgent: string;
  readonly majorVersion: string;
}

function event(random: Random, type: EventType, payload: EventPayload): IngestEvent {
  const id = Array.from({ length: 24 }, () => integerBetween(random, 0, 35).toString(36)).join("");
  return { request_id: id, type, received_at: new Date().toISOString(), payload };
}

/** Facts copied from a browser's environment report. */
function copiedEnvironment({ userAgent, majorVersion }: ClaimedBrowser): EventPayload {
  return {
    webdriver: false,
    driver_artifacts: [],
    user_agent: userAgent,
    ua_brands: [`Chromium/${majorVersion}`, "Not A(Brand/24", `Google Chrome/${majorVersion}`],
    ua_mobile: false,
    platform: "Linux x86_64",
    languages: ["en-US", "en"],
    timezone: "Europe/Berlin",
    tz_offset: -60,
    cpu: 8,
    memory: 8,
    touch_points: 0,
    plugins: 5,
    mime_types: 2,
    screen_w: 1920,
    screen_h: 1080,
    avail_w: 1920,
    avail_h: 1053,
    inner_w: 1905,
    inner_h: 951,
    outer_w: 1920,
    outer_h: 1053,
    dpr: 1,
    color_depth: 24,
    webgl_vendor: "Google Inc. (Intel)",
    webgl_renderer: "ANGLE (Intel, Mesa Intel(R) UHD Graphics 620 (KBL GT2), OpenGL 4.6)",
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
}

function wander(random: Random): PointRow[] {
  let [t, x, y] = [0, integerBetween(random, 100, 900), integerBetween(random, 100, 600)];
  return Array.from({ length: 30 }, (): PointRow => {
    t += integerBetween(random, 10, 40);
    x += integerBetween(random, -25, 30);
    y += integerBetween(random, -20, 25);
    return [t, Math.abs(x), Math.abs(y)];
  });
}

function scatter(random: Random): PointRow[] {
  let t = 0;
  return Array.from({ length: 30 }, (): PointRow => {
    t += integerBetween(random, 40, 180);
    return [t, integerBetween(random, 0, 1200), integerBetween(random, 0, 800)];
  });
}

const pathMakers = { wandering: wander, smooth: curve, scattered: scatter } as const satisfies Record<
  MadeUpPath,
  (random: Random) => PointRow[]
>;

function curve(random: Random): PointRow[] {
  const from = { x: integerBetween(random, 60, 500), y: integerBetween(random, 60, 300) };
  const to = { x: integerBetween(random, 500, 1200), y: integerBetween(random, 300, 800) };
  const bend = between(random, -120, 120);
  let t = 0;
  return Array.from({ length: 30 }, (_, index): PointRow => {
    const share = index / 29;
    const eased = share * share * (3 - 2 * share);
    t += integerBetween(random, 12, 22);
    return [
      t,
      Math.round(from.x + (to.x - from.x) * eased + between(random, -1.5, 1.5)),
      Math.round(from.y + (to.y - from.y) * eased + bend * Math.sin(Math.PI * eased) + between(random, -1.5, 1.5)),
    ];
  });
}

/** Three batches of a visit: the page, then moves and clicks, then typing and scrolling. `claimed` adds an environment report. */
export function madeUpBatches(
  random: Random,
  host: string,
  path: MadeUpPath,
  claimed: ClaimedBrowser | null,
): IngestEvent[][] {
  const points = pathMakers[path];
  const moves = (t: number) =>
    event(random, "mouse", { t, points: points(random), count: 30, pointer_type: "mouse", trusted: true });
  const click = (t: number) =>
    event(random, "click", {
      t,
      x: integerBetween(random, 50, 900),
      y: integerBetween(random, 50, 700),
      dwell: integerBetween(random, 50, 150),
      button: 0,
      trusted: true,
      target_tag: "button",
      pointer_type: "mouse",
    });
  let at = 0;
  const strokes = Array.from({ length: 20 }, (): StrokeRow => {
    at += integerBetween(random, 80, 200);
    return [at, integerBetween(random, 40, 110)];
  });
  return [
    [
      event(random, "page", { path: "/lamps", host, state: "visible", nav_type: "navigate", t: 120 }),
      ...(claimed === null ? [] : [event(random, "env", copiedEnvironment(claimed))]),
      event(random, "timing", { ttfb: between(random, 20, 90), dcl: 310, load: 480, raf_mean: 16.67, raf_sd: 0.4 }),
    ],
    [moves(1200), click(2300), moves(2600), click(3500), moves(3700), click(4800)],
    [
      event(random, "key", { t: 5200, strokes, count: 20, backspaces: 1, trusted: true }),
      event(random, "scroll", { t: 7900, dy: 600, depth: 0.4, direction: "down", count: 8, scroll_input: "wheel" }),
    ],
  ];
}
