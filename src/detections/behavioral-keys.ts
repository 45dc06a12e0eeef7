/** Families 3002 to 3004: typing, touch, scrolling and cadence. Too little of it skips a detection. */
import { detection } from "./detection.js";

/** About sessions, from the times of keys, from touches, scrolling and form fields, and from the pace of moves. */
export const keyDetections = [
  detection({
    id: 300201,
    slug: "instant-keys",
    meaning: "Keys are released as soon as they are pressed.",
    strength: "notable",
    cause: "key_dwell",
    group: "aid",
    reads: ["shortDwellShare", "keys"],
    when: (e) => e.shortDwellShare > 0.5,
    source: "drivers press and release in one go; at most 9 % of the keys of any of 900 typists",
    fires: { shortDwellShare: 1.0, keys: 30 },
    staysQuiet: { shortDwellShare: 0.0, keys: 30 },
  }),
  detection({
    id: 300202,
    slug: "metronome-typing",
    meaning: "The intervals between keys are practically constant.",
    strength: "notable",
    cause: "key_rhythm",
    group: "aid",
    reads: ["flightVariation", "flightMean", "keys"],
    when: (e) => e.flightVariation < 0.08 && e.flightMean > 15,
    source: "constant delays: no typist of 900",
    fires: { flightVariation: 0.01, flightMean: 120, keys: 40 },
    staysQuiet: { flightVariation: 0.5, flightMean: 120, keys: 40 },
  }),
  detection({
    id: 300203,
    slug: "burst-typing",
    meaning: "Keys follow each other with no time in between.",
    strength: "notable",
    cause: "key_rhythm",
    group: "aid",
    reads: ["shortFlightShare", "keys"],
    when: (e) => e.shortFlightShare > 0.8,
    source:
      "typing without a delay; at most 36 % of the keys of any of 1,440 typists, and 71 % through a clock of 100 ms as Tor Browser's",
    fires: { shortFlightShare: 1.0, keys: 40 },
    staysQuiet: { shortFlightShare: 0.1, keys: 40 },
  }),
  detection({
    id: 300208,
    slug: "keys-without-flight",
    meaning: "Each key goes down at the exact moment the previous one comes up.",
    strength: "notable",
    cause: "key_rhythm",
    group: "aid",
    reads: ["instantFlightShare", "keys"],
    when: (e) => e.instantFlightShare >= 0.8 && e.keys >= 20,
    source:
      "drivers that hold keys but wait for nothing between them: 0.85 to 1; at most 0.29 of any of 1,440 typists, 0.71 through a clock of 100 ms",
    fires: { instantFlightShare: 0.95, keys: 30 },
    staysQuiet: { instantFlightShare: 0.1, keys: 30 },
  }),
  detection({
    id: 300204,
    slug: "equal-dwells",
    meaning: "Every key is held for the same time.",
    strength: "notable",
    cause: "key_dwell",
    group: "aid",
    reads: ["dwellVariation", "dwellMean", "keys"],
    when: (e) => e.dwellVariation < 0.03 && e.dwellMean >= 8,
    source: "constant press times of drivers; people vary by a quarter",
    fires: { dwellVariation: 0.01, dwellMean: 80, keys: 30 },
    staysQuiet: { dwellVariation: 0.25, dwellMean: 80, keys: 30 },
  }),
  detection({
    id: 300207,
    slug: "even-typing",
    meaning: "The intervals between keys vary far less than any typist's.",
    strength: "notable",
    cause: "key_rhythm",
    group: "aid",
    reads: ["flightVariation", "flightMean", "keys"],
    when: (e) => e.flightVariation < 0.4 && e.flightMean > 15 && e.keys >= 20,
    source: "delays drawn from a narrow range; the least of 900 typists is 0.54",
    fires: { flightVariation: 0.25, flightMean: 90, keys: 40 },
    staysQuiet: { flightVariation: 0.9, flightMean: 90, keys: 40 },
  }),
  detection({
    id: 300210,
    slug: "nothing-but-made-keys",
    meaning: "Much text was typed in a way that no hand types, and nothing else was done.",
    strength: "moderate",
    cause: "key_rhythm",
    group: "aid",
    reads: [
      "shortDwellShare",
      "shortFlightShare",
      "flightVariation",
      "flightMean",
      "dwellVariation",
      "heldKeys",
      "heldMean",
      "keys",
      "handMoves",
    ],
    when: (e) =>
      e.keys >= 60 &&
      e.handMoves === 0 &&
      // Some keys held by a finger: who dictates goes on with Tab.
      !(e.heldKeys >= 2 && e.heldMean >= 40 && e.heldMean <= 300 && e.shortDwellShare > 0.5) &&
      // Bursts with a hand's pauses between: words of a steno keyboard or of a voice.
      !(e.flightVariation >= 1 && e.flightMean >= 10 && e.shortFlightShare <= 0.9) &&
      (e.shortDwellShare > 0.5 ||
        e.shortFlightShare > 0.8 ||
        e.dwellVariation < 0.03 ||
        (e.flightVariation < 0.08 && e.flightMean > 15)),
    source:
      "typing through a driver, and no more: no typist of 900; security keys and scanners type up to 50 characters, and who has a program type for them does something by hand: a finger on Tab, strokes of a steno keyboard, pauses between spoken words",
    fires: {
      shortDwellShare: 1.0,
      shortFlightShare: 1.0,
      flightVariation: 0.1,
      flightMean: 1,
      dwellVariation: 0.5,
      heldKeys: 0,
      heldMean: 0,
      keys: 90,
      handMoves: 0,
    },
    staysQuiet: {
      shortDwellShare: 1.0,
      shortFlightShare: 1.0,
      flightVariation: 0.1,
      flightMean: 1,
      dwellVariation: 0.5,
      heldKeys: 0,
      heldMean: 0,
      keys: 44,
      handMoves: 0,
    },
  }),
  detection({
    id: 300211,
    slug: "unvaried-typing",
    meaning:
      "Many keys were typed without a pause at the end of any word, without an overlap, at times that hardly vary.",
    strength: "moderate",
    cause: "key_rhythm",
    group: "aid",
    reads: ["pressMean", "pressVariation", "keyPauseShare", "keyOverlapShare", "keyPairs"],
    when: (e) => e.pressMean >= 50 && e.pressVariation < 0.44 && e.keyPauseShare < 0.01 && e.keyOverlapShare < 0.02,
    source:
      "delays drawn from a uniform, normal or log-normal distribution: 95 to 100 % from 60 keys on; at the end of its text none of 1,430 of 720 typists, one at any key on the way. Scanners and password managers type faster",
    fires: { pressMean: 140, pressVariation: 0.25, keyPauseShare: 0.0, keyOverlapShare: 0.0, keyPairs: 90 },
    staysQuiet: { pressMean: 160, pressVariation: 0.4, keyPauseShare: 0.03, keyOverlapShare: 0.05, keyPairs: 90 },
  }),
  detection({
    id: 300212,
    slug: "keys-drawn-by-lot",
    meaning:
      "How long a key is held and when the next one goes down are unrelated, and presses follow each other impossibly fast.",
    strength: "moderate",
    cause: "key_rhythm",
    group: "aid",
    reads: ["holdGapCorrelation", "holdCorrelation", "closeKeyShare", "keyPauseShare", "keyPairs"],
    when: (e) =>
      e.holdGapCorrelation > -0.2 + 1 / Math.sqrt(e.keyPairs) &&
      e.holdCorrelation < 0.2 &&
      e.closeKeyShare >= 0.03 + 1.5 / e.keyPairs &&
      e.keyPauseShare < 0.12 &&
      e.keyPairs >= 100,
    source:
      "holds and gaps drawn one by one from those of people: 68 % from 180 keys on; of 720 typists one at any key on the way, none at the end. Bounds leave room for chance, which is larger the fewer keys there are. Without the bound of pauses, work with shortcuts and games comes to it (5 of 99 stretches of `barkworth`)",
    fires: { holdGapCorrelation: 0.02, holdCorrelation: 0.01, closeKeyShare: 0.06, keyPauseShare: 0.04, keyPairs: 150 },
    staysQuiet: {
      holdGapCorrelation: -0.31,
      holdCorrelation: 0.1,
      closeKeyShare: 0.06,
      keyPauseShare: 0.04,
      keyPairs: 150,
    },
  }),
  detection({
    id: 300205,
    slug: "unexplained-text",
    meaning: "Text appeared in fields without keys, paste or autofill.",
    strength: "weak",
    cause: "form_fill",
    group: "aid",
    reads: ["unkeyedShare"],
    when: (e) => e.unkeyedShare >= 0.8,
    source: "scripts that set values; password managers and dictation do so too",
    fires: { unkeyedShare: 1.0 },
    staysQuiet: { unkeyedShare: 0.1 },
  }),
  detection({
    id: 300206,
    slug: "instant-form",
    meaning: "A form of several fields was filled in within a third of a second, without autofill.",
    strength: "notable",
    cause: "form_fill",
    group: "aid",
    reads: ["instantFills"],
    when: (e) => e.instantFills > 0,
    source: "nobody types three fields in 300 ms",
    fires: { instantFills: 1 },
    staysQuiet: { instantFills: 0 },
  }),
  detection({
    id: 300301,
    slug: "flat-touches",
    state: "experimental",
    meaning: "Touches carry neither pressure nor radius.",
    strength: "weak",
    cause: "touch_form",
    reads: ["flatTouchShare", "touches"],
    when: (e) => e.flatTouchShare >= 0.9,
    source: "emulated touch; some devices report neither",
    fires: { flatTouchShare: 1.0, touches: 6 },
    staysQuiet: { flatTouchShare: 0.0, touches: 6 },
  }),
  detection({
    id: 300302,
    slug: "uncaused-scrolling",
    meaning: "The page scrolls without wheel, key, finger or pointer.",
    strength: "weak",
    cause: "scroll_cause",
    group: "aid",
    reads: ["uncausedScrollShare", "scrolls"],
    when: (e) => e.uncausedScrollShare >= 0.8,
    source: "scrollTo of a script; sites with their own scrolling do so too",
    fires: { uncausedScrollShare: 1.0, scrolls: 8 },
    staysQuiet: { uncausedScrollShare: 0.2, scrolls: 8 },
  }),
  detection({
    id: 300303,
    slug: "metronome-scrolling",
    meaning: "A dozen or more scrolls came at constant intervals, each over the same distance.",
    strength: "moderate",
    cause: "scroll_rhythm",
    group: "aid",
    reads: [
      "scrollGapVariation",
      "scrollSameShare",
      "scrollGapMean",
      "scrollGaps",
      "scrollDistance",
      "uncausedScrollShare",
    ],
    when: (e) =>
      e.scrollGapVariation < 0.05 &&
      e.scrollSameShare >= 0.9 &&
      e.scrollGaps >= 11 &&
      // A clock of 100 ms, as Tor Browser's, makes flicks so.
      e.scrollGapMean % 100 !== 0 &&
      (e.scrollGapMean > 20 || e.scrollDistance >= 100) &&
      e.uncausedScrollShare < 0.2,
    source:
      "a wheel turned by a timer: at most 0.03, all of 159; 0.11 at least of 318 windows of people, who turn it in flicks. Frames of a page that glides come as evenly, but go few pixels each, and pages that scroll by themselves are told apart",
    fires: {
      scrollGapVariation: 0.01,
      scrollSameShare: 0.95,
      scrollGapMean: 250.4,
      scrollGaps: 14,
      scrollDistance: 300,
      uncausedScrollShare: 0.0,
    },
    staysQuiet: {
      scrollGapVariation: 0.01,
      scrollSameShare: 0.95,
      scrollGapMean: 17,
      scrollGaps: 40,
      scrollDistance: 12,
      uncausedScrollShare: 0.0,
    },
  }),
  detection({
    id: 300401,
    slug: "metronome-moves",
    state: "experimental",
    meaning: "Pointer moves come at constant intervals off the frame rate.",
    strength: "weak",
    cause: "move_rhythm",
    reads: ["gapVariation", "gapMean"],
    when: (e) =>
      e.gapVariation < 0.03 && (e.gapMean < 6.5 || (e.gapMean > 8.6 && (e.gapMean < 16 || e.gapMean > 17.2))),
    source: "fixed sleeps; transfers poorly between recorders",
    fires: { gapVariation: 0.01, gapMean: 10 },
    staysQuiet: { gapVariation: 0.4, gapMean: 10 },
  }),
];
