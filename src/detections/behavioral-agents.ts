/**
 * Family 3006: how agents act that work in a person's own browser. They see a picture of the page, think, and act at once. Each entry is experimental until
 * it is counted on people, aids and password managers.
 */
import { detection } from "./detection.js";

/** Of the behavioral engine, in `catalogue.ts` with the other families. */
export const agentActDetections = [
  detection({
    id: 300601,
    slug: "clicks-on-arrival",
    engine: "behavioral",
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
    engine: "behavioral",
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
    engine: "behavioral",
    state: "experimental",
    meaning:
      "A form was filled in by pasting into nearly every field, without the keys, the menu or the finger that people paste with.",
    strength: "moderate",
    cause: "form_fill",
    group: "aid",
    reads: ["pastes", "fieldsFilled", "keys", "menuClicks", "touches", "browserMobile"],
    when: (e) =>
      e.pastes >= 4 &&
      e.pastes >= 0.8 * e.fieldsFilled &&
      e.keys < e.pastes / 2 &&
      e.menuClicks < e.pastes / 2 &&
      e.touches === 0 &&
      e.browserMobile === false,
    source: "agents that fill in forms by paste events; a menu bar's Paste, item by item, looks the same",
    fires: { pastes: 5, fieldsFilled: 5, keys: 0, menuClicks: 0, touches: 0, browserMobile: false },
    staysQuiet: { pastes: 5, fieldsFilled: 5, keys: 5, menuClicks: 0, touches: 0, browserMobile: false },
  }),
  detection({
    id: 300604,
    slug: "holds-by-timer",
    engine: "behavioral",
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
    engine: "behavioral",
    state: "experimental",
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
    engine: "behavioral",
    state: "experimental",
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
];
