/** Pointer moves of mouse and pen, as `mouse` events of up to 256 points, or of more where they are packed. Bounded: whole stretches are skipped, never thinned. */
import type { PointRow } from "../../contract/events/events.js";
import { doc } from "../bare.js";
import type { Collector, Scene } from "../collector.js";
import { type ObservedFacts, pointRow, round } from "../recorder.js";

const rowsMax = 256;
/** Least ms between two points: finer than any training data, and an eighth of what a 1000 Hz mouse would send. */
const spacingMs = 7;
/** Points that a page may send at once, and how fast that allowance comes back. */
const allowanceMax = 3000;
const allowancePerMs = 0.02;
/** Movement is not compared across a gap: the browser may have reset its reference meanwhile. */
const comparableMs = 150;

/** True when `movementX/Y` fits the way on the screen, in CSS or in device pixels, but for rounding. */
function movementFits(event: MouseEvent, last: MouseEvent): boolean {
  return [1, devicePixelRatio, 1 / devicePixelRatio].some(
    (scale) =>
      Math.abs(event.movementX - (event.screenX - last.screenX) * scale) <= 1 + scale &&
      Math.abs(event.movementY - (event.screenY - last.screenY) * scale) <= 1 + scale,
  );
}

/** Follows the pointer. */
export const collectPointer: Collector = (scene: Scene) => {
  let last: MouseEvent | null = null;
  let allowance = allowanceMax;
  let allowedAt = 0;

  const ratio = devicePixelRatio;
  // The stretch that is being gathered: moves of one kind of pointer. Empty while `points` is.
  let points: PointRow[] = [];
  let start = 0;
  let type = "";
  let trusted = true;
  let moves = 0;
  let coalesced = 0;
  let fractional = 0;
  let zoomed = false;
  let lag = 0;
  let compared = 0;
  let mismatched = 0;

  const most = () => scene.told.rows || rowsMax;

  const drain = () => {
    if (!moves) return;
    // Otherwise than when the page told its pixels: every place may be between two then.
    zoomed ||= devicePixelRatio !== ratio || (window.visualViewport?.scale ?? 1) !== 1;
    const payload: ObservedFacts = {
      t: round(start, 1),
      points,
      count: moves,
      coalesced: round(coalesced / moves, 2),
      fractional: zoomed ? undefined : round(fractional / moves, 3),
      dispatch_lag: round(lag / moves, 1),
      movement_mismatch: round(mismatched / compared, 3),
      pointer_type: type,
      trusted,
    };
    points = [];
    moves = coalesced = fractional = lag = compared = mismatched = 0;
    scene.record("mouse", payload);
  };

  const add = (event: MouseEvent) => {
    points.push(pointRow(event.timeStamp - start, event.clientX, event.clientY));
    allowance--;
  };

  const moved = (event: MouseEvent, kind: string) => {
    const before = last;
    last = event;
    if (type !== kind || trusted !== event.isTrusted) drain();
    if (!moves) {
      allowance = Math.min(allowanceMax, allowance + (event.timeStamp - allowedAt) * allowancePerMs);
      allowedAt = event.timeStamp;
      if (allowance < rowsMax) return;
      start = event.timeStamp;
      type = kind;
      trusted = event.isTrusted;
      scene.wake();
    }
    const merged = (event as PointerEvent).getCoalescedEvents?.() ?? [];
    moves++;
    coalesced += merged.length || 1;
    // Window systems count in whole pixels or, as Wayland does, in 256ths of one.
    if (((event.clientX + event.clientY) * 256) % 1) fractional++;
    lag += performance.now() - event.timeStamp;
    if (before && event.timeStamp - before.timeStamp < comparableMs) {
      compared++;
      if (!movementFits(event, before)) mismatched++;
    }
    let at = before?.timeStamp ?? start;
    for (const each of merged) {
      const { timeStamp } = each;
      if (timeStamp > start && timeStamp - at >= spacingMs && event.timeStamp - timeStamp >= spacingMs) {
        at = timeStamp;
        if (points.length < most() - 1) add(each);
      }
    }
    add(event);
    if (points.length >= most()) drain();
  };

  scene.listen<PointerEvent>(window, "pointermove", (event) => {
    if (event.pointerType !== "touch") moved(event, event.pointerType || "none");
  });
  // Scripts that imitate a mouse often dispatch this one alone; a person's is followed by its pointer event.
  scene.listen<MouseEvent>(window, "mousemove", (event) => {
    if (!event.isTrusted) moved(event, "mouse");
  });
  scene.listen(doc, "pointerleave pointerdown pointerup", () => {
    last = null;
  });
  scene.onDrain(drain);
};
