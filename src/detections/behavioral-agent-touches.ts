/** Family 3006 goes on: touches where no finger can touch anything. `behavioral-agents.ts` concludes from them, beside other signs only. */
import { isDesktopBrowser } from "./behavioral-agent-forms.js";
import { detection, type Read } from "./detection.js";

/**
 * Touches as a debugger's client sends them, in a browser that knows its pointers and tells of no touch screen. Who turns on the device mode of the developer
 * tools after the page has loaded has touches there that the page knows nothing of, and so may a remote desktop: theirs are as wide as a finger.
 */
export const isTouchedByDriver = (e: Read<"narrowTouches" | "browserMobile" | "browserEmbedded" | "evalLength">) =>
  isDesktopBrowser(e) && e.narrowTouches >= 1;
/** As wide as a finger, too, beside texts in two fields that nobody can have spoken since he touched them. */
export const isTouchedForTexts = (
  e: Read<"screenlessTouches" | "quickTexts" | "browserMobile" | "browserEmbedded" | "evalLength">,
) => isDesktopBrowser(e) && e.screenlessTouches >= 1 && e.quickTexts >= 2;

/** Of the behavioral engine, in `catalogue.ts` with the other families. */
export const agentTouchDetections = [
  detection({
    id: 300619,
    slug: "touches-without-touch-screen",
    state: "experimental",
    meaning:
      "The browser itself sent touches to the page, as narrow as a debugger's client sends them, although it has no touch screen.",
    strength: "moderate",
    cause: "touch_screen",
    group: "aid",
    reads: ["narrowTouches", "browserMobile", "browserEmbedded", "evalLength"],
    when: isTouchedByDriver,
    source:
      "a debugger's client that taps without emulating a touch screen: radius 1 px or 0.5. No page of the session may have touch points or a coarse pointer, so an extension would have to hide both. The device mode of the developer tools has a radius of 11.5 px, and tells of a touch screen from the next page on",
    fires: { narrowTouches: 1, browserMobile: false, browserEmbedded: false, evalLength: 33 },
    staysQuiet: { narrowTouches: 0, browserMobile: false, browserEmbedded: false, evalLength: 33 },
  }),
];
