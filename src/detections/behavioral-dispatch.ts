/** Families 3001 to 3003, dispatch: what the SDK measures of moves beside their places, and drivers do not imitate. */
import { detection, retiredDetection } from "./detection.js";

/** About sessions, from clocks, fractions of pixels, coalesced moves and wheel turns, where the SDK measured them. */
export const dispatchDetections = [
  detection({
    id: 300114,
    slug: "dispatched-moves",
    meaning:
      "Moves have fractions of pixels that no window system sends, on an unscaled display, and arrive one by one, as through a debugger protocol.",
    strength: "notable",
    cause: "dispatch",
    isDriverTrace: true,
    reads: ["fractionShare", "coalescedMean", "points", "browserFamily", "pixelGrid"],
    when: (e) =>
      e.fractionShare >= 0.5 &&
      e.coalescedMean <= 1.02 &&
      e.points >= 5 &&
      e.browserFamily === "chromium" &&
      e.pixelGrid,
    source:
      "Playwright and Puppeteer in Chromium: always both. Input of the operating system has whole pixels on Windows and X11 and 256ths on Wayland (157 of 157 moves under sway) unless a page is zoomed by pinching; macOS and ozone/drm have fractions of their own",
    fires: {
      fractionShare: 0.98,
      coalescedMean: 1.0,
      points: 90,
      browserFamily: "chromium",
      pixelGrid: true,
    },
    staysQuiet: {
      fractionShare: 0.98,
      coalescedMean: 1.0,
      points: 90,
      browserFamily: "chromium",
      pixelGrid: false,
    },
  }),
  retiredDetection({
    id: 300121,
    slug: "driver-clock",
    meaning: "Mouse moves on Linux have times that are not whole milliseconds, unlike X11's.",
    strength: "notable",
    cause: "dispatch",
    source:
      "X11 stamps input in whole milliseconds. Under Wayland Chromium stamps it with the time of arrival, as it does a driver's, and nothing tells a page which of the two it runs on: a share of 0.69 under sway, 0.64 to 0.75 through the debugger protocol",
  }),
  retiredDetection({
    id: 300209,
    slug: "driver-key-clock",
    meaning: "Key events on Linux have times that are not whole milliseconds, unlike X11's.",
    strength: "notable",
    cause: "dispatch",
    source: "the clock of `driver-clock`, behind keys",
  }),
  detection({
    id: 300304,
    slug: "leaping-wheel",
    meaning: "Each wheel notch scrolls the page in one jump, without the browser's animation.",
    strength: "notable",
    cause: "wheel",
    group: "aid",
    reads: ["wheelLeaps", "wheelLeapShare", "browserMobile"],
    when: (e) => e.wheelLeaps >= 4 && e.wheelLeapShare >= 0.8 && e.browserMobile === false,
    source:
      "one scroll event a notch: always through drivers; 8 to 12 for people, whose browsers animate it unless smooth scrolling is off",
    fires: { wheelLeaps: 5, wheelLeapShare: 1.0, browserMobile: false },
    staysQuiet: { wheelLeaps: 5, wheelLeapShare: 0.3, browserMobile: false },
  }),
  detection({
    id: 300125,
    slug: "frame-bound-moves",
    meaning: "Moves with fractions of pixels are each delivered most of a frame late, and none are merged.",
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
    meaning: "Reported movement deltas disagree with the positions.",
    strength: "weak",
    cause: "dispatch",
    group: "aid",
    reads: ["movementMismatch", "browserFamily"],
    when: (e) => e.movementMismatch > 0.5 && e.browserFamily !== "firefox",
    source:
      "synthetic events are built without them; some virtual machines differ too, and extensions that hide where the window stands. With resistFingerprinting Firefox does so for everybody: a share of 1",
    fires: { movementMismatch: 0.9, browserFamily: "chromium" },
    staysQuiet: { movementMismatch: 1, browserFamily: "firefox" },
  }),
];
