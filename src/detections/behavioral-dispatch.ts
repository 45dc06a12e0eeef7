/** Family 3001, dispatch: what the SDK measures of moves beside their places, and drivers do not imitate. */
import { detection } from "./detection.js";

export const dispatchDetections = [
  detection({
    id: 300114,
    slug: "dispatched-moves",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "Moves carry fractions of pixels on an unscaled display and come one by one, as a debugger protocol sends them.",
    strength: "notable",
    cause: "dispatch",
    reads: ["fractionShare", "coalescedMean", "dpr", "points", "browserFamily", "browserSystem"],
    when: (e) =>
      e.fractionShare >= 0.5 &&
      e.coalescedMean <= 1.02 &&
      e.dpr === 1 &&
      e.points >= 5 &&
      e.browserFamily === "chromium" &&
      (e.browserSystem === "windows" || e.browserSystem === "linux"),
    source:
      "Playwright and Puppeteer in Chromium: always both; input of the operating system has whole pixels there unless a page is zoomed by pinching (macOS has fractions of its own)",
    fires: {
      fractionShare: 0.98,
      coalescedMean: 1.0,
      dpr: 1,
      points: 90,
      browserFamily: "chromium",
      browserSystem: "windows",
    },
    staysQuiet: {
      fractionShare: 0.98,
      coalescedMean: 1.0,
      dpr: 1,
      points: 90,
      browserFamily: "chromium",
      browserSystem: "mac",
    },
  }),
  detection({
    id: 300121,
    slug: "driver-clock",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "Moves on Linux carry fractions of pixels, come one at a time, and are stamped between the milliseconds of the window system.",
    strength: "strong",
    cause: "dispatch",
    reads: ["offGridShare", "fractionShare", "coalescedMean", "dpr", "browserFamily", "browserSystem"],
    when: (e) =>
      e.offGridShare >= 0.4 &&
      e.fractionShare >= 0.5 &&
      e.coalescedMean <= 1.3 &&
      e.dpr === 1 &&
      e.browserFamily === "chromium" &&
      e.browserSystem === "linux",
    source:
      "X11 and Wayland stamp input in whole milliseconds: a share of 0 for input of the operating system, 0.64 to 0.75 for moves through the debugger protocol, in 5 and 30 captures; a page zoomed by pinching has fractions, but not these times",
    fires: {
      offGridShare: 0.7,
      fractionShare: 0.98,
      coalescedMean: 1.0,
      dpr: 1,
      browserFamily: "chromium",
      browserSystem: "linux",
    },
    staysQuiet: {
      offGridShare: 0.0,
      fractionShare: 0.98,
      coalescedMean: 1.0,
      dpr: 1,
      browserFamily: "chromium",
      browserSystem: "linux",
    },
  }),
  detection({
    id: 300125,
    slug: "frame-bound-moves",
    engine: "behavioral",
    state: "scoring",
    meaning: "Moves with fractions of pixels each wait for most of a frame, and none is merged with another.",
    strength: "weak",
    cause: "dispatch_beat",
    reads: ["lagMean", "coalescedMean", "fractionShare", "points"],
    when: (e) => e.lagMean > 11 && e.coalescedMean <= 1.005 && e.fractionShare >= 0.5 && e.points >= 40,
    source:
      "moves awaited one by one through the debugger protocol: 11 to 18 ms in captures, people 2 to 7; a busy page lags too, but merges moves",
    fires: { lagMean: 14, coalescedMean: 1.0, fractionShare: 0.98, points: 90 },
    staysQuiet: { lagMean: 14, coalescedMean: 1.8, fractionShare: 0.98, points: 90 },
  }),
  detection({
    id: 300116,
    slug: "movement-mismatch",
    engine: "behavioral",
    state: "scoring",
    meaning: "Reported movement deltas disagree with the positions.",
    strength: "weak",
    cause: "dispatch",
    reads: ["movementMismatch"],
    when: (e) => e.movementMismatch > 0.5,
    source: "synthetic events are built without them; some virtual machines differ too",
    fires: { movementMismatch: 0.9 },
    staysQuiet: { movementMismatch: 0.05 },
  }),
];
