/** Families 3001 and 3005, clicks: how long, where on their target, and whether anybody moved there or made them at all. */
import { detection } from "./detection.js";

/** About sessions, from presses, what came before them, and whether the browser vouches for the events. */
export const clickDetections = [
  detection({
    id: 300113,
    slug: "instant-clicks",
    meaning: "Mouse buttons are released as soon as they are pressed.",
    strength: "notable",
    cause: "button_hold",
    group: "aid",
    reads: ["shortHoldShare", "holds"],
    when: (e) => e.shortHoldShare >= 0.55,
    source:
      "held under 8 ms: 98 to 100 % of scripted clicks, no person with a mouse; touchpads that click on a tap may come close",
    fires: { shortHoldShare: 1.0, holds: 5 },
    staysQuiet: { shortHoldShare: 0.1, holds: 5 },
  }),
  detection({
    id: 300115,
    slug: "centered-clicks",
    meaning: "Clicks hit the exact centre of their targets.",
    strength: "notable",
    cause: "aim",
    group: "aid",
    reads: ["centeredShare", "clicksMeasured"],
    when: (e) => e.centeredShare >= 0.75 && e.clicksMeasured >= 3,
    source: "drivers click the middle of an element by default; hands scatter over it",
    fires: { centeredShare: 1.0, clicksMeasured: 3 },
    staysQuiet: { centeredShare: 0.2, clicksMeasured: 3 },
  }),
  detection({
    id: 300126,
    slug: "always-centered-clicks",
    meaning: "Click after click, at different places, hits the exact centre of its target.",
    strength: "notable",
    cause: "aim",
    group: "aid",
    reads: ["centeredShare", "clicksMeasured"],
    when: (e) => e.centeredShare >= 0.8 && e.clicksMeasured >= 5,
    source:
      "0.003 to 0.04 of the half size in each click of Playwright, Puppeteer and ChromeDriver; a hand hits the middle so closely once in 40",
    fires: { centeredShare: 1.0, clicksMeasured: 6 },
    staysQuiet: { centeredShare: 0.4, clicksMeasured: 6 },
  }),
  detection({
    id: 300127,
    slug: "astray-clicks",
    meaning: "Clicks happen far from where the pointer was a moment earlier.",
    strength: "notable",
    cause: "astray",
    reads: ["astrayShare", "clicksTracked", "browserMobile"],
    when: (e) => e.astrayShare >= 0.8 && e.clicksTracked >= 3 && e.browserMobile === false,
    source: "made-up events; no recording of people with three clicks, though one recorder misplaces the first of them",
    fires: { astrayShare: 1.0, clicksTracked: 3, browserMobile: false },
    staysQuiet: { astrayShare: 0.34, clicksTracked: 3, browserMobile: false },
  }),
  detection({
    id: 300501,
    slug: "clicks-without-approach",
    meaning: "The pointer jumps straight to its targets.",
    strength: "notable",
    cause: "approach",
    group: "aid",
    reads: ["jumpedClickShare", "clicks"],
    when: (e) => e.jumpedClickShare >= 0.6,
    source: "element clicks of drivers move once, straight to the target; voice and eye control do so too",
    fires: { jumpedClickShare: 1.0, clicks: 6 },
    staysQuiet: { jumpedClickShare: 0.1, clicks: 6 },
  }),
  detection({
    id: 300502,
    slug: "clicks-without-pointer",
    meaning: "Clicks happen at different places while the pointer never moves.",
    strength: "notable",
    cause: "approach",
    group: "aid",
    reads: ["unmovedClickShare", "clicks", "browserMobile"],
    when: (e) => e.unmovedClickShare >= 0.8 && e.clicks >= 4 && e.browserMobile === false,
    source: "scripts that dispatch clicks; switch and voice control do so too",
    fires: { unmovedClickShare: 1.0, clicks: 5, browserMobile: false },
    staysQuiet: { unmovedClickShare: 0.0, clicks: 5, browserMobile: false },
  }),
  detection({
    id: 300506,
    slug: "nothing-by-hand",
    meaning: "Clicks and keys take no time, and the pointer jumps from click to click.",
    strength: "moderate",
    cause: "approach",
    group: "aid",
    reads: ["jumpedClickShare", "unmovedClickShare", "shortHoldShare", "shortDwellShare", "clicks"],
    when: (e) =>
      e.jumpedClickShare + e.unmovedClickShare >= 0.6 &&
      e.shortHoldShare >= 0.55 &&
      e.shortDwellShare > 0.5 &&
      e.clicks >= 3,
    source: "element clicks and typing through a driver; of people, who commands a computer by voice alone comes to it",
    fires: { jumpedClickShare: 1.0, unmovedClickShare: 0.0, shortHoldShare: 1.0, shortDwellShare: 1.0, clicks: 6 },
    staysQuiet: { jumpedClickShare: 0.0, unmovedClickShare: 0.1, shortHoldShare: 1.0, shortDwellShare: 1.0, clicks: 6 },
  }),
  detection({
    id: 300507,
    slug: "nothing-by-hand-on-even-steps",
    meaning: "Clicks and keys take no time, and the pointer repeats its steps.",
    strength: "moderate",
    cause: "approach",
    group: "aid",
    reads: ["repeatedSteps", "stepPairs", "shortHoldShare", "shortDwellShare", "cleanDispatch"],
    when: (e) =>
      e.repeatedSteps >= 0.6 &&
      e.stepPairs >= 12 &&
      e.shortHoldShare >= 0.55 &&
      e.shortDwellShare > 0.5 &&
      !e.cleanDispatch,
    source: "as above, of a driver that goes in linear steps; no window of any human source has the three together",
    fires: { repeatedSteps: 0.8, stepPairs: 25, shortHoldShare: 1.0, shortDwellShare: 1.0, cleanDispatch: false },
    staysQuiet: { repeatedSteps: 0.8, stepPairs: 25, shortHoldShare: 1.0, shortDwellShare: 1.0, cleanDispatch: true },
  }),
  detection({
    id: 300508,
    slug: "pointer-without-travel",
    meaning:
      "Button and keys are held as long as fingers hold them, but the pointer jumps from click to click and never travels.",
    strength: "moderate",
    cause: "approach",
    group: "aid",
    reads: [
      "jumpedClickShare",
      "unmovedClickShare",
      "shortHoldShare",
      "shortDwellShare",
      "clicks",
      "steps",
      "browserMobile",
      "touchPoints",
    ],
    when: (e) =>
      e.jumpedClickShare + e.unmovedClickShare >= 0.8 &&
      e.clicks >= 4 &&
      e.steps <= e.clicks &&
      e.shortHoldShare < 0.1 &&
      e.shortDwellShare < 0.1 &&
      e.touchPoints === 0 &&
      e.browserMobile === false,
    source:
      "drivers that move once to each target and wait as people do: 91 %; of people no window. What moves a pointer in leaps for a person clicks for them too, in no time; a touch panel that passes for a mouse has no keyboard",
    fires: {
      jumpedClickShare: 1.0,
      unmovedClickShare: 0.0,
      shortHoldShare: 0.0,
      shortDwellShare: 0.0,
      clicks: 8,
      steps: 0,
      browserMobile: false,
      touchPoints: 0,
    },
    staysQuiet: {
      jumpedClickShare: 1.0,
      unmovedClickShare: 0.0,
      shortHoldShare: 1.0,
      shortDwellShare: 0.0,
      clicks: 8,
      steps: 0,
      browserMobile: false,
      touchPoints: 0,
    },
  }),
  detection({
    id: 300503,
    slug: "scripted-events",
    meaning: "Input events were made by a script of the page rather than by the browser.",
    strength: "weak",
    cause: "untrusted",
    group: "aid",
    reads: ["untrustedShare", "untrusted"],
    when: (e) => e.untrustedShare >= 0.8 && e.untrusted >= 3,
    source: "isTrusted is false for dispatched events; some extensions and widgets dispatch a few",
    fires: { untrustedShare: 0.9, untrusted: 12 },
    staysQuiet: { untrustedShare: 0.02, untrusted: 12 },
  }),
  detection({
    id: 300504,
    slug: "script-clicks",
    meaning: "Most clicks were made by a script of the page rather than by a visitor.",
    strength: "weak",
    cause: "untrusted",
    group: "aid",
    reads: ["clicksUntrusted", "clicksUntrustedShare"],
    when: (e) => e.clicksUntrusted >= 3 && e.clicksUntrustedShare > 0.6,
    source:
      "element.click() of drivers; widgets that pass a person's click on make one for one, and keyboard-navigation extensions all of them",
    fires: { clicksUntrusted: 5, clicksUntrustedShare: 1.0 },
    staysQuiet: { clicksUntrusted: 5, clicksUntrustedShare: 0.5 },
  }),
  detection({
    id: 300505,
    slug: "unattended-visit",
    meaning: "Scripts clicked and scrolled or sent a form on a page that nobody touched.",
    strength: "moderate",
    cause: "unattended",
    reads: ["clicksUntrusted", "handActs", "submits", "scrollsUncaused"],
    when: (e) => e.clicksUntrusted >= 3 && e.handActs === 0 && (e.submits >= 1 || e.scrollsUncaused >= 2),
    source:
      "visits by element.click() and scrollTo; consent extensions click unasked, but neither send forms nor scroll",
    fires: { clicksUntrusted: 5, handActs: 0, submits: 1, scrollsUncaused: 1 },
    staysQuiet: { clicksUntrusted: 5, handActs: 12, submits: 1, scrollsUncaused: 1 },
  }),
];
