/** Families 3001 to 3003, dispatch: what the SDK measures of moves beside their places, and drivers do not imitate. */
import { detection, type Read } from "./detection.js";

/**
 * Where Chromium takes the times of input from a window system that counts milliseconds: desktops, not tablets that call themselves one,
 * nor other systems under its name.
 */
function hasWindowSystemClock(e: Read<"browserFamily" | "browserSystem" | "platform" | "touchPoints">): boolean {
  const { browserFamily, browserSystem, platform, touchPoints } = e;
  return browserFamily === "chromium" && browserSystem === "linux" && platform.startsWith("Linux") && touchPoints === 0;
}

/** About sessions, from clocks, fractions of pixels, coalesced moves and wheel turns, where the SDK measured them. */
export const dispatchDetections = [
  detection({
    id: 300114,
    slug: "dispatched-moves",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "Moves have fractions of pixels on an unscaled display and arrive one by one, as a debugger protocol sends them.",
    strength: "notable",
    cause: "dispatch",
    isDriverTrace: true,
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
    meaning: "Mouse moves on Linux have times that are not whole milliseconds, unlike the window system's.",
    strength: "strong",
    cause: "dispatch",
    isDriverTrace: true,
    reads: ["offGridShare", "browserFamily", "browserSystem", "platform", "touchPoints"],
    when: (e) => e.offGridShare >= 0.4 && hasWindowSystemClock(e),
    source:
      "X11 and Wayland stamp input in whole milliseconds: a share of 0 for input of the operating system, 0.64 to 0.75 for moves through the debugger protocol, in 5 and 30 captures, wherever positions are rounded to",
    fires: {
      offGridShare: 0.7,
      browserFamily: "chromium",
      browserSystem: "linux",
      platform: "Linux x86_64",
      touchPoints: 0,
    },
    staysQuiet: {
      offGridShare: 0.0,
      browserFamily: "chromium",
      browserSystem: "linux",
      platform: "Linux x86_64",
      touchPoints: 0,
    },
  }),
  detection({
    id: 300209,
    slug: "driver-key-clock",
    engine: "behavioral",
    state: "scoring",
    meaning: "Key events on Linux have times that are not whole milliseconds, unlike the window system's.",
    strength: "moderate",
    cause: "dispatch",
    isDriverTrace: true,
    reads: ["keyOffGridShare", "browserFamily", "browserSystem", "platform", "touchPoints"],
    when: (e) => e.keyOffGridShare >= 0.4 && hasWindowSystemClock(e),
    source:
      "as above: 0 % of the times of keys of the operating system's, 50 to 88 % through the debugger protocol; less strong, since input methods make keys of their own",
    fires: {
      keyOffGridShare: 0.6,
      browserFamily: "chromium",
      browserSystem: "linux",
      platform: "Linux x86_64",
      touchPoints: 0,
    },
    staysQuiet: {
      keyOffGridShare: 0.6,
      browserFamily: "chromium",
      browserSystem: "linux",
      platform: "Win32",
      touchPoints: 5,
    },
  }),
  detection({
    id: 300304,
    slug: "leaping-wheel",
    engine: "behavioral",
    state: "scoring",
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
    engine: "behavioral",
    state: "scoring",
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
