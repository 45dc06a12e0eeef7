/** Touches: one `touch` event a gesture, with the first finger's path. */
import type { PointRow } from "../../contract/events/events.js";
import type { Collector } from "../collector.js";
import { pointRow, round } from "../recorder.js";

const rowsMax = 256;
const spacingMs = 14;

/** Follows gestures, from the first finger down to the last finger up. */
export const collectTouch: Collector = (scene) => {
  let first: Touch | null = null;
  let start = 0;
  let points: PointRow[] = [];
  let fingers = 0;
  let trusted = true;

  const add = (touch: Touch, at: number) => {
    points.push(pointRow(at - start, touch.clientX, touch.clientY));
  };
  scene.listen<TouchEvent>(window, "touchstart", (event) => {
    const touch = event.changedTouches[0];
    fingers = Math.max(fingers, event.touches.length);
    if (first || !touch) return;
    first = touch;
    start = event.timeStamp;
    trusted = event.isTrusted;
    points = [];
    add(touch, start);
  });
  scene.listen<TouchEvent>(window, "touchmove", (event) => {
    const touch = event.changedTouches[0];
    const last = points[points.length - 1];
    if (!first || !touch || !last || touch.identifier !== first.identifier) return;
    if (event.timeStamp - start - last[0] >= spacingMs && points.length < rowsMax) add(touch, event.timeStamp);
  });
  scene.listen<TouchEvent>(window, "touchend touchcancel", (event) => {
    if (!first || event.touches.length) return;
    const touch = event.changedTouches[0] ?? first;
    scene.record("touch", {
      t: round(start, 1),
      x: round(first.clientX, 2),
      y: round(first.clientY, 2),
      dx: round(touch.clientX - first.clientX, 2),
      dy: round(touch.clientY - first.clientY, 2),
      dwell: round(event.timeStamp - start, 1),
      radius: round(first.radiusX, 2),
      pressure: round(first.force, 3),
      count: fingers || 1,
      pointer_type: "touch",
      trusted: trusted && event.isTrusted,
      points,
    });
    first = null;
    fingers = 0;
  });
};
