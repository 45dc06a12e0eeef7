/** Folds how a visit goes from page to page: how long each was open, and whether anything was done on it. */
import type { IngestEvent } from "../contract/events/events.js";
import { receivedAtMs } from "../contract/values/iso-time.js";
import { boundedMs } from "./event-time.js";
import { F } from "./session-features.js";

/** Nobody has seen a page that was open for less, ms. */
const quickMs = 500;
/** Moves that a page reports of a pointer that it finds resting on it. */
export const restingMoves = 3;

/** Folds any event: a page, or what is done on one. */
export function foldPageFlow(n: number[], event: IngestEvent, nowMs: number): void {
  if (event.type === "page") foldPage(n, event, nowMs);
  else if (event.type === "focus" && event.payload.state === "blur") {
    if (n[F.pageBlurMs] === 0) n[F.pageBlurMs] = receivedAtMs(event.received_at, nowMs);
  } else if (isAct(event)) n[F.pageActed] = 1;
}

/** Whether somebody may have done it: input, a form, and the page that goes on by itself. */
function isAct({ type, payload }: IngestEvent): boolean {
  switch (type) {
    case "mouse":
      // A page that opens under a resting pointer reports it.
      return (payload.count ?? payload.points?.length ?? 0) > restingMoves;
    case "click":
    case "touch":
    case "key":
    case "form":
      return true;
    case "focus":
      return payload.state === "leave";
    case "scroll":
      return payload.scroll_input !== "none";
    default:
      return false;
  }
}

/** Reloads, steps back and pages that open in the background are a person's as well: they end a row of pages and count for none. */
function foldPage(n: number[], { payload, received_at }: IngestEvent, nowMs: number): void {
  if (payload.nav_type === "spa") return;
  const at = receivedAtMs(received_at, nowMs);
  const isShown = (payload.state ?? "visible") === "visible";
  const replaces = isShown && n[F.pageShown] === 1 && payload.nav_type === "navigate";
  const openMs = at - n[F.pageMs]!;
  if (replaces && openMs >= 0 && openMs < quickMs) {
    n[F.quickPages]! += 1;
    n[F.quickPagesMax] = Math.max(n[F.quickPagesMax]!, n[F.quickPages]!);
  } else n[F.quickPages] = 0;
  // The browser's address bar takes the focus before its address is opened; browsers take it as well while they replace a page.
  const openedMs = at - boundedMs(payload.t ?? 0);
  const isActed = n[F.pageActed] === 1 || (n[F.pageBlurMs]! > 0 && n[F.pageBlurMs]! < openedMs);
  if (replaces && payload.referrer_host === undefined && !isActed) n[F.typedPages]! += 1;
  n[F.pageMs] = at;
  n[F.pageShown] = isShown ? 1 : 0;
  n[F.pageActed] = 0;
  n[F.pageBlurMs] = 0;
}
