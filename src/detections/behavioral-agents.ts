/**
 * Family 3006: how agents act that work in a person's own browser. They see a picture of the page, think, and act at once. What people and aids may
 * produce as well is experimental, or counts beside others only. How they fill in forms is told in `behavioral-agent-forms.ts`, how they touch in
 * `behavioral-agent-touches.ts`.
 */
import {
  isByScriptAlone,
  isDesktopBrowser,
  isDesktopChromium,
  isFasterThanSpeech,
  isPlacedFinely,
  isPutIn,
  isQuickWithoutSystem,
  isSentWithoutHand,
} from "./behavioral-agent-forms.js";
import { isTouchedByDriver, isTouchedForTexts } from "./behavioral-agent-touches.js";
import { detection, type Read } from "./detection.js";

/** What the conclusion below reads. */
const agentSignNames = [
  "loneActivations",
  "activeMoves",
  "weightlessPresses",
  "sharedFocus",
  "typedPages",
  "quickPages",
  "debuggerSeen",
  "arrivalClicks",
  "quietClicks",
  "exactClicks",
  "centeredArrivals",
  "betweenPixels",
  "unkeyedForms",
  "scriptedForms",
  "scriptedPages",
  "submits",
  "clicksUntrusted",
  "handActs",
  "heldKeys",
  "placedTexts",
  "quickTexts",
  "ledTexts",
  "splitHolds",
  "twoClocks",
  "clicksMeasured",
  "clicksCentered",
  "unpairedKeys",
  "pastes",
  "fieldsFilled",
  "keys",
  "menuClicks",
  "touches",
  "screenlessTouches",
  "narrowTouches",
  "centeredTaps",
  "browserMobile",
  "browserEmbedded",
  "evalLength",
] as const;
type Signs = Read<(typeof agentSignNames)[number]>;

/** An ordinary visit, for examples. */
const noSigns: Signs = {
  loneActivations: 0,
  activeMoves: 0,
  weightlessPresses: 0,
  sharedFocus: 0,
  typedPages: 0,
  quickPages: 0,
  debuggerSeen: false,
  arrivalClicks: 0,
  quietClicks: 0,
  exactClicks: 0,
  centeredArrivals: 0,
  betweenPixels: false,
  unkeyedForms: 0,
  scriptedForms: 0,
  scriptedPages: 0,
  submits: 0,
  clicksUntrusted: 0,
  handActs: 0,
  heldKeys: 0,
  placedTexts: 0,
  quickTexts: 0,
  ledTexts: 0,
  splitHolds: 0,
  twoClocks: false,
  clicksMeasured: 0,
  clicksCentered: 0,
  unpairedKeys: 0,
  pastes: 0,
  fieldsFilled: 0,
  keys: 0,
  menuClicks: 0,
  touches: 0,
  screenlessTouches: 0,
  narrowTouches: 0,
  centeredTaps: 0,
  browserMobile: false,
  browserEmbedded: false,
  evalLength: 33,
};

/** A long touch pastes, but where there is no touch screen no finger did it. */
const isPasted = (e: Pick<Signs, "pastes" | "fieldsFilled" | "keys" | "menuClicks" | "touches" | "narrowTouches">) =>
  e.pastes >= 4 &&
  e.pastes >= 0.8 * e.fieldsFilled &&
  e.keys < e.pastes / 2 &&
  e.menuClicks < e.pastes / 2 &&
  (e.touches === 0 || e.narrowTouches >= 1);
const isActivated = (e: Pick<Signs, "loneActivations" | "activeMoves">) => e.loneActivations >= 1 || e.activeMoves >= 1;
const isWeightless = (e: Read<"weightlessPresses" | "browserMobile" | "browserEmbedded" | "evalLength">) =>
  isDesktopBrowser(e) && e.weightlessPresses >= 1;
/** A sign by the slug of the detection that shows it; that one may need more to fire by itself. */
type Sign = readonly [slug: string, holds: (e: Signs) => boolean];
/**
 * Signs that no aid gives: only what drives the browser itself. Firefox activates pages of people too, and Safari gives no press any pressure. Two presses
 * without it weigh by themselves; beside another sign one is enough, since the form that an agent fills in by keys has one press, which sends it.
 */
const drivenSigns: readonly Sign[] = [
  ["activation-without-input", (e) => isDesktopChromium(e) && isActivated(e)],
  ["presses-without-pressure", isWeightless],
  ["touches-without-touch-screen", isTouchedByDriver],
  ["two-tabs-focused", (e) => e.sharedFocus >= 2],
  ["addresses-by-themselves", (e) => e.typedPages >= 3],
  ["pages-left-at-once", (e) => e.quickPages >= 3],
];
/** Signs that aids give as well. */
const unmovedSigns: readonly Sign[] = [
  ["clicks-on-arrival", (e) => e.arrivalClicks >= 1],
  ["clicks-out-of-silence", (e) => e.quietClicks >= 3],
  ["exactly-in-the-middle", (e) => e.exactClicks >= 3 || (e.narrowTouches >= 1 && e.centeredTaps >= 3)],
  ["unpaired-keys", (e) => e.unpairedKeys >= 3],
  ["pasted-form", isPasted],
];
function countOf(signs: readonly Sign[], e: Signs): number {
  let count = 0;
  for (const [, holds] of signs) if (holds(e)) count++;
  return count;
}
const isSeenByDebugger = (e: Signs) => e.debuggerSeen && (countOf(unmovedSigns, e) >= 2 || isSentWithoutHand(e));
const isDrivenBySigns = (e: Signs) => {
  const driven = countOf(drivenSigns, e);
  return driven >= 2 || (driven === 1 && countOf(unmovedSigns, e) >= 1);
};
/**
 * A form without keys, beside what only a driver gives the page that it works in. Password managers fill in so at pages of chains as well, so how long pages
 * were open speaks of nobody here.
 */
const fillSigns: readonly Sign[] = [
  ["activation-without-input", isActivated],
  ["presses-without-pressure", isWeightless],
  ["touches-without-touch-screen", (e) => isTouchedByDriver(e) || isTouchedForTexts(e)],
  ["middle-between-pixels", isPlacedFinely],
  ["form-without-keys", isPutIn],
  ["quick-texts", isQuickWithoutSystem],
  ["faster-than-speech", isFasterThanSpeech],
  ["form-by-script-alone", isByScriptAlone],
];
const isFilledByDriver = (e: Signs) => e.unkeyedForms >= 1 && isDesktopChromium(e) && countOf(fillSigns, e) >= 1;
/** Enough alone: one browser has one window system, and that one clock. */
const isByTwoHands = (e: Read<"twoClocks" | "browserMobile" | "browserEmbedded" | "evalLength">) =>
  isDesktopBrowser(e) && e.twoClocks;
const actsAsAgent = (e: Signs) =>
  e.browserMobile === false && (isByTwoHands(e) || isDrivenBySigns(e) || isSeenByDebugger(e) || isFilledByDriver(e));

/** The slugs of the signs by which `acts-as-agents-do` fired; none where it did not. */
function actingSigns(e: Signs): string[] {
  if (!actsAsAgent(e)) return [];
  const isBySigns = isDrivenBySigns(e);
  const shown = [
    ...(isBySigns ? drivenSigns : []),
    ...(isBySigns || isSeenByDebugger(e) ? unmovedSigns : []),
    ...(isFilledByDriver(e) ? fillSigns : []),
  ].flatMap(([slug, holds]) => (holds(e) ? [slug] : []));
  if (isSeenByDebugger(e)) {
    if (isSentWithoutHand(e)) shown.unshift("form-without-a-hand");
    shown.unshift("debugger-attached");
  }
  if (isByTwoHands(e)) shown.unshift("two-clocks");
  if (isFilledByDriver(e)) shown.push("form-without-keys");
  return [...new Set(shown)];
}

/** Of the behavioral engine, in `catalogue.ts` with the other families. */
export const agentActDetections = [
  detection({
    id: 300600,
    slug: "acts-as-agents-do",
    state: "experimental",
    meaning:
      "It acts as a program at work in a person's browser does: by several signs that neither a hand nor an aid gives together.",
    strength: "none",
    cause: "agent",
    reads: agentSignNames,
    when: actsAsAgent,
    decidedBy: actingSigns,
    source:
      "the signs below: at least one that no aid gives, or a debugger's client, each beside others. Names the visitor an unknown agent and lowers no score",
    fires: { ...noSigns, loneActivations: 1, arrivalClicks: 1 },
    staysQuiet: { ...noSigns, arrivalClicks: 4, quietClicks: 5, exactClicks: 4 },
  }),
  detection({
    id: 300601,
    slug: "clicks-on-arrival",
    state: "experimental",
    meaning:
      "The pointer showed up in the middle of a page to click there: it had neither come in by the border nor rested there.",
    strength: "moderate",
    cause: "approach",
    group: "aid",
    reads: ["arrivalClicks", "browserMobile"],
    when: (e) => e.arrivalClicks >= 1 && e.browserMobile === false,
    source: "207 of 364 runs of drivers, 0 of 57 visits of people; eye and voice control do so too",
    fires: { arrivalClicks: 1, browserMobile: false },
    staysQuiet: { arrivalClicks: 0, browserMobile: false },
  }),
  detection({
    id: 300602,
    slug: "clicks-out-of-silence",
    state: "experimental",
    meaning: "Three times and more the pointer lay still for seconds and then clicked elsewhere without a way there.",
    strength: "moderate",
    cause: "approach",
    group: "aid",
    reads: ["quietClicks", "browserMobile"],
    when: (e) => e.quietClicks >= 3 && e.browserMobile === false,
    source:
      "an agent waits for its model between two actions, and its waits have no pointer noise; voice control does so too",
    fires: { quietClicks: 3, browserMobile: false },
    staysQuiet: { quietClicks: 2, browserMobile: false },
  }),
  detection({
    id: 300603,
    slug: "pasted-form",
    state: "experimental",
    meaning:
      "A form was filled in by pasting into nearly every field, without the keys, the menu or the finger that people paste with.",
    strength: "moderate",
    cause: "form_fill",
    group: "aid",
    reads: ["pastes", "fieldsFilled", "keys", "menuClicks", "touches", "narrowTouches", "browserMobile"],
    when: (e) => isPasted(e) && e.browserMobile === false,
    source: "agents that fill in forms by paste events; a menu bar's Paste, item by item, looks the same",
    fires: { pastes: 5, fieldsFilled: 5, keys: 0, menuClicks: 0, touches: 0, narrowTouches: 0, browserMobile: false },
    staysQuiet: {
      pastes: 5,
      fieldsFilled: 5,
      keys: 0,
      menuClicks: 0,
      touches: 2,
      narrowTouches: 0,
      browserMobile: false,
    },
  }),
  detection({
    id: 300604,
    slug: "holds-by-timer",
    state: "experimental",
    meaning: "Ten keys and more in a row were held for the same time, to a millisecond.",
    strength: "moderate",
    cause: "key_dwell",
    group: "aid",
    reads: ["equalHolds"],
    when: (e) => e.equalHolds >= 9,
    source: "agents that hold every key for 5 ms or 80 ms; text expanders and on-screen keyboards do so too",
    fires: { equalHolds: 9 },
    staysQuiet: { equalHolds: 8 },
  }),
  detection({
    id: 300605,
    slug: "pages-left-at-once",
    meaning: "Three pages in a row were left within half a second.",
    strength: "notable",
    cause: "page_pace",
    reads: ["quickPages"],
    when: (e) => e.quickPages >= 3,
    source:
      "drivers that go on as soon as a page has loaded; a chain of pages that forward by themselves looks the same",
    fires: { quickPages: 3 },
    staysQuiet: { quickPages: 2 },
  }),
  detection({
    id: 300606,
    slug: "addresses-by-themselves",
    meaning:
      "Three pages and more were replaced by a typed address, while nobody pressed a key or a button or left the page.",
    strength: "notable",
    cause: "page_pace",
    reads: ["typedPages", "browserMobile"],
    when: (e) => e.typedPages >= 3 && e.browserMobile === false,
    source:
      "the navigation of drivers; who types an address takes the focus from the page. Screens that show pages in turn do the same",
    fires: { typedPages: 3, browserMobile: false },
    staysQuiet: { typedPages: 2, browserMobile: false },
  }),
  detection({
    id: 300607,
    slug: "activation-without-input",
    meaning: "The browser took the page for activated by its user while there was no key, press or touch.",
    strength: "notable",
    cause: "activation",
    reads: ["loneActivations", "browserMobile", "evalLength"],
    when: (e) => e.loneActivations >= 1 && isDesktopChromium(e),
    source:
      "drivers pass a user's gesture with every evaluation: 133 of 364 runs, 0 of 57 visits of people. So do bookmarks that run a script",
    fires: { loneActivations: 1, browserMobile: false, evalLength: 33 },
    staysQuiet: { loneActivations: 1, browserMobile: false, evalLength: 37 },
  }),
  detection({
    id: 300612,
    slug: "activated-before-the-pointer",
    meaning:
      "The pointer turned up well inside a page that nobody had touched, and the browser took it for activated by its user.",
    strength: "moderate",
    cause: "activation",
    reads: ["activeMoves", "browserMobile", "browserEmbedded", "evalLength"],
    when: (e) => e.activeMoves >= 1 && isDesktopBrowser(e),
    source:
      "the same gesture, seen before the first press: a person's activation is a key, a press or a touch, an aid's action is a click or a text, and who comes from a bookmark comes by the border. Media keys and gamepads activate pages that use them, so aids keep their protection beside it",
    fires: { activeMoves: 1, browserMobile: false, browserEmbedded: false, evalLength: 33 },
    staysQuiet: { activeMoves: 1, browserMobile: false, browserEmbedded: true, evalLength: 33 },
  }),
  detection({
    id: 300613,
    slug: "presses-without-pressure",
    meaning: "A mouse was pressed without the pressure that the browser gives every press of a mouse.",
    strength: "moderate",
    cause: "pressure",
    isDriverTrace: true,
    reads: ["weightlessPresses", "browserMobile", "browserEmbedded", "evalLength"],
    when: (e) => isWeightless(e) && e.weightlessPresses >= 2,
    source:
      "Pointer Events: 0.5 while a button is down. Chromium's debugging protocol sends 0 unless told otherwise, as Puppeteer and what is built on it do; Safari and screen readers of telephones also send 0",
    fires: { weightlessPresses: 2, browserMobile: false, browserEmbedded: false, evalLength: 33 },
    staysQuiet: { weightlessPresses: 3, browserMobile: false, browserEmbedded: false, evalLength: 37 },
  }),
  detection({
    id: 300614,
    slug: "addresses-at-once",
    meaning:
      "Three pages in a row were replaced within half a second by an address from outside, and nobody did anything on them.",
    strength: "moderate",
    cause: "page_pace",
    reads: ["quickPages", "typedPages", "browserMobile", "evalLength"],
    when: (e) => e.quickPages >= 3 && e.typedPages >= 3 && isDesktopChromium(e),
    source:
      "drivers that read page after page by address; nobody types or picks an address in half a second three times, and a page that goes on by itself says so. A program that opens several tabs in front looks the same",
    fires: { quickPages: 3, typedPages: 3, browserMobile: false, evalLength: 33 },
    staysQuiet: { quickPages: 3, typedPages: 2, browserMobile: false, evalLength: 33 },
  }),

  detection({
    id: 300608,
    slug: "exactly-in-the-middle",
    state: "experimental",
    meaning:
      "Three clicks and more hit the middle of their target within half a pixel, by a pointer that nobody moved.",
    strength: "moderate",
    cause: "centered",
    group: "aid",
    reads: ["exactClicks", "browserMobile"],
    when: (e) => e.exactClicks >= 3 && e.browserMobile === false,
    source: "element clicks of drivers and agents; voice control clicks so too",
    fires: { exactClicks: 3, browserMobile: false },
    staysQuiet: { exactClicks: 2, browserMobile: false },
  }),
  detection({
    id: 300609,
    slug: "input-while-hidden",
    state: "experimental",
    meaning: "Keys or presses came from the browser while nobody could see the page.",
    strength: "moderate",
    cause: "attention",
    group: "aid",
    reads: ["hiddenActs", "browserMobile"],
    when: (e) => e.hiddenActs >= 3 && e.browserMobile === false,
    source: "agents that work in a tab in the background; keys also reach a window that another one covers",
    fires: { hiddenActs: 3, browserMobile: false },
    staysQuiet: { hiddenActs: 2, browserMobile: false },
  }),
  detection({
    id: 300610,
    slug: "two-tabs-focused",
    state: "experimental",
    meaning: "Two tabs of the site had the keyboard's focus at once.",
    strength: "notable",
    cause: "attention",
    reads: ["sharedFocus", "browserMobile"],
    when: (e) => e.sharedFocus >= 2 && e.browserMobile === false,
    source: "drivers that emulate focus for each of their pages, such as Playwright; a person has one focus",
    fires: { sharedFocus: 2, browserMobile: false },
    staysQuiet: { sharedFocus: 1, browserMobile: false },
  }),
  detection({
    id: 300611,
    slug: "unpaired-keys",
    state: "experimental",
    meaning: "Letters were pressed again and again without being released, or the reverse.",
    strength: "notable",
    cause: "key_dwell",
    group: "aid",
    reads: ["unpairedKeys", "browserMobile"],
    when: (e) => e.unpairedKeys >= 3 && e.browserMobile === false,
    source: "agents that send half of a key's events; modifiers, input methods and changes of focus are left out",
    fires: { unpairedKeys: 3, browserMobile: false },
    staysQuiet: { unpairedKeys: 2, browserMobile: false },
  }),
  detection({
    id: 300621,
    slug: "two-clocks",
    state: "experimental",
    meaning:
      "The mouse first moved by the clock of its window system, in whole milliseconds, and later by another one: somebody's hand, and then a program.",
    strength: "moderate",
    cause: "dispatch",
    reads: ["twoClocks", "browserMobile", "browserEmbedded", "evalLength"],
    when: isByTwoHands,
    source:
      "X11 stamps input in whole milliseconds, and Chromium what a debugger sends with the time of its arrival. Under Wayland all input has that, so only who moved by X11's clock before is looked at",
    fires: { twoClocks: true, browserMobile: false, browserEmbedded: false, evalLength: 33 },
    staysQuiet: { twoClocks: true, browserMobile: false, browserEmbedded: true, evalLength: 33 },
  }),
];
