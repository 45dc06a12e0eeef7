/**
 * Family 3006 goes on: forms that are filled in without a key, and the press in the very middle that sends them. `behavioral-agents.ts` concludes from
 * these signs. None has a weight, since dictation, voice control and password managers give parts of each.
 */
import { detection, type Read } from "./detection.js";

/** By its engine, whatever it calls itself: `eval.toString()` has 33 characters in Chromium. */
export const isDesktopChromium = (e: Read<"browserMobile" | "evalLength">) =>
  e.browserMobile === false && e.evalLength === 33;
/** Apps that show pages move, press, touch and fill in for their visitors, too. */
export const isDesktopBrowser = (e: Read<"browserMobile" | "browserEmbedded" | "evalLength">) =>
  isDesktopChromium(e) && !e.browserEmbedded;
/**
 * A press in the very middle by a pointer between pixels: voice control clicks so exactly, but on the pixels of its system. A form that is sent before the SDK's
 * third file is there has no press that was measured to half a pixel: then the click's own distance counts, if its pointer was sent to it.
 */
export const isPlacedFinely = (
  e: Read<"exactClicks" | "centeredArrivals" | "betweenPixels" | "browserMobile" | "evalLength">,
) => isDesktopChromium(e) && e.betweenPixels && (e.exactClicks >= 1 || e.centeredArrivals >= 1);
/**
 * A form without keys whose texts the browser itself put in, each in one piece as its field got the focus, to which no hand led. Password managers and
 * scripts set values, which the browser does not call its own; who dictates or picks a sign presses the field or comes by Tab, and by a suggestion of a
 * keyboard there was a key.
 */
export const isPutIn = (e: Read<"unkeyedForms" | "placedTexts" | "browserMobile" | "evalLength">) =>
  isDesktopChromium(e) && e.unkeyedForms >= 1 && e.placedTexts >= 2;
/**
 * The same after a press too, sooner than dictation has a text, by a mouse whose input does not come from X11: on whole pixels as X11's, and held for
 * fractions of milliseconds, which X11 does not count. People under Wayland have such a mouse too, from a remote desktop or without acceleration, so it says
 * nothing without the texts. Whoever dictates all the time at such a seat, and has two phrases ready as he presses their fields, would be named.
 */
export const isQuickWithoutSystem = (
  e: Read<"unkeyedForms" | "quickTexts" | "splitHolds" | "browserMobile" | "browserEmbedded" | "evalLength">,
) => isDesktopBrowser(e) && e.unkeyedForms >= 1 && e.quickTexts >= 2 && e.splitHolds >= 2;
/**
 * Texts that nobody can have spoken since their fields got the focus. Who speaks all the time may have one ready as he presses a field; voice control
 * presses the middle, but has its text by a later command. So each click has to be in the middle, by a pointer that nobody moved, and without any key.
 */
export const isFasterThanSpeech = (
  e: Read<
    | "unkeyedForms"
    | "placedTexts"
    | "ledTexts"
    | "exactClicks"
    | "clicksMeasured"
    | "clicksCentered"
    | "keys"
    | "browserMobile"
    | "evalLength"
  >,
) =>
  isDesktopChromium(e) &&
  e.unkeyedForms >= 1 &&
  e.placedTexts + e.ledTexts >= 2 &&
  e.exactClicks >= 3 &&
  e.clicksMeasured >= 4 &&
  e.clicksCentered === e.clicksMeasured &&
  e.keys === 0;

/**
 * A form that is nobody's: a script's click led to its page, and a script filled it in at once, before anybody had touched a page of the visit. Password
 * managers send log-ins of two fields so, but do not click from page to page.
 */
export const isByScriptAlone = (e: Read<"scriptedForms" | "browserMobile" | "browserEmbedded" | "evalLength">) =>
  isDesktopBrowser(e) && e.scriptedForms >= 1;

/** Fewer keys say nothing of how they are pressed. */
const keysMin = 12;
/**
 * A form that a script's click sent in a visit without a press, a move or a touch, and nearly without a key that was held as a finger holds it: all by keys
 * released at once, or by values after a script's click that led to the page. Who has text by voice, a scanner or a text expander, and lets an extension click,
 * looks the same: it counts only where a debugger's client was seen.
 */
export const isSentWithoutHand = (
  e: Read<
    | "submits"
    | "clicksUntrusted"
    | "handActs"
    | "keys"
    | "heldKeys"
    | "touches"
    | "scriptedPages"
    | "browserMobile"
    | "browserEmbedded"
    | "evalLength"
  >,
) =>
  isDesktopBrowser(e) &&
  e.submits >= 1 &&
  e.clicksUntrusted >= 1 &&
  e.touches === 0 &&
  e.handActs === e.keys &&
  (e.keys === 0 ? e.scriptedPages >= 1 : e.keys >= keysMin && e.heldKeys <= e.keys / 10);

/** Of the behavioral engine, in `catalogue.ts` with the other families. */
export const agentFormDetections = [
  detection({
    id: 300615,
    slug: "form-without-keys",
    state: "experimental",
    meaning:
      "A form was filled in without a key, and the browser put the texts of it into their fields in one piece, as soon as each had the focus without a hand.",
    strength: "moderate",
    cause: "form_fill",
    group: "aid",
    reads: ["unkeyedForms", "placedTexts", "browserMobile", "evalLength"],
    when: isPutIn,
    source:
      "drivers insert text through the browser; password managers and scripts set a field's value instead (they had it in 23 of 58 visits of people when a form without keys was enough). Dictation puts texts in so, too, while somebody presses field after field: so a focus that a press or Tab gave does not count",
    fires: { unkeyedForms: 1, placedTexts: 2, browserMobile: false, evalLength: 33 },
    staysQuiet: { unkeyedForms: 1, placedTexts: 1, browserMobile: false, evalLength: 33 },
  }),
  detection({
    id: 300616,
    slug: "middle-between-pixels",
    state: "experimental",
    meaning:
      "The pointer came to the very middle of its target, or was sent there as it came to the page, and was between two pixels, where no pointer of its system can be.",
    strength: "notable",
    cause: "centered",
    reads: ["exactClicks", "centeredArrivals", "betweenPixels", "browserMobile", "evalLength"],
    when: isPlacedFinely,
    source:
      "drivers reckon the middle of an element. By hand a press within half a pixel of it is a chance of one in thousands, and one within 6 % of the target in a page's first moves one in hundreds; what was moved while a page is zoomed does not count",
    fires: {
      exactClicks: 1,
      centeredArrivals: 0,
      betweenPixels: true,
      browserMobile: false,
      evalLength: 33,
    },
    staysQuiet: {
      exactClicks: 0,
      centeredArrivals: 1,
      betweenPixels: false,
      browserMobile: false,
      evalLength: 33,
    },
  }),
  detection({
    id: 300617,
    slug: "quick-texts",
    state: "experimental",
    meaning:
      "A form was filled in without a key: the browser put texts into its fields sooner than dictation has them. The mouse, on Linux, had whole pixels as X11's, but was held for fractions of milliseconds, which X11 does not count.",
    strength: "moderate",
    cause: "form_fill",
    group: "aid",
    reads: ["unkeyedForms", "quickTexts", "splitHolds", "browserMobile", "browserEmbedded", "evalLength"],
    when: isQuickWithoutSystem,
    source:
      "a debugger's client that presses and inserts text within a second. X11 stamps input in whole milliseconds, Chromium what a debugger sends with the time of its arrival, as all input under Wayland: there a mouse is between pixels, unless it comes from a remote desktop or has no acceleration. So this clock is never a sign without the texts",
    fires: {
      unkeyedForms: 1,
      quickTexts: 2,
      splitHolds: 2,
      browserMobile: false,
      browserEmbedded: false,
      evalLength: 33,
    },
    staysQuiet: {
      unkeyedForms: 1,
      quickTexts: 1,
      splitHolds: 6,
      browserMobile: false,
      browserEmbedded: false,
      evalLength: 33,
    },
  }),
  detection({
    id: 300618,
    slug: "faster-than-speech",
    state: "experimental",
    meaning:
      "Each click was in the very middle of its target, and as soon as a field had the focus its text was there, faster than anybody speaks, in two fields and more without a key.",
    strength: "moderate",
    cause: "form_fill",
    group: "aid",
    reads: [
      "unkeyedForms",
      "placedTexts",
      "ledTexts",
      "exactClicks",
      "clicksMeasured",
      "clicksCentered",
      "keys",
      "browserMobile",
      "evalLength",
    ],
    when: isFasterThanSpeech,
    source:
      "a debugger's client that presses and inserts text 0.3 s later. Fast speech has 20 to 25 characters a second, and a command by voice takes half a second; voice control that plays recorded commands looks the same",
    fires: {
      unkeyedForms: 1,
      placedTexts: 0,
      ledTexts: 2,
      exactClicks: 3,
      clicksMeasured: 4,
      clicksCentered: 4,
      keys: 0,
      browserMobile: false,
      evalLength: 33,
    },
    staysQuiet: {
      unkeyedForms: 1,
      placedTexts: 0,
      ledTexts: 3,
      exactClicks: 3,
      clicksMeasured: 5,
      clicksCentered: 4,
      keys: 0,
      browserMobile: false,
      evalLength: 33,
    },
  }),
  detection({
    id: 300622,
    slug: "form-by-script-alone",
    state: "experimental",
    meaning:
      "A script's click led from a page to one with a form, and a script filled in three fields and more at once and sent it, in a visit that nobody had touched.",
    strength: "moderate",
    cause: "unattended",
    reads: ["scriptedForms", "browserMobile", "browserEmbedded", "evalLength"],
    when: isByScriptAlone,
    source:
      "extensions and drivers that work by element.click(), values and requestSubmit(). Password managers fill in and send log-ins by themselves, of two fields as a rule and without a click from page to page; who commands by voice an extension that clicks and sets values needs a second and more for each field",
    fires: { scriptedForms: 1, browserMobile: false, browserEmbedded: false, evalLength: 33 },
    staysQuiet: { scriptedForms: 0, browserMobile: false, browserEmbedded: false, evalLength: 33 },
  }),
  detection({
    id: 300623,
    slug: "form-without-a-hand",
    state: "experimental",
    meaning:
      "A script's click sent a form that keys released at once, or values after a script's click from page to page, had filled in: nobody moved or pressed anything.",
    strength: "moderate",
    cause: "unattended",
    group: "aid",
    reads: [
      "submits",
      "clicksUntrusted",
      "handActs",
      "keys",
      "heldKeys",
      "touches",
      "scriptedPages",
      "browserMobile",
      "browserEmbedded",
      "evalLength",
    ],
    when: isSentWithoutHand,
    source:
      "agents that think between fields, type or set values by a driver, and click by element.click(). Voice control by an extension looks the same, so it names nobody without a debugger's client; developers who navigate by keys hold those that they type",
    fires: {
      submits: 1,
      clicksUntrusted: 1,
      handActs: 70,
      keys: 70,
      heldKeys: 2,
      touches: 0,
      scriptedPages: 0,
      browserMobile: false,
      browserEmbedded: false,
      evalLength: 33,
    },
    staysQuiet: {
      submits: 1,
      clicksUntrusted: 1,
      handActs: 70,
      keys: 70,
      heldKeys: 60,
      touches: 0,
      scriptedPages: 0,
      browserMobile: false,
      browserEmbedded: false,
      evalLength: 33,
    },
  }),
];
