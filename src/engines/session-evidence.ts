/**
 * What detections may read: the features turned into facts, shares and deviations with a meaning. undefined stands for "not
 * observed, or too little of it to say"; a detection that reads such a value is skipped. Conclusions live in detections/.
 */
import { type LastRequest, type TicketState, ticketStates } from "../contract/evidence.js";
import { type BrowserFamily, browserFamilies, type ClaimedSystem } from "./claimed-browser.js";
import { isCleanDispatch } from "./clean-dispatch.js";
import { contradictsPlatform } from "./client-hints.js";
import { claimedSystem, environmentFacts, fontsForeign } from "./environment-evidence.js";
import {
  flag,
  holdCorrelation,
  holdGapCorrelation,
  missingKinds,
  number,
  ratio,
  spread,
  spreadOf,
  strokeCorrelation,
  text,
  variation,
} from "./evidence-values.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** One session's evidence. Shares are 0 to 1, times ms, lengths CSS pixels. */
export interface SessionEvidence {
  // identity
  userAgent: string;
  browserFamily: BrowserFamily;
  browserVersion: number;
  browserSystem: ClaimedSystem;
  browserMobile: boolean;
  /** An app's web view or a browser known to rewrite headers. */
  browserEmbedded: boolean;
  /** Batches without User-Agent. */
  noUserAgent: number;
  /** 2: the user agent names a tool that no person's browser is; 1: one that ordinary apps use as well. */
  toolAgent: number;
  crawlerClaim: number;
  webdriver: boolean;
  userAgentChanges: number;
  networkChanges: number;
  // headers: batches in which something is missing or odd
  batches: number;
  noAcceptLanguage: number;
  anyAcceptLanguage: number;
  noAccept: number;
  libraryAccept: number;
  noAcceptEncoding: number;
  noBrotli: number;
  noOrigin: number;
  /** False when a batch came from a page without https (and not on loopback): browsers then leave headers out. */
  secureContext: boolean;
  /** True when every batch came from an https page. */
  securePage: boolean;
  noFetchMetadata: number;
  partFetchMetadata: number;
  navigationFetch: number;
  noClientHints: number;
  clientHintsForeign: number;
  platformForeign: number;
  // rate
  ipSessions: number;
  shapeSessions: number;
  /** Sessions that opened with this environment, from this network, in an hour. */
  environmentSessions: number;
  /** The worst that a start ticket of the session turned out to be. */
  startTicket: TicketState;
  /** The SDK's second file has reported, and no start ticket came with it. */
  startTicketMissing: boolean;
  /** Batches whose last event is stamped before it can have happened; events out of order in their batch; an environment, but no page in the first of several. */
  earlyEvents: number;
  stampReversals: number;
  pagelessStart: boolean;
  sessionSeconds: number;
  events: number;
  eventsPerSecond: number;
  // forged
  futureEvents: number;
  clockSpreadSeconds: number;
  /** By how much that spread exceeds the age of the session: events from before its beginning, or from the future. */
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
  /** Clicks with isTrusted false, their share of all clicks that say so, and what a visitor did by hand. */
  clicksUntrusted: number;
  clicksUntrustedShare: number;
  handActs: number;
  /** What was done with a pointer or a finger. */
  handMoves: number;
  // environment
  /** How many of ten things that every browser tells a page were reported. */
  environmentFacts: number;
  uaMobile: boolean;
  /** User agent of the page against that of its requests. */
  uaDiffers: boolean;
  brandsDiffer: boolean;
  headlessBrand: boolean;
  languagesDiffer: boolean;
  languages: string;
  languageCount: number;
  acceptLanguage: string;
  timezone: string;
  tzOffset: number;
  platform: string;
  cpu: number;
  memory: number;
  touchPoints: number;
  plugins: number;
  mimeTypes: number;
  screenW: number;
  screenH: number;
  availW: number;
  availH: number;
  innerW: number;
  innerH: number;
  outerW: number;
  outerH: number;
  dpr: number;
  colorDepth: number;
  webglRenderer: string;
  chromeObject: boolean;
  permissionsMismatch: boolean;
  permission: string;
  evalLength: number;
  stackProbe: boolean;
  rtt: number;
  rafMean: number;
  rafSd: number;
  driverArtifacts: string;
  nativeTampered: string;
  iframeMismatch: string;
  workerMismatch: string;
  pageUserAgent: string;
  /** The browser's media queries know of no pointer at all. */
  noPointer: boolean;
  /** Of three client hints that the page asks for, how many are empty; the page's platform is another system than the user agent's. */
  hintsEmpty: number;
  pagePlatformForeign: boolean;
  uaFullVersion: string;
  /** Fonts of another system are there, and none of the claimed one. */
  fontsForeign: boolean;
  // pointer
  points: number;
  steps: number;
  /** Pairs of consecutive steps of at least 8 px, and the share of them that are equal within a rounding. */
  stepPairs: number;
  repeatedSteps: number;
  /** Mean length of the second steps of these pairs. */
  stepLength: number;
  /** Difference between the steps of such pairs, relative to their length. */
  bend: number;
  /** Share of three such steps in a row that lie on a smooth curve, evenly spaced. */
  smoothShare: number;
  /** How the length of steps follows their duration: 1 as a hand's does, 0 not at all (exponent of the power law). */
  paceExponent: number;
  paces: number;
  /** Share of strokes that stop dead at full speed. */
  abruptShare: number;
  meanTurn: number;
  turns: number;
  /** Moments at which the path leaves its line by pixels, their share of all that could, and the share of those to and fro. */
  swerves: number;
  swerveShare: number;
  swervesBackShare: number;
  /** Share of steps as short as those in which a hand comes to rest. */
  slowShare: number;
  /** Share of moves that cross a screen within moments. */
  leapShare: number;
  /** Share of moves that are faster than any hand. */
  rushShare: number;
  /** Mean and coefficient of variation of the intervals between points. */
  gapMean: number;
  gapVariation: number;
  strokes: number;
  straightMean: number;
  straightSpread: number;
  spurts: number;
  /** Peak of the speed of strokes by its mean: the mean over strokes, and its coefficient of variation. */
  peakMean: number;
  peakVariation: number;
  /** Correlation of the distance with the duration of strokes. */
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
  holdVariation: number;
  /** Clicks whose aim is known, and the share of them in the very middle of their target. */
  clicksMeasured: number;
  centeredShare: number;
  clicksByKey: number;
  /** Clicks soon after a move, and the share of them that happened elsewhere than the pointer was. */
  clicksTracked: number;
  astrayShare: number;
  /** Share of the moments (clicks, moves after a pause) at which the pointer was suddenly elsewhere; moments, and steps for each. */
  brokenShare: number;
  breakChances: number;
  stepsPerResume: number;
  /** Paths that count their moves as the SDK does, but lack what it measures of them. */
  bareReports: number;
  /** What the SDK measures of moves is as the operating system's input has it, and nothing else tells of a driver. */
  cleanDispatch: boolean;
  /** They are so, and nearly all long steps repeat the one before: a stick or a number pad draws the same path again, and proves nothing by it. */
  isDevicePath: boolean;
  /** Beside headers that begin with Sec-, at most one kind is lacking, and the page reports: as behind a proxy that strips some. */
  strippedHeaders: boolean;
  /** Share of the times between a mouse's moves that are not whole milliseconds; the same of keys. */
  offGridShare: number;
  keyOffGridShare: number;
  unmovedClickShare: number;
  jumpedClickShare: number;
  shingles: number;
  replayedShare: number;
  /** The same of the hashes over turns, which outlive thinning and scaling in time. */
  turnHashes: number;
  replayedTurnShare: number;
  /** Hashes over corners, which outlive turning and scaling; by how many another session that showed them leads, and that as a share. */
  cornerHashes: number;
  cornerLead: number;
  cornerLeadShare: number;
  /** Some moves came merged into one event, as those of the operating system do when they are faster than frames. */
  mergedMoves: boolean;
  touches: number;
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
  flightMean: number;
  flightVariation: number;
  shortFlightShare: number;
  /** Share of flights that take no time: under 3 ms. */
  instantFlightShare: number;
  /** Pairs of presses that a rhythm is told from; mean and coefficient of variation of the times between them. */
  keyPairs: number;
  pressMean: number;
  pressVariation: number;
  /** Shares of presses after a pause, before the last key was up, and far closer than the mean. */
  keyPauseShare: number;
  keyOverlapShare: number;
  closeKeyShare: number;
  /** Correlation of a key's hold with the time from its release to the next press, and with the next hold. */
  holdGapCorrelation: number;
  holdCorrelation: number;
}

/** What a detection about sessions may read. */
export type EvidenceName = keyof SessionEvidence;
/** Evidence of one session, as detections get it: undefined for what was not observed, or too little. */
export type Evidence = { readonly [Name in EvidenceName]: SessionEvidence[Name] | undefined };

/** Evidence of a session: pure, about two microseconds. */
export function evidenceOf(features: SessionFeatures, last: LastRequest): Evidence {
  const n = features.numbers;
  const texts = features.texts;
  const isClaimed = n[F.browserFamily] !== 0;
  const seconds = Math.max(0, n[F.lastSeenMs]! - n[F.firstSeenMs]!) / 1000;
  const hasPath = n[F.steps]! >= stepsMin;
  const hasHolds = n[F.holds]! >= clicksMin;
  const hasFlights = n[F.flights]! >= keysMin;
  const gaps = n[F.gaps]!;
  const cleanDispatch = isCleanDispatch(features);
  return {
    userAgent: last.userAgent === "" ? undefined : last.userAgent,
    browserFamily: browserFamilies[n[F.browserFamily]! - 1],
    browserVersion: n[F.browserVersion] === 0 ? undefined : n[F.browserVersion],
    browserSystem: claimedSystem(n),
    browserMobile: isClaimed ? n[F.browserMobile] === 1 : undefined,
    browserEmbedded: isClaimed ? n[F.browserEmbedded] === 1 : undefined,
    noUserAgent: n[F.noUserAgent],
    toolAgent: n[F.toolAgent],
    crawlerClaim: n[F.crawlerClaim],
    webdriver: flag(n[F.webdriver]!),
    userAgentChanges: n[F.userAgentChanges],
    networkChanges: n[F.networkChanges],
    batches: n[F.batches],
    noAcceptLanguage: n[F.noAcceptLanguage],
    anyAcceptLanguage: n[F.anyAcceptLanguage],
    noAccept: n[F.noAccept],
    libraryAccept: n[F.libraryAccept],
    noAcceptEncoding: n[F.noAcceptEncoding],
    noBrotli: n[F.noBrotli],
    noOrigin: n[F.noOrigin],
    secureContext: n[F.plainOrigin] === 0,
    securePage: n[F.otherOrigin] === 0,
    noFetchMetadata: n[F.noFetchMetadata],
    partFetchMetadata: n[F.partFetchMetadata],
    navigationFetch: n[F.navigationFetch],
    noClientHints: n[F.noClientHints],
    clientHintsForeign: n[F.clientHintsForeign],
    platformForeign: n[F.platformForeign],
    ipSessions: n[F.ipSessionsMax],
    shapeSessions: n[F.shapeSessionsMax],
    environmentSessions: n[F.environmentSessionsMax],
    startTicket: ticketStates[n[F.startTicket]!],
    startTicketMissing: Number.isNaN(n[F.anyPointer]) ? undefined : Number.isNaN(n[F.startTicket]),
    earlyEvents: n[F.earlyEvents],
    stampReversals: n[F.stampReversals],
    pagelessStart: n[F.batches]! > 1 ? n[F.pagelessStart] === 1 : undefined,
    sessionSeconds: seconds,
    events: n[F.events],
    eventsPerSecond: seconds >= 5 ? n[F.events]! / seconds : undefined,
    futureEvents: n[F.futureEvents],
    clockSpreadSeconds: number(n[F.clockSkewMax]! - n[F.clockSkewMin]!),
    secondsBeforeSession: number(n[F.clockSkewMax]! - n[F.clockSkewMin]! - seconds),
    timeReversals: n[F.timeReversals],
    badCoordinates: n[F.badCoordinates],
    outsideViewport: n[F.outsideViewport],
    badDurations: n[F.badDurations],
    honeypots: n[F.honeypots],
    instantFills: n[F.instantFills],
    unkeyedShare: ratio(n[F.unkeyed]!, n[F.formChanges]!, 3),
    submits: n[F.submits],
    untrustedShare: ratio(n[F.untrusted]!, n[F.untrusted]! + n[F.trusted]!, 1),
    untrusted: n[F.untrusted],
    clicksUntrusted: n[F.clicksUntrusted],
    clicksUntrustedShare: ratio(n[F.clicksUntrusted]!, n[F.clicksUntrusted]! + n[F.clicksTrusted]!, 1),
    handActs: n[F.clicksTrusted]! + n[F.keys]! + n[F.touches]! + Math.max(0, n[F.points]! - restingPoints),
    handMoves: n[F.clicks]! + n[F.touches]! + Math.max(0, n[F.points]! - restingPoints),
    environmentFacts: environmentFacts(features),
    uaMobile: flag(n[F.uaMobile]!),
    uaDiffers: flag(n[F.uaDiffers]!),
    brandsDiffer: flag(n[F.brandsDiffer]!),
    headlessBrand: flag(n[F.headlessBrand]!),
    languagesDiffer: flag(n[F.languagesDiffer]!),
    languages: text(texts[T.languages]!),
    languageCount: number(n[F.languageCount]!),
    acceptLanguage: text(texts[T.acceptLanguage]!),
    timezone: text(texts[T.timezone]!),
    tzOffset: number(n[F.tzOffset]!),
    platform: text(texts[T.platform]!),
    cpu: number(n[F.cpu]!),
    memory: number(n[F.memory]!),
    touchPoints: number(n[F.touchPoints]!),
    plugins: number(n[F.plugins]!),
    mimeTypes: number(n[F.mimeTypes]!),
    screenW: number(n[F.screenW]!),
    screenH: number(n[F.screenH]!),
    availW: number(n[F.availW]!),
    availH: number(n[F.availH]!),
    innerW: number(n[F.innerW]!),
    innerH: number(n[F.innerH]!),
    outerW: number(n[F.outerW]!),
    outerH: number(n[F.outerH]!),
    dpr: number(n[F.dpr]!),
    colorDepth: number(n[F.colorDepth]!),
    webglRenderer: text(texts[T.webglRenderer]!),
    chromeObject: flag(n[F.chromeObject]!),
    permissionsMismatch: flag(n[F.permissionsMismatch]!),
    permission: text(texts[T.permission]!),
    evalLength: number(n[F.evalLength]!),
    stackProbe: flag(n[F.stackProbe]!),
    rtt: number(n[F.rtt]!),
    rafMean: number(n[F.rafMean]!),
    rafSd: number(n[F.rafSd]!),
    driverArtifacts: text(texts[T.driverArtifacts]!),
    nativeTampered: text(texts[T.nativeTampered]!),
    iframeMismatch: text(texts[T.iframeMismatch]!),
    workerMismatch: text(texts[T.workerMismatch]!),
    pageUserAgent: text(texts[T.pageUserAgent]!),
    noPointer: Number.isNaN(n[F.anyPointer]) ? undefined : n[F.anyPointer] === 0,
    hintsEmpty: number(n[F.hintsEmpty]!),
    pagePlatformForeign:
      texts[T.uaPlatform] === "" ? undefined : contradictsPlatform(`"${texts[T.uaPlatform]}"`, claimedSystem(n)),
    uaFullVersion: text(texts[T.uaFullVersion]!),
    fontsForeign: fontsForeign(n),
    points: n[F.points],
    steps: n[F.steps],
    stepPairs: n[F.pairs],
    repeatedSteps: ratio(n[F.pairsSame]!, n[F.pairs]!, pairsMin),
    stepLength: ratio(n[F.pairLength]!, n[F.pairs]!, pairsMin),
    bend: n[F.pairs]! >= stepsMin ? n[F.pairBend]! / n[F.pairLength]! : undefined,
    smoothShare: ratio(n[F.triplesSmooth]!, n[F.triples]!, stepsMin),
    paceExponent: n[F.paces]! >= stepsMin ? n[F.paceProducts]! / n[F.paceSquares]! : undefined,
    paces: n[F.paces],
    abruptShare: ratio(n[F.spurtsAbrupt]!, n[F.spurts]!, spurtsMin),
    spurts: n[F.spurts],
    rushShare: ratio(n[F.rushes]!, n[F.points]!, stepsMin),
    turns: n[F.turns],
    swerves: n[F.swerves],
    swerveShare: ratio(n[F.swerves]!, n[F.swerveChances]!, stepsMin),
    swervesBackShare: ratio(n[F.swervesBack]!, n[F.swerves]!, swervesMin),
    slowShare: ratio(n[F.slowSteps]!, n[F.steps]!, stepsMin),
    leapShare: ratio(n[F.leaps]!, gaps, stepsMin),
    meanTurn: ratio(n[F.turnSum]!, n[F.turns]!, turnsMin),
    gapMean: ratio(n[F.gapSum]!, gaps, stepsMin),
    gapVariation: hasPath ? variation(gaps, n[F.gapSum]!, n[F.gapSquares]!, stepsMin) : undefined,
    strokes: n[F.strokes],
    straightMean: ratio(n[F.straightSum]!, n[F.strokes]!, strokesMin),
    straightSpread: spread(n[F.strokes]!, n[F.straightSum]!, n[F.straightSquares]!, strokesMin),
    peakMean: ratio(n[F.peakSum]! / 64, n[F.strokes]!, strokesMin),
    peakVariation: variation(n[F.strokes]!, n[F.peakSum]! / 64, n[F.peakSquares]! / 64, strokesMin),
    distanceTimeCorrelation: n[F.strokes]! >= correlationStrokesMin ? strokeCorrelation(n) : undefined,
    rises: n[F.rises],
    riseSkewness: ratio(n[F.riseSkewnessSum]!, n[F.rises]!, risesMin),
    riseSpread: spread(n[F.rises]!, n[F.riseSkewnessSum]!, n[F.riseSkewnessSquares]!, risesMin),
    fractionShare:
      n[F.fractionalN]! > 0 ? n[F.fractionalSum]! / n[F.fractionalN]! : ratio(n[F.fractionPoints]!, n[F.points]!, 5),
    coalescedMean: ratio(n[F.coalescedSum]!, n[F.coalescedN]!, 1),
    lagMean: ratio(n[F.lagSum]!, n[F.lagN]!, 1),
    movementMismatch: ratio(n[F.mismatchSum]!, n[F.mismatchN]!, 1),
    clicks: n[F.clicks],
    holds: n[F.holds],
    shortHoldShare: hasHolds ? n[F.holdsShort]! / n[F.holds]! : undefined,
    holdVariation: variation(n[F.holds]!, n[F.holdSum]!, n[F.holdSquares]!, 8),
    unmovedClickShare: ratio(n[F.clicksUnmoved]!, n[F.clicksPlaced]!, clicksMin),
    jumpedClickShare: ratio(n[F.clicksJumped]!, n[F.clicksPlaced]!, clicksMin),
    clicksMeasured: n[F.clicksMeasured],
    centeredShare: ratio(n[F.clicksCentered]!, n[F.clicksMeasured]!, clicksMin),
    clicksByKey: n[F.clicksByKey],
    clicksTracked: n[F.clicksTracked],
    brokenShare: ratio(n[F.clicksAstray]! + n[F.jumps]!, n[F.clicksTracked]! + n[F.resumes]!, 1),
    breakChances: n[F.clicksTracked]! + n[F.resumes]!,
    stepsPerResume: n[F.steps]! / (1 + n[F.resumes]!),
    bareReports: n[F.bareReports],
    astrayShare: ratio(n[F.clicksAstray]!, n[F.clicksTracked]!, clicksMin),
    cleanDispatch,
    isDevicePath: cleanDispatch && n[F.pairs]! >= pairsMin && n[F.pairsSame]! / n[F.pairs]! >= deviceRepeatsMin,
    strippedHeaders: environmentFacts(features) >= reportMin && missingKinds(n) <= 1,
    offGridShare: ratio(n[F.rowGaps]! - n[F.rowGapsWhole]!, n[F.rowGaps]!, stepsMin),
    keyOffGridShare: ratio(n[F.keyTimes]! - n[F.keyTimesWhole]!, n[F.keyTimes]!, stepsMin),
    shingles: n[F.shingles],
    replayedShare: ratio(n[F.shinglesReplayed]!, n[F.shingles]!, shinglesMin),
    turnHashes: n[F.turnHashes],
    replayedTurnShare: ratio(n[F.turnHashesReplayed]!, n[F.turnHashes]!, turnHashesMin),
    cornerHashes: n[F.cornerHashes],
    cornerLead: n[F.cornerLeadMax],
    cornerLeadShare: ratio(n[F.cornerLeadMax]!, n[F.cornerHashes]!, 1),
    mergedMoves: n[F.coalescedN]! > 0 && n[F.coalescedSum]! / n[F.coalescedN]! > mergedMin,
    touches: n[F.touches],
    flatTouchShare: ratio(n[F.touchFlat]!, n[F.touches]!, 3),
    scrolls: n[F.scrolls],
    scrollGaps: n[F.scrollGaps],
    scrollDistance: Math.abs(n[F.scrollDistance]!),
    scrollGapMean: ratio(n[F.scrollGapSum]!, n[F.scrollGaps]!, scrollsMin),
    scrollGapVariation: variation(n[F.scrollGaps]!, n[F.scrollGapSum]!, n[F.scrollGapSquares]!, scrollsMin),
    scrollSameShare: ratio(n[F.scrollSame]!, n[F.scrolls]!, scrollsMin),
    scrollsUncaused: n[F.scrollsUncaused],
    wheelLeaps: n[F.wheelLeaps],
    wheelLeapShare: ratio(n[F.wheelLeaps]!, n[F.wheelBursts]!, 1),
    uncausedScrollShare: ratio(n[F.scrollsUncaused]!, n[F.scrolls]!, 4),
    keys: n[F.keys],
    dwellMean: ratio(n[F.dwellSum]!, n[F.dwells]!, keysMin),
    dwellVariation: variation(n[F.dwells]!, n[F.dwellSum]!, n[F.dwellSquares]!, keysMin),
    shortDwellShare: ratio(n[F.dwellsShort]!, n[F.dwells]!, keysMin),
    flightMean: ratio(n[F.flightSum]!, n[F.flights]!, keysMin),
    flightVariation: hasFlights ? spreadOf(n[F.flights]!, n[F.flightSum]!, n[F.flightSquares]!) : undefined,
    shortFlightShare: ratio(n[F.flightsShort]!, n[F.flights]!, keysMin),
    instantFlightShare: ratio(n[F.flightsInstant]!, n[F.flights]!, keysMin),
    keyPairs: n[F.keyPairs],
    pressMean: ratio(n[F.pairGapSum]!, n[F.keyPairs]!, keyPairsMin),
    pressVariation: variation(n[F.keyPairs]!, n[F.pairGapSum]!, n[F.pairGapSquares]!, keyPairsMin),
    keyPauseShare: ratio(n[F.pressPauses]!, n[F.pressGaps]!, keyPairsMin),
    keyOverlapShare: ratio(n[F.pressOverlaps]!, n[F.pressGaps]!, keyPairsMin),
    closeKeyShare: ratio(n[F.pairsClose]!, n[F.keyPairs]!, keyPairsMin),
    holdGapCorrelation: holdGapCorrelation(n, keyPairsMin),
    holdCorrelation: holdCorrelation(n, keyPairsMin),
  };
}

/** Least amounts from which shares and deviations mean something. */
const stepsMin = 20;
const pairsMin = 8;
/** Share of repeated steps from which no hand or finger makes them, as of `mechanical-steps`. */
const deviceRepeatsMin = 0.85;
const turnsMin = 16;
const swervesMin = 8;
const spurtsMin = 2;
const strokesMin = 4;
const correlationStrokesMin = 6;
const risesMin = 8;
const clicksMin = 2;
const scrollsMin = 8;
const keysMin = 12;
const keyPairsMin = 60;
/** Facts of an environment from which a page is there. */
const reportMin = 4;
const shinglesMin = 4;
const turnHashesMin = 8;
/** Moves an event, on average, from which some were merged: drivers' are 1.00 in 40 captures, people's 1.02 to 3.4 in 13. */
const mergedMin = 1.01;
/** A page that opens under a resting pointer reports so many points, though nobody moves. */
const restingPoints = 3;
