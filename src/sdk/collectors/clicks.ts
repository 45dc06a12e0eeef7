/** Clicks: where, how long held, on which kind of element. Never what the element says. */
import { bare } from "../bare.js";
import type { Collector } from "../collector.js";
import { round } from "../recorder.js";

/** How far from the middle of its target a click hit: 0 the middle, 1 the edge. Undefined where there is no saying. */
function offCenter(event: MouseEvent, target: Element | undefined): number | undefined {
  const box = target?.getBoundingClientRect?.();
  if (!box) return undefined;
  // Of a target without a width or a height this is no number, or none that is finite.
  const x = Math.abs((2 * (event.clientX - box.left)) / box.width - 1);
  const y = Math.abs((2 * (event.clientY - box.top)) / box.height - 1);
  return round(Math.max(x, y), 3);
}

/** Follows clicks of any button. */
export const collectClicks: Collector = (scene) => {
  let down: PointerEvent | null | undefined;
  // A press that assistive technology asks for is counted as none: `detail` 0, or in Firefox no `pointerdown` at all.
  scene.listen<PointerEvent>(window, "pointerdown mousedown", (event) => {
    // What a script dispatches is no press, and has no pressure.
    if (!event.isTrusted) return;
    if (event.type > "p") down = event;
    else if (!event.detail) down = null;
  });
  scene.listen<PointerEvent>(window, "click auxclick", (event) => {
    // The target of a click on the window itself is no element.
    const target = event.target instanceof Element ? bare(event.target) : undefined;
    // `detail` is 0 as well when no pointer was behind the click: a key, a label, or a script.
    const press = event.detail && event.isTrusted ? down : null;
    scene.record("click", {
      t: round(event.timeStamp, 1),
      x: round(event.clientX, 2),
      y: round(event.clientY, 2),
      dwell: press ? round(event.timeStamp - press.timeStamp, 1) : undefined,
      pressure: press?.pressure,
      button: event.button,
      trusted: event.isTrusted,
      target_tag: target?.tagName.toLowerCase().slice(0, 32),
      pointer_type: press ? event.pointerType || undefined : "none",
      off_center: press ? offCenter(event, target) : undefined,
    });
    down = null;
  });
};
