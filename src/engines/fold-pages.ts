/** Folds how a visit goes from page to page: how long each was open, and whether anything was done on it. */
import type { IngestEvent } from "../contract/events.js";
import { receivedAtMs } from "../contract/iso-time.js";
import { F } from "./session-features.js";

/** Nobody has seen a page that was open for less, ms. */
const quickMs = 500;

/** Folds any event: a page, or what is done on one. */
export function foldPageFlow(n: number[], event: IngestEvent, nowMs: number): void {
  if (event.type === "page") foldPage(n, event, nowMs);
  else if (isAct(event)) n[F.pageActed] = 1;
}

/** Whether somebody may have done it: input, a form, and whatever takes the focus away, such as the browser's address bar. */
function isAct({ type, payload }: IngestEvent): boolean {
  switch (type) {
    case "mouse":
    case "click":
    case "touch":
    case "key":
    case "form":
      return true;
    case "focus":
      return payload.state === "blur";
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
  if (replaces && payload.referrer_host === undefined && n[F.pageActed] === 0) n[F.typedPages]! += 1;
  n[F.pageMs] = at;
  n[F.pageShown] = isShown ? 1 : 0;
  n[F.pageActed] = 0;
}
