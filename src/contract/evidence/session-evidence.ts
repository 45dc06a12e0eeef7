/**
 * What detections may read of a session: meaningful facts, shares and deviations, which `engines/session-evidence.ts` derives from its features.
 * undefined means "not observed, or too little of it"; a detection that reads such a value is skipped.
 */
import type { BrowserEvidence } from "./browser-evidence.js";
import type { TicketState } from "./evidence.js";

/** One session's evidence. Shares are 0 to 1, times ms, lengths CSS pixels. */
export interface SessionEvidence extends BrowserEvidence {
  // identity
  webdriver: boolean;
  userAgentChanges: number;
  networkChanges: number;
  // batches, and those in which something is odd
  batches: number;
  libraryAccept: number;
  navigationFetch: number;
  // rate
  ipSessions: number;
  shapeSessions: number;
  /** Sessions that opened with this environment, from this network, in an hour. */
  environmentSessions: number;
  /** The worst state of any of the session's start tickets. */
  startTicket: TicketState;
  /** The SDK's second file has reported, without a start ticket. */
  startTicketMissing: boolean;
  /**
   * Batches with a last event that is stamped before it can have happened; events out of order in their batch; several batches with an environment,
   * but no page in the first.
   */
  earlyEvents: number;
  stampReversals: number;
  pagelessStart: boolean;
  sessionSeconds: number;
  eventsPerSecond: number;
  // forged
  futureEvents: number;
  /** How often the visitor's clock leapt by over an hour against the server's: once where somebody set it. */
  clockLeaps: number;
  clockSpreadSeconds: number;
  /** How much that spread exceeds the age of the session: events from before its beginning, or from the future. */
  secondsBeforeSession: number;
  timeReversals: number;
  badCoordinates: number;
  outsideViewport: number;
  badDurations: number;
  honeypots: number;
  instantFills: number;
  unkeyedShare: number;
  submits: number;
  untrustedShare: number;
  untrusted: number;
  /** Clicks with isTrusted false, their share of all clicks with that fact, and a visitor's actions by hand. */
  clicksUntrusted: number;
  clicksUntrustedShare: number;
  handActs: number;
  /** Actions with a pointer or a finger. */
  handMoves: number;
  // environment
  /** How many of ten things that every browser tells a page were reported. */
  environmentFacts: number;
  uaMobile: boolean;
  /** The page's user agent compared with its requests'. */
  uaDiffers: boolean;
  brandsDiffer: boolean;
  headlessBrand: boolean;
  languagesDiffer: boolean;
  languageCount: number;
  timezone: string;
  tzOffset: number;
  platform: string;
  cpu: number;
  memory: number;
  touchPoints: number;
  plugins: number;
  screenW: number;
  screenH: number;
  availW: number;
  innerW: number;
  innerH: number;
  outerW: number;
  outerH: number;
  dpr: number;
  colorDepth: number;
  webglRenderer: string;
  chromeObject: boolean;
  permissionsMismatch: boolean;
  evalLength: number;
  stackProbe: boolean;
  rtt: number;
  rafMean: number;
  driverArtifacts: string;
  nativeTampered: string;
  iframeMismatch: string;
  workerMismatch: string;
  pageUserAgent: string;
  /** The browser's media queries report no pointer at all. */
  noPointer: boolean;
  /** How many of three requested client hints are empty; the page's platform is another system than the user agent's. */
  hintsEmpty: number;
  pagePlatformForeign: boolean;
  uaFullVersion: string;
  /** It has fonts of another system, and none of the claimed one. */
  fontsForeign: boolean;
  // pointer
  points: number;
  steps: number;
  /** Pairs of consecutive steps of at least 8 px, and the share of pairs with equal steps, up to rounding. */
  stepPairs: number;
  repeatedSteps: number;
  /** Mean length of the second steps of these pairs. */
  stepLength: number;
  /** Difference between the steps of such pairs, relative to their length. */
  bend: number;
  /** Share of three such steps in a row that lie on a smooth curve, evenly spaced. */
  smoothShare: number;
  /** How closely the length of steps follows their duration: 1 as for a hand, 0 not at all (exponent of the power law). */
  paceExponent: number;
  paces: number;
  /** Share of movements that stop suddenly at full speed. */
  abruptShare: number;
  /** Mean squared distance from the middle of 16 steps, by the mean squared step: 0.5 for jitter around a place, 2.7 for a random walk, 21 for a line. */
  spanRange: number;
  meanTurn: number;
  turns: number;
  /** Times at which the path leaves its line by pixels, their share of all possible ones, and the share that goes to and fro. */
  swerves: number;
  swerveShare: number;
  swervesBackShare: number;
  /** Share of steps as short as a hand's when it comes to rest. */
  slowShare: number;
  /** Share of moves that cross a screen within milliseconds. */
  leapShare: number;
  /** Share of moves that are faster than any hand. */
  rushShare: number;
  /** Mean and coefficient of variation of the intervals between points. */
  gapMean: number;
  gapVariation: number;
  movements: number;
  straightMean: number;
  straightSpread: number;
  spurts: number;
  /** Peak speed of movements divided by their mean speed: the mean over movements, and its coefficient of variation. */
  peakMean: number;
  peakVariation: number;
  /** Correlation of the distance with the duration of movements. */
  distanceTimeCorrelation: number;
  /** Rises of speed in reaches: how many, mean and standard deviation of their skewness. See `fold-reaches.ts`. */
  rises: number;
  riseSkewness: number;
  riseSpread: number;
  fractionShare: number;
  coalescedMean: number;
  lagMean: number;
  movementMismatch: number;
  clicks: number;
  shortHoldShare: number;
  holds: number;
  /** Clicks with a known aim, and the share of them in the exact middle of their target. */
  clicksMeasured: number;
  /** Of these, clicks in the middle of their target. */
  clicksCentered: number;
  centeredShare: number;
  /** How many clicks of `arrivalClicks` hit the middle: within 6 % of the target's half size. */
  centeredArrivals: number;
  /** Clicks soon after a move, and the share of them at another position than the pointer's. */
  clicksTracked: number;
  astrayShare: number;
  /**
   * Share of the times (clicks, moves after a pause) at which the pointer suddenly was at another position; the number of these times, and steps for
   * each.
   */
  brokenShare: number;
  breakChances: number;
  stepsPerResume: number;
  /** Paths that count their moves as the SDK does, but lack its measurements of them. */
  bareReports: number;
  /** The SDK's measurements match the operating system's input, and nothing else suggests a driver. */
  cleanDispatch: boolean;
  /** The same, and nearly all long steps repeat the one before: a stick or a number pad draws the same path again, which proves nothing. */
  isDevicePath: boolean;
  /** Besides headers that begin with Sec-, at most one kind is missing, and the page reports: as after a proxy that strips some. */
  strippedHeaders: boolean;
  unmovedClickShare: number;
  jumpedClickShare: number;
  shingles: number;
  replayedShare: number;
  /** The same for the hashes over turns, which survive thinning and scaling in time. */
  turnHashes: number;
  replayedTurnShare: number;
  /** How many more hashes over corners, which survive turning and scaling, the leading other session has shown; and that as a share. */
  cornerLead: number;
  cornerLeadShare: number;
  touches: number;
  /** Touches by the browser itself where it knows its pointers and no page of the session told of a touch screen; else 0, as the next two. */
  screenlessTouches: number;
  /** Of those, touches with a radius of 1 px at most, as a debugger's client sends them. */
  narrowTouches: number;
  /** Of those, taps in the middle of their target: within 6 % of its half size. */
  centeredTaps: number;
  flatTouchShare: number;
  // scroll
  scrolls: number;
  /** Times of under 2 s between scrolls, and the distance of the last one. */
  scrollGaps: number;
  scrollDistance: number;
  scrollGapMean: number;
  scrollGapVariation: number;
  scrollSameShare: number;
  uncausedScrollShare: number;
  scrollsUncaused: number;
  /** Bursts of the wheel that went a notch or more in one event, and their share of all bursts of that length. */
  wheelLeaps: number;
  wheelLeapShare: number;
  // keys
  keys: number;
  dwellMean: number;
  dwellVariation: number;
  shortDwellShare: number;
  /** Keys held for 8 ms and more. */
  heldKeys: number;
  /** ms; 0 if there are none. */
  heldMean: number;
  flightMean: number;
  flightVariation: number;
  shortFlightShare: number;
  /** Share of flights without duration: under 3 ms. */
  instantFlightShare: number;
  /** Pairs of presses for measuring rhythm; mean and coefficient of variation of the times between them. */
  keyPairs: number;
  pressMean: number;
  pressVariation: number;
  /** Shares of presses after a pause, before the last key was up, and far closer than the mean. */
  keyPauseShare: number;
  keyOverlapShare: number;
  closeKeyShare: number;
  /** Keys in a row that were held for as long as the one before, to a millisecond. */
  equalHolds: number;
  // how agents act
  /** Clicks of a mouse with at most two moves on their page, which neither came in by the border nor had been there. */
  arrivalClicks: number;
  /** Clicks of a mouse elsewhere than the one before, 2 s and more later, with at most two moves between. */
  quietClicks: number;
  pastes: number;
  fieldsFilled: number;
  /** Clicks of another button than the first, which open a menu or paste. */
  menuClicks: number;
  /** Most pages in a row that were open for under half a second. */
  quickPages: number;
  /** Pages without a referrer that replaced one on which nothing was done. */
  typedPages: number;
  /** Times at which the page had a user's activation that nothing in it explains. */
  loneActivations: number;
  /** Pages that nobody had touched yet and the pointer, well inside them, found activated. */
  activeMoves: number;
  /** Presses of a mouse without the pressure that browsers give each. */
  weightlessPresses: number;
  /** Presses in the very middle of their target, by a mouse that had hardly moved. */
  exactClicks: number;
  /** Forms of two fields and more whose texts came without a key, a paste, a drop, an input method or the browser's autofill. */
  unkeyedForms: number;
  /**
   * Forms of three fields and more that a script filled in at once and that were sent, on a page that a script's click on another one had led to, before
   * anybody had touched any page.
   */
  scriptedForms: number;
  /** Pages that a script's click on another one had led to, before anybody had touched any page; 0 once somebody has. */
  scriptedPages: number;
  /** Sum of the event's `placed_texts`: fields that had text at once, and no hand led to them. */
  placedTexts: number;
  /** Sum of its `led_texts`: fields that had text at once after a press or a key. */
  ledTexts: number;
  /** Sum of its `placed_texts`, `led_texts` and `late_texts`. */
  quickTexts: number;
  /**
   * Presses of a mouse on Linux whose hold is no whole number of milliseconds, as X11 counts them, while the mouse was always on whole pixels, where under
   * Wayland it seldom is. 0 on other systems. Remote desktops under Wayland have such presses, so they say nothing alone.
   */
  splitHolds: number;
  /** Whether a mouse on Linux first moved by X11's clock, in whole milliseconds, and later on the same page by another one. */
  twoClocks: boolean;
  /** Whether pointers have whole pixels there: an unscaled display of Windows, or of Linux under X11 or Wayland. */
  pixelGrid: boolean;
  /** Whether the mouse was between pixels all the same. */
  betweenPixels: boolean;
  /** Presses and keys in a hidden page. */
  hiddenActs: number;
  /** Times at which two tabs had the focus together. */
  sharedFocus: number;
  /** A client of the debugger's protocol was seen; false also where browsers can't tell. */
  debuggerSeen: boolean;
  /** Printing keys that were pressed again without a release, or the reverse. */
  unpairedKeys: number;
  /** Correlation of a key's hold time with the time from its release to the next press, and with the next hold. */
  holdGapCorrelation: number;
  holdCorrelation: number;
}

/** What a detection about sessions may read. */
type SessionEvidenceName = keyof SessionEvidence;
/** Evidence of one session in the form for detections: undefined for what was not observed, or too little. */
export type Evidence = { readonly [Name in SessionEvidenceName]: SessionEvidence[Name] | undefined };
