/** Clicks: where, how long held, on which kind of element. Never what the element says. */
import { bare } from "../bare.js";
import type { Collector } from "../collector.js";
import { round } from "../recorder.js";

/** How far from the middle of its target a click hit: 0 the middle, 1 the edge. Undefined where there is no saying. */
function offCenter(event: MouseEvent, target: Element | undefined): number | undefined {
  const box = target?.getBoundingClientRect?.();
  if (!box?.width || !box.height) return undefined;
  const x = Math.abs(event.clientX - box.left - box.width / 2) / (box.width / 2);
  const y = Math.abs(event.clientY - box.top - box.height / 2) / (box.height / 2);
  return round(Math.max(x, y), 3);
}

/** Follows clicks of any button. */
export const collectClicks: Collector = (scene) => {
  let downAt = 0;
  // A press that assistive technology asks for is counted as none: `detail` 0, or in Firefox no `pointerdown` at all.
  scene.listen<MouseEvent>(window, "pointerdown mousedown", (event) => {
    if (event.type > "p") downAt = event.timeStamp;
    else if (!event.detail) downAt = 0;
  });
  scene.listen<PointerEvent>(window, "click auxclick", (event) => {
    // The target of a click on the window itself is no element.
    const target = event.target instanceof Element ? bare(event.target) : undefined;
    // `detail` is 0 as well when no pointer was behind the click: a key, a label, or a script.
    const pointed = downAt && event.detail && event.isTrusted;
    scene.record("click", {
      t: round(event.timeStamp, 1),
      x: round(event.clientX, 2),
      y: round(event.clientY, 2),
      dwell: pointed ? round(event.timeStamp - downAt, 1) : undefined,
      button: event.button,
      trusted: event.isTrusted,
      target_tag: target?.tagName.toLowerCase().slice(0, 32),
      pointer_type: pointed ? event.pointerType || undefined : "none",
      off_center: pointed ? offCenter(event, target) : undefined,
    });
    downAt = 0;
  });
};
