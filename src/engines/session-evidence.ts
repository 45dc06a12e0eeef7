/** Turns a session's features into what detections may read (`contract/evidence/session-evidence.ts`). Conclusions live in detections/. */
import { browserFamilies } from "../contract/evidence/claimed-browser.js";
import { type LastRequest, ticketStates } from "../contract/evidence/evidence.js";
import type { Evidence } from "../contract/evidence/session-evidence.js";
import { crawlerClaims } from "../contract/evidence/visitor.js";
import { claimsOf } from "./agent-claims.js";
import { namesAppsView } from "./claimed-browser.js";
import { isCleanDispatch } from "./clean-dispatch.js";
import { contradictsPlatform } from "./client-hints.js";
import {
  claimedSystem,
  environmentFacts,
  fontsForeign,
  hasNoTouchScreen,
  hasPixelGrid,
  isLinuxDesktop,
  isOnLinuxPixels,
} from "./environment-evidence.js";
import {
  flag,
  holdCorrelation,
  holdGapCorrelation,
  missingKinds,
  movementCorrelation,
  number,
  ratio,
  spread,
  spreadOf,
  text,
  variation,
} from "./evidence-values.js";
import { secondClock } from "./fold-pointer.js";
import { agentChangesWithinMs } from "./fold-request.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** Returns the evidence of a session: pure, about two microseconds. */
export function evidenceOf(features: SessionFeatures, last: LastRequest): Evidence {
  const n = features.numbers;
  const texts = features.texts;
  const isClaimed = n[F.browserFamily] !== 0;
  const seconds = Math.max(0, n[F.lastSeenMs]! - n[F.firstSeenMs]!) / 1000;
  const hasPath = n[F.steps]! >= stepsMin;
  const isCoarse = hasCoarseClock(n);
  const hasHolds = n[F.holds]! >= clicksMin && !isCoarse;
  const hasFlights = n[F.flights]! >= keysMin;
  const gaps = n[F.gaps]!;
  const cleanDispatch = isCleanDispatch(features);
  const pixelGrid = hasPixelGrid(features);
  const noTouchScreen = hasNoTouchScreen(n);
  const strippedHeaders = environmentFacts(features) >= reportMin && missingKinds(n) <= 1;
  return {
    userAgent: last.userAgent === "" ? undefined : last.userAgent,
    browserFamily: browserFamilies[n[F.browserFamily]! - 1],
    browserVersion: n[F.browserVersion] === 0 ? undefined : n[F.browserVersion],
    browserSystem: claimedSystem(n),
    browserMobile: isClaimed ? n[F.browserMobile] === 1 : undefined,
    browserEmbedded: isClaimed ? n[F.browserEmbedded] === 1 : undefined,
    noUserAgent: n[F.noUserAgent],
    toolAgent: n[F.toolAgent],
    crawlerClaim: isAppsView(n, last.userAgent) ? 0 : n[F.crawlerClaim],
    webdriver: flag(n[F.webdriver]!),
    userAgentChanges: n[F.lastSeenMs]! - n[F.agentChangesSinceMs]! > agentChangesWithinMs ? 0 : n[F.userAgentChanges],
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
    eventsPerSecond: seconds >= 5 ? n[F.events]! / seconds : undefined,
    futureEvents: n[F.futureEvents],
    clockLeaps: n[F.clockLeaps],
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
    handActs: n[F.clicksTrusted]! + n[F.keys]! + movesByHand(n),
    handMoves: n[F.clicks]! + movesByHand(n),
    environmentFacts: environmentFacts(features),
    uaMobile: flag(n[F.uaMobile]!),
    uaDiffers: flag(n[F.uaDiffers]!),
    brandsDiffer: flag(n[F.brandsDiffer]!),
    headlessBrand: flag(n[F.headlessBrand]!),
    languagesDiffer: flag(n[F.languagesDiffer]!),
    languageCount: number(n[F.languageCount]!),
    timezone: text(texts[T.timezone]!),
    tzOffset: number(n[F.tzOffset]!),
    platform: text(texts[T.platform]!),
    cpu: number(n[F.cpu]!),
    memory: number(n[F.memory]!),
    touchPoints: number(n[F.touchPoints]!),
    plugins: number(n[F.plugins]!),
    screenW: number(n[F.screenW]!),
    screenH: number(n[F.screenH]!),
    availW: number(n[F.availW]!),
    innerW: number(n[F.innerW]!),
    innerH: number(n[F.innerH]!),
    outerW: number(n[F.outerW]!),
    outerH: number(n[F.outerH]!),
    dpr: number(n[F.dpr]!),
    colorDepth: number(n[F.colorDepth]!),
    webglRenderer: text(texts[T.webglRenderer]!),
    chromeObject: flag(n[F.chromeObject]!),
    permissionsMismatch: flag(n[F.permissionsMismatch]!),
    evalLength: number(n[F.evalLength]!),
    stackProbe: flag(n[F.stackProbe]!),
    rtt: number(n[F.rtt]!),
    rafMean: number(n[F.rafMean]!),
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
    spanRange: ratio(n[F.spanRangeSum]!, n[F.spans]!, spansMin),
    meanTurn: ratio(n[F.turnSum]!, n[F.turns]!, turnsMin),
    gapMean: ratio(n[F.gapSum]!, gaps, stepsMin),
    gapVariation: hasPath ? variation(gaps, n[F.gapSum]!, n[F.gapSquares]!, stepsMin) : undefined,
    movements: n[F.movements],
    straightMean: ratio(n[F.straightSum]!, n[F.movements]!, movementsMin),
    straightSpread: spread(n[F.movements]!, n[F.straightSum]!, n[F.straightSquares]!, movementsMin),
    peakMean: ratio(n[F.peakSum]! / 64, n[F.movements]!, movementsMin),
    peakVariation: variation(n[F.movements]!, n[F.peakSum]! / 64, n[F.peakSquares]! / 64, movementsMin),
    distanceTimeCorrelation: n[F.movements]! >= correlationMovementsMin ? movementCorrelation(n) : undefined,
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
    unmovedClickShare: ratio(n[F.clicksUnmoved]!, n[F.clicksPlaced]!, clicksMin),
    jumpedClickShare: ratio(n[F.clicksJumped]!, n[F.clicksPlaced]!, clicksMin),
    clicksMeasured: n[F.clicksMeasured],
    clicksCentered: n[F.clicksCentered],
    centeredShare: ratio(n[F.clicksCentered]!, n[F.clicksMeasured]!, clicksMin),
    clicksTracked: n[F.clicksTracked],
    brokenShare: isCoarse ? undefined : ratio(n[F.clicksAstray]! + n[F.jumps]!, n[F.clicksTracked]! + n[F.resumes]!, 1),
    breakChances: n[F.clicksTracked]! + n[F.resumes]!,
    stepsPerResume: n[F.steps]! / (1 + n[F.resumes]!),
    bareReports: n[F.bareReports],
    astrayShare: isCoarse ? undefined : ratio(n[F.clicksAstray]!, n[F.clicksTracked]!, clicksMin),
    cleanDispatch,
    isDevicePath: cleanDispatch && n[F.pairs]! >= pairsMin && n[F.pairsSame]! / n[F.pairs]! >= deviceRepeatsMin,
    strippedHeaders,
    browserLines: strippedHeaders,
    shingles: n[F.shingles],
    replayedShare: ratio(n[F.shinglesReplayed]!, n[F.shingles]!, shinglesMin),
    turnHashes: n[F.turnHashes],
    replayedTurnShare: ratio(n[F.turnHashesReplayed]!, n[F.turnHashes]!, turnHashesMin),
    cornerLead: n[F.cornerLeadMax],
    cornerLeadShare: ratio(n[F.cornerLeadMax]!, n[F.cornerHashes]!, 1),
    touches: n[F.touches],
    screenlessTouches: noTouchScreen ? n[F.touches]! - n[F.scriptedTouches]! : 0,
    narrowTouches: noTouchScreen ? n[F.narrowTouches] : 0,
    centeredTaps: noTouchScreen ? n[F.tapsCentered] : 0,
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
    shortDwellShare: isCoarse ? undefined : ratio(n[F.dwellsShort]!, n[F.dwells]!, keysMin),
    heldKeys: n[F.dwells]! - n[F.dwellsShort]!,
    heldMean: n[F.dwells]! > n[F.dwellsShort]! ? n[F.dwellSum]! / (n[F.dwells]! - n[F.dwellsShort]!) : 0,
    flightMean: ratio(n[F.flightSum]!, n[F.flights]!, keysMin),
    flightVariation: hasFlights ? spreadOf(n[F.flights]!, n[F.flightSum]!, n[F.flightSquares]!) : undefined,
    shortFlightShare: isCoarse ? undefined : ratio(n[F.flightsShort]!, n[F.flights]!, keysMin),
    instantFlightShare: isCoarse ? undefined : ratio(n[F.flightsInstant]!, n[F.flights]!, keysMin),
    equalHolds: isCoarse ? undefined : n[F.holdRunMax],
    arrivalClicks: n[F.arrivalClicks],
    centeredArrivals: n[F.arrivalsCentered],
    quietClicks: n[F.quietClicks],
    pastes: n[F.pastes],
    fieldsFilled: n[F.fieldsFilled],
    menuClicks: n[F.menuClicks],
    quickPages: n[F.quickPagesMax],
    typedPages: n[F.typedPages],
    loneActivations: n[F.loneActivations],
    activeMoves: n[F.activeMoves],
    weightlessPresses: n[F.weightlessPresses],
    exactClicks: n[F.exactClicks],
    unkeyedForms: n[F.unkeyedForms],
    scriptedForms: n[F.scriptedForms],
    scriptedPages: n[F.scriptedPages],
    placedTexts: n[F.placedTexts],
    ledTexts: n[F.ledTexts],
    quickTexts: n[F.placedTexts]! + n[F.ledTexts]! + n[F.lateTexts]!,
    splitHolds: pixelGrid && isOnLinuxPixels(n) ? n[F.splitHolds] : 0,
    twoClocks: isLinuxDesktop(n) && n[F.moveClock] === secondClock,
    pixelGrid,
    betweenPixels: pixelGrid && n[F.unzoomedFractions]! > 0,
    hiddenActs: n[F.hiddenActs],
    sharedFocus: n[F.sharedFocus],
    debuggerSeen: n[F.stackProbe] === 1,
    unpairedKeys: n[F.unpairedKeys],
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

/** A page that runs in an app whose previews have the same name. */
function isAppsView(n: readonly number[], userAgent: string): boolean {
  return n[F.crawlerClaim] === unverifiable && namesAppsView(userAgent, claimsOf(userAgent).browser);
}

const unverifiable = crawlerClaims.indexOf("unverifiable");

/**
 * Firefox that hides its clock (resistFingerprinting, Tor Browser): times of moves and keys are whole multiples of 100 ms, so that a click or a key of
 * a finger often takes none.
 */
function hasCoarseClock(n: readonly number[]): boolean {
  if (browserFamilies[n[F.browserFamily]! - 1] !== "firefox") return false;
  const times = n[F.rowGaps]! + n[F.keyTimes]!;
  return times >= coarseMin && (n[F.rowGapsCoarse]! + n[F.keyTimesCoarse]!) / times >= coarseShareMin;
}

/** Least amounts for meaningful shares and deviations. */
const stepsMin = 20;
const pairsMin = 8;
/** A higher share of repeated steps comes from no hand or finger, as in `mechanical-steps`. */
const deviceRepeatsMin = 0.85;
const turnsMin = 16;
const spansMin = 2;
const swervesMin = 8;
const spurtsMin = 2;
const movementsMin = 4;
const correlationMovementsMin = 6;
const risesMin = 8;
const clicksMin = 2;
const scrollsMin = 8;
const keysMin = 12;
const keyPairsMin = 60;
/** Number of environment facts that proves a page. */
const reportMin = 4;
const shinglesMin = 4;
const turnHashesMin = 8;
const coarseMin = 10;
const coarseShareMin = 0.95;
/** A page that opens under a resting pointer reports this many points without any movement. */
const restingPoints = 3;

/** Touches, and points of a pointer's way, that no script of the page dispatched. */
function movesByHand(n: readonly number[]): number {
  const points = n[F.points]! - n[F.scriptedPoints]!;
  return n[F.touches]! - n[F.scriptedTouches]! + Math.max(0, points - restingPoints);
}
