/**
 * Whether the page has its user's activation before anybody touched it: drivers pass one with every evaluation. Looked at when the pointer moves, which
 * activates nothing, before each report and when the page is left; until there is an input, the window loses the focus, since an extension's window may
 * activate the page behind it, or the pointer goes on its way: it may go into a frame that the page can't see, in an extension's or a component's shadow, and
 * press there without taking the focus.
 */
import { doc } from "../bare.js";
import type { Collector } from "../collector.js";

type Counting = Performance & { readonly eventCounts: ReadonlyMap<string, number> };

/** Follows the page until it is touched. */
export const collectActivation: Collector = ({ listen, onDrain, record }) => {
  let isOver: unknown;
  let foundX: number | undefined;
  const look = ({ type, x, y, isTrusted }: Partial<PointerEvent> = {}) => {
    // A move that a script dispatches finds and leads no pointer, and its key activates nothing.
    if (type! > "k" && !isTrusted) return;
    // The pointer's first place in the page is where it was found; then somebody leads it.
    foundX = foundX || x;
    isOver = isOver || (x && x !== foundX);
    // Who types into the console of the developer tools has the focus there; a page that is left has lost it.
    if (!isOver && navigator.userActivation?.isActive && (type === "blur" || doc.hasFocus())) {
      // Frames pass theirs on. The browser counts inputs from before this script too; who dictates or uses an input method has no key.
      isOver =
        window.length ||
        ["pointerdown", "keydown", "input"].some((each) => (performance as Counting).eventCounts.get(each)) ||
        type;
      if (isOver === type && !/k/.test(type!)) record("env", { lone_activations: 1, x, y });
    }
    if (type! < "p") isOver = 1;
  };
  // A click without a press is a script's. Older Chromium counts a key after its listeners, and one of these may send a form.
  listen<PointerEvent>(window, "blur click keydown pointermove", look);
  onDrain(look);
};
