/**
 * Every number that a stored field of a session has ever had, with its name and kind, and records that older builds wrote. Append only: a
 * new field adds a line, a field that goes keeps its line and stands among `retiredFields`, and no golden record is ever made anew.
 */

/** In the order of their numbers, from 0. */
export const givenNumbers = `
  batches:u32 events:u32 firstSeenMs:f64 lastSeenMs:f64 pages:u16 presenceEvents:u32 userAgentHash:u32
  userAgentChanges:u16 toolAgent:u8 browserFamily:u8 browserVersion:u16 browserSystem:u8 browserMobile:u8
  browserEmbedded:u8 networkHash:u32 networkChanges:u16 noUserAgent:u16 noAcceptLanguage:u16
  anyAcceptLanguage:u16 noAccept:u16 noAcceptEncoding:u16 noBrotli:u16 noOrigin:u16 plainOrigin:u16
  otherOrigin:u16 noFetchMetadata:u16 partFetchMetadata:u16 navigationFetch:u16 noClientHints:u16
  clientHintsForeign:u16 libraryAccept:u16 ipSessionsMax:u16 shapeSessionsMax:u16 crawlerClaim:u8
  futureEvents:u16 timeReversals:u16 badCoordinates:u16 outsideViewport:u16 badDurations:u16 points:u32 rawT:f64
  rawX:f32 rawY:f32 rushes:u32 pathT:f64 pathX:f32 pathY:f32 stepX:f32 stepY:f32 stepMs:f32 priorX:f32
  priorY:f32 steps:u32 pairs:u32 pairsSame:u32 pairBend:f32 pairLength:f32 triples:u32 triplesSmooth:u32
  turns:u32 turnSum:f32 paces:u32 paceProducts:f32 paceSquares:f32 gaps:u32 gapSum:f32 gapSquares:f32
  fractionPoints:u32 jumps:u16 movements:u16 straightSum:f32 straightSquares:f32 movementDistanceSum:f32
  movementDistanceSquares:f32 movementTimeSum:f32 movementTimeSquares:f32 movementProducts:f32 spurts:u16
  spurtsAbrupt:u16 movementSteps:u16 movementX:f32 movementY:f32 movementLength:f32 movementMs:f32 ring:u32 ring0:u32
  ring1:u32 ring2:u32 ring3:u32 ring4:u32 ring5:u32 ring6:u32 ringX:f32 ringY:f32 shingles:u32
  shinglesReplayed:u32 turnHashes:u32 turnHashesReplayed:u32 turnXWay:u8 turnXEdge:u32 turnXHeld:u8 turnX0:u32
  turnX1:u32 turnX2:u32 turnYWay:u8 turnYEdge:u32 turnYHeld:u8 turnY0:u32 turnY1:u32 turnY2:u32 fractionalN:u32
  fractionalSum:f32 coalescedN:u32 coalescedSum:f32 lagN:u32 lagSum:f32 mismatchN:u32 mismatchSum:f32
  untrusted:u32 trusted:u32 clicks:u32 holds:u32 holdsShort:u32 holdSum:f32 holdSquares:f32 clicksPlaced:u32
  clicksUnmoved:u32 clicksJumped:u32 clicksMeasured:u32 clicksCentered:u32 clicksByKey:u32 pointsAtClick:u32
  clickX:f32 clickY:f32 touches:u32 touchFlat:u32 scrollsUncaused:u32 scrolls:u32 scrollT:f64 scrollGaps:u32
  scrollGapSum:f32 scrollGapSquares:f32 scrollSame:u32 scrollDistance:f32 keys:u32 dwells:u32 dwellSum:f32
  dwellSquares:f32 dwellsShort:u32 flights:u32 flightSum:f32 flightSquares:f32 flightsShort:u32 keyT:f64
  backspaces:u16 pastes:u16 forms:u16 submits:u16 honeypots:u16 unkeyed:u32 formChanges:u32 instantFills:u16
  clicksTrusted:u32 clicksUntrusted:u32 clicksTracked:u32 clicksAstray:u32 rowsTimed:u32 rowsWhole:u32
  bareReports:u32 resumes:u32 leaps:u32 flightsInstant:u32 slowSteps:u32 swerveChances:u32 swerves:u32
  swervesBack:u32 movementPeak:u32 peakSum:u32 peakSquares:u32 webdriver:u8 uaMobile:u8 uaDiffers:u8
  brandsDiffer:u8 headlessBrand:u8 languagesDiffer:u8 languageCount:u8 tzOffset:f32 cpu:u16 memory:f32
  touchPoints:u8 plugins:u16 mimeTypes:u16 screenW:u16 screenH:u16 availW:u16 availH:u16 innerW:u16 innerH:u16
  outerW:u16 outerH:u16 dpr:f32 colorDepth:u8 chromeObject:u8 permissionsMismatch:u8 evalLength:u16
  stackProbe:u8 rtt:f32 rafMean:f32 rafSd:f32 ttfb:f32 load:f32 clockSkewMin:f32 clockSkewMax:f32 platform:text
  languages:text timezone:text webglRenderer:text driverArtifacts:text nativeTampered:text iframeMismatch:text
  workerMismatch:text pageUserAgent:text permission:text acceptLanguage:text pathShares:u8 pathRoom:u16
  rowGaps:u32 rowGapsWhole:u32 keyTimes:u32 keyTimesWhole:u32 wheelBursts:u32 wheelLeaps:u32
  cornersHeld:u8 corner0:u32 corner1:u32 corner2:u32 corner3:u32 cornerFar:u32 cornerHashes:u32 cornerOwner:u32
  cornerLead:u16 cornerLeadMax:u16 platformForeign:u16 keyDwell:f32 pressGaps:u32 pressPauses:u32 pressOverlaps:u32
  keyPairs:u32 pairsClose:u32 pairGapSum:f32 pairGapSquares:f32 pairDwellSum:f32 pairDwellSquares:f32
  pairGapProducts:f32 pairDwellProducts:f32 reachX:f32 reachY:f32 reachMs:f32 reachSteps:u16 reachLength:f32
  reachFirst:f32 reachSecond:f32 reachThird:f32 reachPeak:u32 riseKnown:u8 riseSkewness:f32 rises:u32
  riseSkewnessSum:f32 riseSkewnessSquares:f32
  environmentSessionsMax:u16 earlyEvents:u16 stampReversals:u16 pagelessStart:u8 startTicket:u8 pageOrigin:f32
  anyPointer:u8 reachStalled:u8 hintsEmpty:u8 systemFonts:u8 uaPlatform:text uaFullVersion:text
  environmentReported:u8
  agentChangesSinceMs:f64 userAgentBefore:u32 userAgentShape:u32 rowGapsCoarse:u32 keyTimesCoarse:u32 clockSkewLast:f32
  spanSteps:u8 spanX:f32 spanY:f32 spanSumX:f32 spanSumY:f32 spanSquares:f32 spanWay:f32 spans:u32 spanRangeSum:f32
  spanSkipped:u8 agentMarks:text clockLeaps:u16 pointsAtPage:u32 leftX:f32 leftY:f32 pageByBorder:u8 arrivalClicks:u16 clickT:f64 quietClicks:u16
  holdRun:u16 holdRunMax:u16 pastes:u16 fieldsFilled:u32 menuClicks:u16 pageMs:f64 pageShown:u8 pageActed:u8 quickPages:u8
  quickPagesMax:u8 typedPages:u16 loneActivations:u16 exactClicks:u16 hiddenActs:u16 sharedFocus:u16 unpairedKeys:u16
  activeMoves:u16 weightlessPresses:u16 pageBlurMs:f64 mergedAtPage:u32 mergedAtClick:u32 unkeyedForms:u16
  placedTexts:u16 arrivalsCentered:u16
  unzoomedFractions:f32 scriptedPoints:u32 scriptedTouches:u32 splitHolds:u16 ledTexts:u16 lateTexts:u16
  agentMarkedMs:f64 agentActedMs:f64
  touchScreens:u16 narrowTouches:u16 tapsCentered:u16
  moveClock:u8
  handActed:u8 restX:f32 restY:f32 scriptClickMs:f64 scriptLeaves:u8 scriptedPages:u16 scriptedForms:u16
`
  .trim()
  .split(/\s+/)
  .map((each) => ({ name: each.split(":")[0]!, kind: each.split(":")[1]! }));

/** What the golden records hold in the field of a number. */
export function goldenValue(number: number, kind: string): number | string {
  if (kind === "text") return number === 213 ? "Win32" : `text ${number} é`;
  if (kind === "u8") return 1 + (number % 200);
  if (kind === "u16") return 1000 + number;
  if (kind === "u32") return 100_000 + number;
  return kind === "f32" ? number + 0.5 : 1.7e12 + number;
}

/** Records with every field of their time, by who wrote them. */
export const goldenRecords = [
  {
    writtenBy: "the build of version 5, which knew fields by position",
    fields: 224,
    base64:
      "BRYD/////////////////////////////////////6CNBqGNBgAggFb+vHhCADCAVv68eELsB6WNBqaNBu8HCQryBwwNDq6NBvcH+Af5B/oH+w" +
      "f8B/0H/gf/B4AIgQiCCIMIhAiFCIYIhwiICCKKCIsIjAiNCI4Ix40GAICCVv68eEIAACZCAAAqQsuNBgDAglb+vHhCAAA2QgAAOkIAAD5CAABC" +
      "QgAARkIAAEpCAABOQtSNBtWNBtaNBgAAXkIAAGJC2Y0G2o0G240GAAByQt2NBgAAekIAAH5C4I0GAACDQgAAhULjjQasCK0IAACNQgAAj0IAAJ" +
      "FCAACTQgAAlUIAAJdCAACZQrUItgi3CAAAoUIAAKNCAAClQgAAp0L0jQb1jQb2jQb3jQb4jQb5jQb6jQb7jQYAALlCAAC7Qv6NBv+NBoCOBoGO" +
      "BmODjgZlhY4Gho4Gh44GaYmOBmuLjgaMjgaNjgaOjgYAAN9CkI4GAADjQpKOBgAA50KUjgYAAOtClo4Gl44GmI4GmY4Gmo4GAAD3QgAA+UKdjg" +
      "aejgafjgagjgahjgaijgajjgYAgARDAIAFQ6aOBqeOBqiOBqmOBgCgiFb+vHhCq44GAIAMQwCADUOujgYAgA9DsI4GsY4GAIASQwCAE0O0jga1" +
      "jgYAgBZDAIAXQ7iOBgCQiVb+vHhCggmDCYQJhQmGCb+OBsCOBokJwo4Gw44GxI4GxY4Gxo4Gx44GyI4GyY4Gyo4Gy44GzI4GzY4Gzo4Gz44G0I" +
      "4G0Y4G0o4GtAG1AbYBtwG4AbkBugEAgDpDowkAgDxDvgGmCacJqAmpCaoJqwmsCa0JrgmvCQCASEMCAwS0CQYAgE5DAIBPQwCAUEMAgFFDAIBS" +
      "QwCAU0MAgFRDgAt0ZXh0IDIxNCDDqQt0ZXh0IDIxNSDDqQt0ZXh0IDIxNiDDqQt0ZXh0IDIxNyDDqQt0ZXh0IDIxOCDDqQt0ZXh0IDIxOSDDqQ" +
      "t0ZXh0IDIyMCDDqQt0ZXh0IDIyMSDDqQt0ZXh0IDIyMiDDqQt0ZXh0IDIyMyDDqQ==",
  },
  {
    writtenBy: "the first build of version 6",
    fields: 224,
    base64:
      "BhcDHP////////////////////////////////////+gjQahjQYAIIBW/rx4QgAwgFb+vHhC7AeljQamjQbvBwkK8gcMDQ6ujQb3B/gH+Qf6B/" +
      "sH/Af9B/4H/weACIEIggiDCIQIhQiGCIcIiAgiigiLCIwIjQiOCMeNBgCAglb+vHhCAAAmQgAAKkLLjQYAwIJW/rx4QgAANkIAADpCAAA+QgAA" +
      "QkIAAEZCAABKQgAATkLUjQbVjQbWjQYAAF5CAABiQtmNBtqNBtuNBgAAckLdjQYAAHpCAAB+QuCNBgAAg0IAAIVC440GrAitCAAAjUIAAI9CAA" +
      "CRQgAAk0IAAJVCAACXQgAAmUK1CLYItwgAAKFCAACjQgAApUIAAKdC9I0G9Y0G9o0G940G+I0G+Y0G+o0G+40GAAC5QgAAu0L+jQb/jQaAjgaB" +
      "jgZjg44GZYWOBoaOBoeOBmmJjgZri44GjI4GjY4Gjo4GAADfQpCOBgAA40KSjgYAAOdClI4GAADrQpaOBpeOBpiOBpmOBpqOBgAA90IAAPlCnY" +
      "4Gno4Gn44GoI4GoY4Goo4Go44GAIAEQwCABUOmjganjgaojgapjgYAoIhW/rx4QquOBgCADEMAgA1Dro4GAIAPQ7COBrGOBgCAEkMAgBNDtI4G" +
      "tY4GAIAWQwCAF0O4jgYAkIlW/rx4QoIJgwmECYUJhgm/jgbAjgaJCcKOBsOOBsSOBsWOBsaOBseOBsiOBsmOBsqOBsuOBsyOBs2OBs6OBs+OBt" +
      "COBtGOBtKOBrQBtQG2AbcBuAG5AboBAIA6Q6MJAIA8Q74BpgmnCagJqQmqCasJrAmtCa4JrwkAgEhDAgMEtAkGAIBOQwCAT0MAgFBDAIBRQwCA" +
      "UkMAgFNDAIBUQ4ALdGV4dCAyMTQgw6kLdGV4dCAyMTUgw6kLdGV4dCAyMTYgw6kLdGV4dCAyMTcgw6kLdGV4dCAyMTggw6kLdGV4dCAyMTkgw6" +
      "kLdGV4dCAyMjAgw6kLdGV4dCAyMjEgw6kLdGV4dCAyMjIgw6kLdGV4dCAyMjMgw6k=",
  },
  {
    writtenBy: "the first build of version 7",
    fields: 281,
    base64:
      "B40DJO/////////////////////7///jP///f/f/uD//////////AaCNBqGNBieC0JX/vDGD0JX/vDGljQamjQbvBwkK8gcMDQ6ujQb3B/gH+Qf6B/sH/A" +
      "f9B/4H/weACIEIggiDCIQIhQiGCIcIiAgiigiLCIwIjQiOCMeNBqjQlf+8MQAAJkIAACpCy40GrNCV/7wxAAA2QgAAOkIAAAA+QgAAQkIAAEZCAABKQgAA" +
      "TkLUjQbVjQbWjQYAAF5CAABiQtmNBtqNBtuNBgAAckLdjQYAAAB6QgAAfkLgjQYAAINCAACFQuONBqwIrQgAAI1CAACPQgAAkUIAAJNCAAAAlUIAAJdCAA" +
      "CZQrUItgi3CAAAoUIAAKNCAAClQgAAp0L0jQb1jQb2jQb3jQb4jQb5jQb6jQb7jQYAALlCAAAAu0L+jQb/jQaAjgaBjgZjg44GZYWOBoaOBoeOBmmJjgZr" +
      "i44GjI4GjY4Gjo4GAADfQpCOBgAA40KSjgYAAOdClI4GAADrQpaOBpeOBpiOBpmOBpqOBgAA90IAAPlCnY4Gno4Gn44GoI4GoY4Go44GAIAEQwIAgAVDpo" +
      "4Gp44GqI4GqY4GitGV/7wxq44GAIAMQwCADUOujgYAgA9DsI4GsY4GAIASQwCAE0O0jga1jgYAgBZDAgCAF0O4jgaZ0ZX/vDGFCYYJv44GwI4GiQnCjgbD" +
      "jgbEjgbFjgbIjgbJjgbKjgbLjgbMjgbNjgbOjgbPjgbQjgbRjgbSjga0AbUBtgG3AbgBuQG6AQCAOkOjCQCAPEO+AaYJqAmpCaoJrAmtCa4JrwkAgEhDAg" +
      "MEtAkGAIBOQwCAT0MAgFNDAACAVEOAC3RleHQgMjE1IMOpC3RleHQgMjE2IMOpC3RleHQgMjE3IMOpC3RleHQgMjE4IMOpC3RleHQgMjE5IMOpC3RleHQg" +
      "MjIwIMOpC3RleHQgMjIxIMOpGckJgo8Gg48GhI8GhY8Gho8Gh48GIYmPBoqPBouPBoyPBo2PBo6PBo+PBtgJ2QnaCQCAc0OUjwaVjwaWjwaXjwaYjwYAgH" +
      "lDAIB6QwCAe0MAgHxDAIB9QwCAfkMAAIB/QwBAgEMAwIBD6gkAwIFDAECCQwDAgkMAQINDp48GQQDAhEOqjwYAAMCFQwBAhkP1CfYJ9wlJSgBAiUNMTU5P" +
      "C3RleHQgMjc5IMOpC3RleHQgMjgwIMOp",
  },
] as const;
