/**
 * Family 3001, motion: what the mass of a hand and the way it aims leave in a path, and programs leave out. Mostly corroboration
 * for what behavioral-steps.ts and behavioral-movements.ts see.
 */
import { detection } from "./detection.js";

/** Below this range the pointer is where eyes rest: an eye tracker's jitter is no zigzag along a line. */
const travellingRange = 4;

/** About sessions, from speeds, turns and pauses along the pointer's path. */
export const motionDetections = [
  detection({
    id: 300134,
    slug: "jagged-path",
    meaning: "At moderate speed the pointer zigzags around its line from report to report.",
    strength: "notable",
    cause: "jitter",
    reads: ["swerves", "swerveShare", "swervesBackShare", "spanRange"],
    when: (e) =>
      e.swerves >= 8 && e.swerveShare >= 0.075 && e.swervesBackShare >= 0.8 && e.spanRange >= travellingRange,
    source:
      "noise added to the points of a curve: of independent errors three in four swerves go back at once; a hand's mass keeps it to one side, and its own tremor takes six reports there and back. Fast aiming that is polled every 10 ms comes to 0.073 in visits of eight windows",
    fires: { swerves: 9, swerveShare: 0.1, swervesBackShare: 0.9, spanRange: 9 },
    staysQuiet: { swerves: 40, swerveShare: 0.2, swervesBackShare: 0.3, spanRange: 9 },
  }),
  detection({
    id: 300135,
    slug: "noisy-path",
    meaning: "The pointer repeatedly shakes from report to report as no hand can.",
    strength: "moderate",
    cause: "jitter",
    reads: ["swerves", "swerveShare", "swervesBackShare", "spanRange"],
    when: (e) =>
      e.swerves >= 12 && e.swerveShare >= 0.09 && e.swervesBackShare >= 0.8 && e.spanRange >= travellingRange,
    source: "as above, with twice the evidence",
    fires: { swerves: 20, swerveShare: 0.1, swervesBackShare: 0.9, spanRange: 9 },
    staysQuiet: { swerves: 40, swerveShare: 0.2, swervesBackShare: 0.9, spanRange: 0.6 },
  }),
  detection({
    id: 300140,
    slug: "one-speed-profile",
    meaning:
      "Every pointer movement is nearly straight, speeds up and slows down in the same way, and has a low peak speed.",
    strength: "notable",
    cause: "speed_profile",
    group: "evenness",
    reads: ["peakMean", "peakVariation", "straightMean", "movements", "gapMean"],
    when: (e) =>
      e.peakMean <= 2.5 && e.peakVariation <= 0.2 && e.straightMean >= 0.88 && e.movements >= 5 && e.gapMean <= 60,
    source:
      "easing curves, minimum-jerk profiles (a peak of 1.9 times the mean) and steady walks, movement after movement; hands aim in a fast movement and slow corrections: a peak of 3.2 times the mean that varies by a third; one of 5,574 human windows",
    fires: { peakMean: 1.9, peakVariation: 0.1, straightMean: 0.96, movements: 8, gapMean: 16 },
    staysQuiet: { peakMean: 3.2, peakVariation: 0.35, straightMean: 0.96, movements: 8, gapMean: 16 },
  }),
  detection({
    id: 300143,
    slug: "one-rise-of-speed",
    meaning: "Every pointer movement, however long, accelerates in the same way, as if by a formula.",
    strength: "moderate",
    cause: "speed_profile",
    group: "aid",
    reads: ["rises", "riseSkewness", "riseSpread"],
    when: (e) =>
      e.rises >= 16 &&
      e.riseSpread < (e.rises >= 24 ? 0.145 : 0.13) &&
      e.riseSkewness >= -1.2 &&
      e.riseSkewness <= -0.42,
    source:
      "minimum-jerk, log-normal and eased movements, with tremor, overshoots and overlapping submovements: a spread of 0.03 to 0.1. Of people's windows joined in any order to runs of 16 the least is 0.16, of 24 it is 0.18, whichever source is left out. Pointers that a filter smooths rise at once, at a skewness of -0.3 to -0.1, and sticks evenly, at 0",
    fires: { rises: 30, riseSkewness: -0.52, riseSpread: 0.06 },
    staysQuiet: { rises: 30, riseSkewness: -0.6, riseSpread: 0.4 },
  }),
  detection({
    id: 300136,
    slug: "never-slow",
    meaning: "The pointer repeatedly reaches its target without the small final steps of a hand.",
    strength: "weak",
    cause: "rest",
    group: "evenness",
    reads: ["slowShare", "steps", "movements", "gapMean"],
    when: (e) => e.slowShare <= 0.05 && e.steps >= 100 && e.movements >= 5 && e.gapMean <= 60,
    source:
      "generators that walk at a steady pace; of people only 2 % at a remote desktop, seen less than 16 times a second",
    fires: { slowShare: 0.02, steps: 300, movements: 8, gapMean: 16 },
    staysQuiet: { slowShare: 0.15, steps: 300, movements: 8, gapMean: 16 },
  }),
  detection({
    id: 300137,
    slug: "pace-hardly-follows-time",
    meaning: "Along a smooth path, step lengths hardly follow their uneven durations.",
    strength: "weak",
    cause: "time_blind",
    group: "evenness",
    reads: ["paceExponent", "paces", "smoothShare", "bend", "gapVariation"],
    when: (e) =>
      Math.abs(e.paceExponent) <= 0.3 &&
      e.paces >= 20 &&
      e.smoothShare >= 0.6 &&
      e.bend <= 0.33 &&
      e.gapVariation <= 0.4,
    source:
      "what is left of `pace-ignores-time` when few durations differ; no window of any human source, and where times stray they vary more",
    fires: { paceExponent: 0.25, paces: 24, smoothShare: 0.7, bend: 0.2, gapVariation: 0.2 },
    staysQuiet: { paceExponent: 0.9, paces: 24, smoothShare: 0.7, bend: 0.2, gapVariation: 0.2 },
  }),
  detection({
    id: 300138,
    slug: "abrupt-ends",
    meaning: "Movements with partly equal steps end without slowing down.",
    strength: "weak",
    cause: "stops",
    group: "evenness",
    reads: ["abruptShare", "spurts", "repeatedSteps"],
    when: (e) => e.abruptShare >= 0.6 && e.spurts >= 3 && e.repeatedSteps >= 0.45,
    source: "what is left of `dead-stops` in short visits; no window of any human source",
    fires: { abruptShare: 1.0, spurts: 3, repeatedSteps: 0.6 },
    staysQuiet: { abruptShare: 0.2, spurts: 3, repeatedSteps: 0.6 },
  }),
];
