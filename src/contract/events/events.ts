/**
 * The ingest batch in the clients' form (`docs/events.md`). These types are the only whitelist of event types and payload keys: `validators.ts`
 * compiles them to checks; the OpenAPI document and the SDK derive from them.
 */
import type { tags } from "typia";

/** Every type that an ingest batch may hold; another one refuses the batch. */
export type EventType =
  | "page"
  | "visibility"
  | "focus"
  | "heartbeat"
  | "mouse"
  | "click"
  | "touch"
  | "scroll"
  | "key"
  | "form"
  | "env"
  | "timing";

/** A pattern that shows in the schema and is checked elsewhere. */
type Documented<Pattern extends string> = tags.JsonSchemaPlugin<{ pattern: Pattern }>;
type Text = string & tags.MaxLength<512>;
type Scalar = boolean | number | Text;
/** A fact about the environment: its form differs between browsers and SDK versions, so any scalar or list of scalars is accepted. */
type Fact = Scalar | (Scalar[] & tags.MaxItems<64>);
type Names = Text | (Text[] & tags.MaxItems<64>);

/** Row of a pointer path: `[t, x, y]`, t in ms since the first row, x and y in CSS pixels of the viewport. */
export type PointRow = [t: number, x: number, y: number];
/** Row of a typing rhythm: `[t, dwell]` in ms; never which key. */
export type StrokeRow = [t: number, dwell: number];

/**
 * The payload of any event. One whitelist serves all types, so a known key in an event of another type does not refuse the batch.
 * Every key is optional: absent means "not observed", which differs from an observed `false` or 0.
 */
export interface EventPayload {
  // Accepted because the specification lists them, but unused on the server: `title_hash`, `visible_ms`, `active_ms`, `idle_ms`,
  // `target_tag`, `webgl_vendor` and `dcl`.

  // page
  /** Path of the page, without its query. */
  path?: Text;
  /** Host of the page. */
  host?: Text;
  /** Host, and only the host, of the page before. */
  referrer_host?: Text;
  /** A hash of the page's title; accepted, but the SDK sends none. */
  title_hash?: Text | number;
  /** `document.visibilityState`, or the focus state; `leave` where the page itself goes to another one. */
  state?: Text;
  /** How long the page was visible, ms; accepted, but the SDK sends none. */
  visible_ms?: number;
  /** How long there was input, ms; accepted, but the SDK sends none. */
  active_ms?: number;
  /** How long there was no input, ms; accepted, but the SDK sends none. */
  idle_ms?: number;
  /** `PerformanceNavigationTiming.type`, or `spa` for a navigation without a load. */
  nav_type?: Text;

  // pointer; x and y in CSS pixels of the viewport
  /** CSS pixels from the left of the viewport. */
  x?: number;
  /** CSS pixels from the top of the viewport. */
  y?: number;
  /** CSS pixels to the right of the position before. */
  dx?: number;
  /** CSS pixels below the position before. */
  dy?: number;
  /** Time of the event, or of the first row of `points`: ms since the page was opened (`performance.now()`). */
  t?: number;
  /** ms since the event before it. */
  dt?: number;
  /** Number of the button. */
  button?: number;
  /** Buttons held, as a bit mask. */
  buttons?: number;
  /** Of a pen or finger, 0 to 1. */
  pressure?: number;
  /** Of a finger's contact, CSS pixels. */
  radius?: number;
  /** `mouse`, `pen` or `touch`; `none` for a click that no pointer made (a key, a label, a script). */
  pointer_type?: Text;
  /** `Event.isTrusted`. */
  trusted?: boolean;
  /** ms between down and up, of a button or of a key. */
  dwell?: number;
  /** Mean count of coalesced events behind each pointer move of this event. */
  coalesced?: number;
  /** Share of pointer moves of this event whose coordinates are no whole pixels nor 256ths of one, which Wayland sends. */
  fractional?: number & tags.Minimum<0> & tags.Maximum<1>;
  /** Mean ms between `Event.timeStamp` and the handler. */
  dispatch_lag?: number;
  /** Share of pointer moves whose `movementX/Y` disagrees with the difference of their screen positions. */
  movement_mismatch?: number & tags.Minimum<0> & tags.Maximum<1>;
  /** Kind of the element that was hit, such as `button`; never what it says. */
  target_tag?: Text;
  /** Clicks after this one: see `contract/events/packed-clicks.ts`. Decoding puts them behind it as events. */
  packed_clicks?: Text;
  /** How far a click was from the middle of its target: 0 the middle, 1 the edge of its box. */
  off_center?: number;
  /** How far the page is scrolled, 0 top to 1 bottom. */
  depth?: number & tags.Minimum<0> & tags.Maximum<1>;
  /** Where a scroll went. */
  direction?: "up" | "down" | "left" | "right";
  /**
   * The input that preceded a scroll burst: `wheel`, `touch`, `key`, `pointer`, or `none` for a script (or a restored position). Of a form, and of a page that
   * goes to another one, the last input to the page: a wheel may turn where nothing scrolls, or a part of the page does.
   */
  scroll_input?: Text;
  /** The path of the pointer or finger. */
  points?: PointRow[] & tags.MaxItems<256>;
  /** The same as a text: see `contract/events/packed-points.ts`. Decoding puts `points` in its place. */
  packed_points?: string & tags.MaxLength<8192>;

  // keyboard and forms: timings only, never content or which key
  /** ms between the release of the key before it and this press. */
  flight?: number;
  /** The typing rhythm: presses since the first one. */
  strokes?: StrokeRow[] & tags.MaxItems<256>;
  /** Presses of a `key` event; moves of a `mouse`, changes of a `form`, fingers of a `touch`, steps of a `scroll` event. */
  count?: number;
  /** How many times something was deleted. */
  backspaces?: number;
  /** How many times something was pasted, but by a context menu; never what. */
  pastes?: number;
  /** How many fields of a form were touched. */
  field_count?: number;
  /** How long filling in the form took, ms. */
  fill_ms?: number;
  /**
   * ms from the first change of a form to the last, where the page has never been activated by a key, a press or a touch, nor has the page of the site
   * that led to it (`userActivation.hasBeenActive`). Absent where it has, and where the browser does not tell.
   */
  untouched_ms?: number;
  /** The browser filled a field in. */
  autofill?: boolean;
  /** True when a field that people can't see was filled in. */
  honeypot?: boolean;
  /** The form was sent. */
  submit?: boolean;
  /** Changes of text fields that no key, paste, drop or autofill of the browser explains: a script, or a password manager. */
  unkeyed?: number;

  // environment
  /** `navigator.webdriver`. */
  webdriver?: boolean;
  /** Names of globals and properties that automation drivers leave behind, such as `cdc_` or `__playwright`. */
  driver_artifacts?: Names;
  /** Marks of agents that are in the page, as `element:claude-phantom-cursor*`: kind, colon, and the value that the list gives. */
  agent_marks?: Names;
  /**
   * Times since the last report at which the page had a user's activation, and nothing in it explains that. With `x` and `y` where a move of the pointer
   * found it so, before anybody had touched the page.
   */
  lone_activations?: number;
  /** Presses in the very middle of their target, by a mouse that moved twice at most since the press before. */
  exact_clicks?: number;
  /** Presses and keys in a page that was hidden. */
  hidden_acts?: number;
  /** Times at which another tab of the site had the focus together with this one. */
  shared_focus?: number;
  /** Printing keys that were pressed again without a release, or released again without a press. */
  unpaired_keys?: number;
  /**
   * Fields into which the browser put three characters and more in one piece, within half a second of their focus and without a key since. Neither a press
   * nor a key led to them. The text came sooner than anybody speaks it: within 300 ms and 40 ms for each character. Which text is not told.
   */
  placed_texts?: number;
  /** The same where a press or a key led to the field, and all such texts of the page together came sooner than anybody speaks them. */
  led_texts?: number;
  /** As `led_texts`, but later than half a second after the focus, whatever led to the field. */
  late_texts?: number;
  /** `navigator.userAgent`. */
  user_agent?: Text;
  /** Brands of `navigator.userAgentData`, as `Chromium/156`. */
  ua_brands?: Names;
  /** `navigator.userAgentData.mobile`. */
  ua_mobile?: boolean;
  /** `navigator.platform`. */
  platform?: Text;
  /** `navigator.languages`. */
  languages?: Names;
  /** The time zone's name. */
  timezone?: Text;
  /** `Date.getTimezoneOffset()`: minutes, positive west of UTC. */
  tz_offset?: number;
  /** `navigator.hardwareConcurrency`. */
  cpu?: number;
  /** `navigator.deviceMemory`, as coarse as the browser gives it. */
  memory?: number;
  /** `navigator.maxTouchPoints`. */
  touch_points?: number;
  /** Count (or names) of `navigator.plugins`. */
  plugins?: Fact;
  /** Count (or names) of `navigator.mimeTypes`. */
  mime_types?: Fact;
  /** Width of the screen. */
  screen_w?: number;
  /** Height of the screen. */
  screen_h?: number;
  /** Width that windows may have. */
  avail_w?: number;
  /** Height that windows may have. */
  avail_h?: number;
  /** Width of the viewport. */
  inner_w?: number;
  /** Height of the viewport. */
  inner_h?: number;
  /** Width of the window. */
  outer_w?: number;
  /** Height of the window. */
  outer_h?: number;
  /** Device pixels per CSS pixel. */
  dpr?: number;
  /** Bits per pixel. */
  color_depth?: number;
  /** Name of the graphics vendor; nothing is drawn. */
  webgl_vendor?: Text;
  /** Name of the renderer, to tell software rendering; nothing is drawn. */
  webgl_renderer?: Text;
  /** Whether `window.chrome` exists. */
  chrome_object?: Fact;
  /** True when `Notification.permission` and `permissions.query` contradict each other. */
  permissions_mismatch?: Fact;
  /** `Notification.permission`. */
  notification_permission?: Text;
  /** Names of natives that are no longer native code, such as `navigator.webdriver`; or whether there are any. */
  native_tampered?: Fact;
  /** Names of properties that differ in a new same-origin iframe, such as `webdriver` or `languages`; or whether any does. */
  iframe_mismatch?: Fact;
  /** The same for a worker. */
  worker_mismatch?: Fact;
  /** `eval.toString().length`: 33 in Chromium, 37 in Firefox and Safari. */
  eval_length?: number;
  /**
   * True when an attached debugger protocol client, or open developer tools, read a trap: getters of an error passed to the
   * console.
   */
  stack_probe?: Fact;
  /** `navigator.connection.rtt` in ms. */
  rtt?: number;

  /** What the browser's media queries say about its pointers: `fine`, `coarse`, `hover`; empty: it reports none. */
  any_pointer?: Names;
  /** `userAgentData.platform`. */
  ua_platform?: Text;
  /** High-entropy client hints; an empty string is what the browser returned. */
  ua_architecture?: Text;
  /** `bitness` of the client hints. */
  ua_bitness?: Text;
  /** `uaFullVersion` of the client hints. */
  ua_full_version?: Text;
  /** Operating systems of which at least one font family is installed: `windows`, `mac`, `linux`. */
  system_fonts?: Names;
  /** A start ticket, see `POST /v1/start-tickets`. */
  start_ticket?: Text;

  // timing, ms
  /** Time to the first byte, ms. */
  ttfb?: number;
  /** Time to DOMContentLoaded, ms. */
  dcl?: number;
  /** Time to the load event, ms. */
  load?: number;
  /** Mean time between animation frames, ms. */
  raf_mean?: number;
  /** Standard deviation of the time between animation frames, ms. */
  raf_sd?: number;
}

// The pattern is for readers and generated documents; `checkBatch` enforces it, because typia would compile it again for every event.
/** ISO-8601 date and time, in UTC if it names no zone. */
type Timestamp = string &
  Documented<"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?$">;

/** One event of a batch; a key beside these refuses the batch. */
export interface IngestEvent {
  /** Per-event id, unique within its session; a repeat counts once. */
  request_id: string & Documented<"^[A-Za-z0-9_-]{8,64}$">;
  type: EventType;
  received_at: Timestamp;
  payload: EventPayload;
}

/** 1 to 100 events; unknown keys of an event or of its payload are refused. */
export type IngestEvents = IngestEvent[] & tags.MinItems<1> & tags.MaxItems<100>;

/** Body of `POST /v1/events`. Unknown keys beside these are ignored. */
export interface IngestBatch {
  /** null on first contact. The answer has a new token then, and also if this one can't be used any more. */
  session_token: string | null;
  events: IngestEvents;
  /** Alternative to the header `X-Service-Site-Key`. */
  site_key?: string;
  /** Alternative to the header `Idempotency-Key`, which a beacon can't send: 1 to 255 characters. The header wins. */
  idempotency_key?: string;
}

/** Body of the 202. */
export interface IngestAnswer {
  session_token: string;
  /** Events newly recorded. */
  accepted: number;
  /** Events recognised by `request_id` and not counted again. */
  duplicates: number;
  /** Present and true only from the batch that takes the account above its monthly quota. */
  over_quota?: true;
}
