/**
 * Whether the page has its user's activation before anybody touched it: drivers pass one with every evaluation. Looked at when the pointer moves, which
 * activates nothing, before each report and when the page is left; until there is an input or the window loses the focus: an extension's window may
 * activate the page behind it.
 */
import { doc } from "../bare.js";
import type { Collector } from "../collector.js";

type Counting = Performance & { readonly eventCounts: ReadonlyMap<string, number> };

/** Follows the page until it is touched. */
export const collectActivation: Collector = ({ listen, onDrain, record }) => {
  let isOver: unknown;
  const look = (event?: PointerEvent) => {
    const type = event?.type;
    // Who types into the console of the developer tools has the focus there; a page that is left has lost it.
    if (!isOver && navigator.userActivation?.isActive && (type === "blur" || doc.hasFocus())) {
      // Frames pass theirs on. The browser counts inputs from before this script too; who dictates or uses an input method has no key.
      isOver =
        window.length ||
        ["pointerdown", "keydown", "input"].some((each) => (performance as Counting).eventCounts.get(each));
      if (!isOver && type !== "click") record("env", { lone_activations: 1, x: event?.clientX, y: event?.clientY });
      isOver ||= event;
    }
    if (type! < "p") isOver = 1;
  };
  // A click without a press is a script's.
  listen<PointerEvent>(window, "blur click pointermove", look);
  onDrain(look);
};
