/**
 * Folds what scripts do in a visit that nobody touches: they click from page to page, fill in a form and send it. Counts only what all pages so far bear out:
 * one move of a pointer, one turn of a wheel, one key or press is somebody's.
 */
import type { EventPayload, IngestEvent } from "../contract/events/events.js";
import { receivedAtMs } from "../contract/values/iso-time.js";
import { restingMoves } from "./fold-pages.js";
import { F } from "./session-features.js";

/** The browser says so soon after a script's click that the page is left, or shows another view, ms. */
const leaveMs = 100;
/** Pages that forward by themselves are seldom open for so long, ms. */
const openMin = 1000;
/** Log-ins have two fields: password managers fill them in and send them while nobody touches the page. */
const fieldsMin = 3;
/** Whoever speaks to an extension that sets values has the next field's no sooner, on average, ms. */
const fieldMs = 750;

/** Looks for somebody's input. Runs before the events of a batch are folded: moves are listed behind the form that was sent after them. */
export function foldHands(n: number[], events: readonly IngestEvent[]): void {
  if (n[F.handActed] === 1) return;
  // Those of sessions that an earlier build began.
  const hasActed = n[F.clicksTrusted]! + n[F.keys]! > 0;
  if (!hasActed && !events.some((event) => isByHand(n, event))) return;
  n[F.handActed] = 1;
  // Nothing reads these any more, and what is 0 is not stored.
  for (const each of [F.restX, F.restY, F.scriptClickMs, F.scriptLeaves, F.scriptedPages]) n[each] = 0;
}

/** Folds any event; runs before the page flow, whose page so far it reads. */
export function foldUntouched(n: number[], event: IngestEvent, nowMs: number): void {
  if (n[F.handActed] === 1) return;
  const { type, payload } = event;
  if (type === "click") n[F.scriptClickMs] = receivedAtMs(event.received_at, nowMs);
  else if (type === "page") foldPage(n, event, nowMs);
  else if (type === "focus" && payload.state === "leave") {
    n[F.scriptLeaves] = isAfterClick(n, receivedAtMs(event.received_at, nowMs)) ? 1 : 0;
  } else if (type === "form") {
    // The click may have sent it.
    n[F.scriptClickMs] = 0;
    if (n[F.scriptedPages]! > 0 && isSetAtOnce(payload)) n[F.scriptedForms]! += 1;
  }
}

/** Whether the browser vouches for somebody's input; what does not say so counts as well. */
function isByHand(n: number[], { type, payload }: IngestEvent): boolean {
  switch (type) {
    case "click":
    case "touch":
    case "key":
      return payload.trusted !== false;
    case "scroll":
      return payload.scroll_input !== "none";
    case "focus":
    case "form":
      return payload.scroll_input === "wheel";
    case "mouse":
      return payload.trusted !== false && !isResting(n, payload);
    default:
      return false;
  }
}

/** A page that opens under a pointer reports it where it was on the page before. */
function isResting(n: number[], { points = [], count = points.length }: EventPayload): boolean {
  if (points.length === 0 || count > restingMoves) return false;
  for (const [, x, y] of points) {
    if (n[F.restX] === 0 && n[F.restY] === 0) {
      // As they are stored.
      n[F.restX] = Math.fround(x);
      n[F.restY] = Math.fround(y);
    } else if (n[F.restX] !== Math.fround(x) || n[F.restY] !== Math.fround(y)) return false;
  }
  return true;
}

/** Whether a script's click just now, and no form, leads away from a page that somebody could have seen. */
function isAfterClick(n: readonly number[], atMs: number): boolean {
  const sinceMs = atMs - n[F.scriptClickMs]!;
  return n[F.scriptClickMs]! > 0 && sinceMs >= 0 && sinceMs <= leaveMs && atMs - n[F.pageMs]! >= openMin;
}

/** Reloads are none: extensions that accept cookies click for their users, and pages reload for it. */
function foldPage(n: number[], { payload, received_at }: IngestEvent, nowMs: number): void {
  const isLed =
    payload.nav_type === "spa"
      ? isAfterClick(n, receivedAtMs(received_at, nowMs))
      : payload.nav_type === "navigate" && n[F.scriptLeaves] === 1;
  if (isLed) n[F.scriptedPages]! += 1;
  n[F.scriptLeaves] = 0;
  n[F.scriptClickMs] = 0;
}

/**
 * A form whose every field a script set, within a moment, in a page that no user ever activated, and that was then sent. Boxes that it ticked by clicks are
 * changes that count as nobody's text.
 */
function isSetAtOnce({ field_count: fields = 0, untouched_ms: ms, count, unkeyed, ...form }: EventPayload): boolean {
  return (
    form.submit === true &&
    form.autofill === false &&
    fields >= fieldsMin &&
    count! >= fields &&
    unkeyed! >= 2 &&
    count! - unkeyed! <= fields - 2 &&
    ms !== undefined &&
    ms >= 0 &&
    ms <= fieldMs * (fields - 1)
  );
}
