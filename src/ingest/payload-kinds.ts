/**
 * The kind of value of each payload key, for the one-pass reader (usual-batch.ts). The types of `contract/events/events.ts` are the whitelist, and typia
 * checks them. A key without a row here does not compile; a wrong row fails the test that compares the two.
 */
import type { EventPayload, EventType } from "../contract/events/events.js";

/**
 * `share` is a number of 0 to 1, `names` a text or a list of texts, `fact` a scalar or a list of scalars, `points` and `strokes` lists of
 * rows of three and of two numbers, `packed` the first of them as a text, `clicks` a text that stands for more events.
 */
export type PayloadKind =
  | "number"
  | "share"
  | "boolean"
  | "text"
  | "textOrNumber"
  | "names"
  | "fact"
  | "direction"
  | "points"
  | "packed"
  | "clicks"
  | "strokes";

/** The kind of each known payload key; an unknown key refuses the batch. */
export const payloadKinds: Readonly<Record<keyof EventPayload, PayloadKind>> = {
  path: "text",
  host: "text",
  referrer_host: "text",
  title_hash: "textOrNumber",
  state: "text",
  visible_ms: "number",
  active_ms: "number",
  idle_ms: "number",
  nav_type: "text",
  x: "number",
  y: "number",
  dx: "number",
  dy: "number",
  t: "number",
  dt: "number",
  button: "number",
  buttons: "number",
  pressure: "number",
  radius: "number",
  pointer_type: "text",
  trusted: "boolean",
  dwell: "number",
  coalesced: "number",
  fractional: "share",
  dispatch_lag: "number",
  movement_mismatch: "share",
  target_tag: "text",
  packed_clicks: "clicks",
  off_center: "number",
  depth: "share",
  direction: "direction",
  scroll_input: "text",
  points: "points",
  packed_points: "packed",
  flight: "number",
  strokes: "strokes",
  count: "number",
  backspaces: "number",
  pastes: "number",
  field_count: "number",
  fill_ms: "number",
  autofill: "boolean",
  honeypot: "boolean",
  submit: "boolean",
  unkeyed: "number",
  webdriver: "boolean",
  driver_artifacts: "names",
  agent_marks: "names",
  lone_activations: "number",
  exact_clicks: "number",
  hidden_acts: "number",
  shared_focus: "number",
  unpaired_keys: "number",
  placed_texts: "number",
  user_agent: "text",
  ua_brands: "names",
  ua_mobile: "boolean",
  platform: "text",
  languages: "names",
  timezone: "text",
  tz_offset: "number",
  cpu: "number",
  memory: "number",
  touch_points: "number",
  plugins: "fact",
  mime_types: "fact",
  screen_w: "number",
  screen_h: "number",
  avail_w: "number",
  avail_h: "number",
  inner_w: "number",
  inner_h: "number",
  outer_w: "number",
  outer_h: "number",
  dpr: "number",
  color_depth: "number",
  webgl_vendor: "text",
  webgl_renderer: "text",
  chrome_object: "fact",
  permissions_mismatch: "fact",
  notification_permission: "text",
  native_tampered: "fact",
  iframe_mismatch: "fact",
  worker_mismatch: "fact",
  eval_length: "number",
  stack_probe: "fact",
  rtt: "number",
  any_pointer: "names",
  ua_platform: "text",
  ua_architecture: "text",
  ua_bitness: "text",
  ua_full_version: "text",
  system_fonts: "names",
  start_ticket: "text",
  ttfb: "number",
  dcl: "number",
  load: "number",
  raf_mean: "number",
  raf_sd: "number",
};

const types: Readonly<Record<EventType, true>> = {
  page: true,
  visibility: true,
  focus: true,
  heartbeat: true,
  mouse: true,
  click: true,
  touch: true,
  scroll: true,
  key: true,
  form: true,
  env: true,
  timing: true,
};

/** Every type of `EventType`, in the order of its table here. */
export const eventTypes = Object.keys(types) as readonly EventType[];

const directionNames: Readonly<Record<NonNullable<EventPayload["direction"]>, true>> = {
  up: true,
  down: true,
  left: true,
  right: true,
};

/** The allowed values of `direction` in a payload. */
export const directions = Object.keys(directionNames);
