/**
 * The one table of what scoring remembers of a session. The layout of the packed record, `newFeatures` and the names in the code derive from it.
 * Stored records identify fields by number: rows may be moved and renamed, and a new row in any list takes `nextFieldNumber`; a start with a
 * number that is taken names it. A field that changes its kind or its meaning is a new one; the number of a removed field is retired below.
 */

/** How a field is stored. Integers are variable-length and clamped to their width; f32 loses digits beyond the seventh. */
export type NumberKind = "u8" | "u16" | "u32" | "f32" | "f64";

interface NumberField {
  /** Its number in stored records: unique over all lists, and never reused. */
  readonly number: number;
  readonly name: string;
  readonly kind: NumberKind;
  readonly unit: string;
  readonly meaning: string;
}

interface TextField {
  /** As in number fields. */
  readonly number: number;
  readonly name: string;
  /** Characters kept. */
  readonly charactersMax: number;
  readonly meaning: string;
}

const row = <const N extends string>(number: number, name: N, kind: NumberKind, unit: string, meaning: string) => ({
  number,
  name,
  kind,
  unit,
  meaning,
});

const text = <const N extends string>(number: number, name: N, charactersMax: number, meaning: string) => ({
  number,
  name,
  charactersMax,
  meaning,
});

/**
 * Numbers of removed fields, never reused, and how they were stored: older records still hold them, and the reader skips them to find what follows.
 */
export const retiredFields: readonly { readonly number: number; readonly kind: NumberKind | "text" }[] = [
  { number: 4, kind: "u16" }, // page events
  { number: 123, kind: "f32" }, // sum of holds of clicks
  { number: 124, kind: "f32" }, // squares of them
  { number: 130, kind: "u32" }, // clicks without a pointer
  { number: 154, kind: "u16" }, // deletions while typing
  { number: 155, kind: "u16" }, // pastes
  { number: 156, kind: "u16" }, // form events
  { number: 166, kind: "u32" }, // rows timed from the first of their event
  { number: 167, kind: "u32" }, // of them whole milliseconds
  { number: 191, kind: "u16" }, // MIME types
  { number: 195, kind: "u16" }, // height of the usable screen
  { number: 208, kind: "f32" }, // deviation of the time between animation frames
  { number: 209, kind: "f32" }, // time to first byte
  { number: 210, kind: "f32" }, // time to the load event
  { number: 214, kind: "text" }, // languages of the page, joined by commas
  { number: 222, kind: "text" }, // Notification.permission
  { number: 223, kind: "text" }, // Accept-Language of the last request
  { number: 227, kind: "u32" }, // times between rows that are whole milliseconds
  { number: 229, kind: "u32" }, // times of keys that are
];

/** Sums and counts: they start at 0, and 0 is not stored. */
export const countFields = [
  row(0, "batches", "u32", "1", "batches folded"),
  row(1, "events", "u32", "1", "events folded"),
  row(2, "firstSeenMs", "f64", "ms", "server clock at the first batch"),
  row(3, "lastSeenMs", "f64", "ms", "server clock at the last batch"),
  row(5, "presenceEvents", "u32", "1", "visibility, focus and heartbeat events"),
  // request
  row(6, "userAgentHash", "u32", "hash", "user agent of the last request"),
  row(
    7,
    "userAgentChanges",
    "u16",
    "1",
    "changes of the user agent since agentChangesSinceMs, but for higher versions and returns to the one before",
  ),
  row(282, "agentChangesSinceMs", "f64", "ms", "server clock at the first of them"),
  row(283, "userAgentBefore", "u32", "hash", "user agent before the last one"),
  row(284, "userAgentShape", "u32", "hash", "user agent of the last request without its numbers"),
  row(
    8,
    "toolAgent",
    "u8",
    "code",
    "user agent names a tool: 0 no, 1 one that people's apps also use, 2 one that no browser sends",
  ),
  row(9, "browserFamily", "u8", "code", "position in `browserFamilies` of the claimed browser, from 1"),
  row(10, "browserVersion", "u16", "1", "its major version"),
  row(11, "browserSystem", "u8", "code", "position in `claimedSystems` of the claimed system, from 1"),
  row(12, "browserMobile", "u8", "bool", "a telephone or tablet is claimed"),
  row(13, "browserEmbedded", "u8", "bool", "a web view, or a browser that rewrites its headers, is claimed"),
  row(14, "networkHash", "u32", "hash", "network (/16, or /32 of IPv6) of the last request"),
  row(15, "networkChanges", "u16", "1", "batches from another network than the batch before"),
  row(16, "noUserAgent", "u16", "batches", "without User-Agent"),
  row(17, "noAcceptLanguage", "u16", "batches", "without Accept-Language"),
  row(18, "anyAcceptLanguage", "u16", "batches", "with the Accept-Language `*`, which no browser sends"),
  row(19, "noAccept", "u16", "batches", "without Accept"),
  row(20, "noAcceptEncoding", "u16", "batches", "without Accept-Encoding"),
  row(21, "noBrotli", "u16", "batches", "with an Accept-Encoding that lacks br"),
  row(22, "noOrigin", "u16", "batches", "without Origin"),
  row(23, "plainOrigin", "u16", "batches", "with an Origin that is http and no loopback address"),
  row(24, "otherOrigin", "u16", "batches", "whose Origin is missing or not https"),
  row(25, "noFetchMetadata", "u16", "batches", "without any Sec-Fetch header"),
  row(26, "partFetchMetadata", "u16", "batches", "with Sec-Fetch-Mode but neither Site nor Dest"),
  row(27, "navigationFetch", "u16", "batches", "with Sec-Fetch values that a script's request never has"),
  row(28, "noClientHints", "u16", "batches", "without Sec-CH-UA"),
  row(29, "clientHintsForeign", "u16", "batches", "whose Sec-CH-UA contradicts the User-Agent"),
  row(30, "libraryAccept", "u16", "batches", "whose Accept is a library's default"),
  row(31, "ipSessionsMax", "u16", "sessions", "most sessions seen from this address in an hour"),
  row(32, "shapeSessionsMax", "u16", "sessions", "most sessions that sent a batch of the same geometry"),
  row(33, "crawlerClaim", "u8", "code", "verdict on a claimed crawler: see `CrawlerClaim`"),
  // clocks and forged data
  row(34, "futureEvents", "u16", "1", "events stamped over a day after the server's clock"),
  row(299, "clockLeaps", "u16", "1", "batches before which the visitor's clock leapt by over an hour"),
  row(35, "timeReversals", "u16", "1", "events stamped before the event ahead of them"),
  row(36, "badCoordinates", "u16", "1", "points far outside of any screen"),
  row(37, "outsideViewport", "u16", "1", "points outside of the reported window"),
  row(38, "badDurations", "u16", "1", "negative or impossible durations"),
  // pointer path
  row(39, "points", "u32", "1", "points of pointer paths"),
  row(40, "rawT", "f64", "ms", "time of the last point, kept or not"),
  row(41, "rawX", "f32", "px", "last point, kept or not"),
  row(42, "rawY", "f32", "px", "last point, kept or not"),
  row(43, "rushes", "u32", "1", "moves of over 25 px within under 3 ms"),
  row(44, "pathT", "f64", "ms", "time of the last point kept, in the clock it came with"),
  row(45, "pathX", "f32", "px", "last point kept"),
  row(46, "pathY", "f32", "px", "last point kept"),
  row(47, "stepX", "f32", "px", "last step of the movement, 0 at its start"),
  row(48, "stepY", "f32", "px", "last step of the movement"),
  row(49, "stepMs", "f32", "ms", "its duration"),
  row(50, "priorX", "f32", "px", "step before the last one"),
  row(51, "priorY", "f32", "px", "step before the last one"),
  row(52, "steps", "u32", "1", "steps that moved (all sums of steps are halved when this passes its bound)"),
  row(53, "pairs", "u32", "1", "pairs of consecutive steps of at least 8 px"),
  row(54, "pairsSame", "u32", "1", "of them equal within a rounding"),
  row(55, "pairBend", "f32", "px", "sum of the differences between the steps of a pair"),
  row(56, "pairLength", "f32", "px", "sum of the lengths of the second steps of pairs"),
  row(57, "triples", "u32", "1", "three consecutive steps of at least 8 px"),
  row(58, "triplesSmooth", "u32", "1", "of them whose second difference is within rounding and a tenth of the step"),
  row(59, "turns", "u32", "1", "pairs of steps of at least 3 px"),
  row(60, "turnSum", "f32", "rad", "sum of their absolute turns"),
  row(61, "paces", "u32", "1", "pairs of steps of at least 4 px whose durations differ by a quarter"),
  row(62, "paceProducts", "f32", "1", "sum of log ratio of lengths times log ratio of durations"),
  row(63, "paceSquares", "f32", "1", "sum of squared log ratios of durations"),
  row(64, "gaps", "u32", "1", "intervals of 1 to 100 ms between points"),
  row(65, "gapSum", "f32", "ms", "their sum"),
  row(66, "gapSquares", "f32", "ms²", "their squares"),
  row(67, "fractionPoints", "u32", "1", "points that are not whole pixels"),
  row(68, "jumps", "u16", "1", "moves of a mouse of over 120 px across a pause of 250 ms to 5 s"),
  row(69, "movements", "u16", "1", "finished movements of at least 5 steps and 30 px"),
  row(70, "straightSum", "f32", "1", "sum of their straightness (chord by length)"),
  row(71, "straightSquares", "f32", "1", "squares"),
  row(72, "movementDistanceSum", "f32", "px", "sum of chords"),
  row(73, "movementDistanceSquares", "f32", "px²", "squares"),
  row(74, "movementTimeSum", "f32", "ms", "sum of durations"),
  row(75, "movementTimeSquares", "f32", "ms²", "squares"),
  row(76, "movementProducts", "f32", "px ms", "sum of chord times duration"),
  row(77, "spurts", "u16", "1", "finished movements of at least 6 steps of over 4 px on average"),
  row(78, "spurtsAbrupt", "u16", "1", "of them that end at over 0.6 of their mean step"),
  row(79, "movementSteps", "u16", "1", "steps of the movement under way"),
  row(80, "movementX", "f32", "px", "its origin"),
  row(81, "movementY", "f32", "px", "its origin"),
  row(82, "movementLength", "f32", "px", "its length so far"),
  row(83, "movementMs", "f32", "ms", "its duration so far"),
  // spans: 16 consecutive steps of up to 60 px
  row(288, "spanSteps", "u8", "1", "steps of the span under way"),
  row(289, "spanX", "f32", "px", "where it began"),
  row(290, "spanY", "f32", "px", "where it began"),
  row(291, "spanSumX", "f32", "px", "sum of its points' distances from there"),
  row(292, "spanSumY", "f32", "px", "the same along y"),
  row(293, "spanSquares", "f32", "px²", "sum of their squares"),
  row(294, "spanWay", "f32", "px²", "sum of its squared steps"),
  row(295, "spans", "u32", "1", "finished spans"),
  row(
    296,
    "spanRangeSum",
    "f32",
    "1",
    "sum of their mean squared distance from their middle, by their mean squared step",
  ),
  row(297, "spanSkipped", "u8", "1", "steps to leave out after a leap"),
  // reaches: moves without a gap of 90 ms
  row(255, "reachX", "f32", "px", "origin of the reach under way"),
  row(256, "reachY", "f32", "px", "its origin"),
  row(257, "reachMs", "f32", "ms", "its duration so far"),
  row(258, "reachSteps", "u16", "1", "its steps"),
  row(259, "reachLength", "f32", "px", "its length so far"),
  row(260, "reachFirst", "f32", "px ms", "sum of its steps' lengths times the middle of their times since its start"),
  row(261, "reachSecond", "f32", "px ms²", "the same of squared times"),
  row(262, "reachThird", "f32", "px ms³", "the same of cubed times"),
  row(263, "reachPeak", "u32", "px/s", "its highest speed over two steps"),
  row(276, "reachStalled", "u8", "bool", "a time of over 30 ms lies between two of its moves"),
  row(264, "riseKnown", "u8", "bool", "its rise, up to that speed, is long enough and without a stall"),
  row(265, "riseSkewness", "f32", "1", "skewness of the rise: of way as distributed over time"),
  row(266, "rises", "u32", "1", "known rises of reaches of at least 80 px, not along an axis or a diagonal"),
  row(267, "riseSkewnessSum", "f32", "1", "sum of their skewness"),
  row(268, "riseSkewnessSquares", "f32", "1", "squares"),
  // replay
  row(84, "ring", "u32", "1", "steps held in the seven ring fields, the last in ring6"),
  row(85, "ring0", "u32", "step", "the last seven steps, packed, for shingles"),
  row(86, "ring1", "u32", "step", "see ring0"),
  row(87, "ring2", "u32", "step", "see ring0"),
  row(88, "ring3", "u32", "step", "see ring0"),
  row(89, "ring4", "u32", "step", "see ring0"),
  row(90, "ring5", "u32", "step", "see ring0"),
  row(91, "ring6", "u32", "step", "see ring0"),
  row(92, "ringX", "f32", "px", "the point after the last of these steps"),
  row(93, "ringY", "f32", "px", "the point after the last of these steps"),
  row(94, "shingles", "u32", "1", "sampled shingles of the path"),
  row(95, "shinglesReplayed", "u32", "1", "of them known from another session"),
  row(96, "turnHashes", "u32", "1", "hashes over turns of the path"),
  row(97, "turnHashesReplayed", "u32", "1", "of them known from another session"),
  row(98, "turnXWay", "u8", "code", "along x: 0 no point yet, 1 no way yet, 2 on the way down, 3 up"),
  row(99, "turnXEdge", "u32", "px", "the furthest point on this way, packed"),
  row(100, "turnXHeld", "u8", "1", "turns held in the next three fields, the last in turnX2"),
  row(101, "turnX0", "u32", "px", "the last three turns along x, packed"),
  row(102, "turnX1", "u32", "px", "see turnX0"),
  row(103, "turnX2", "u32", "px", "see turnX0"),
  row(104, "turnYWay", "u8", "code", "along y: 0 no point yet, 1 no way yet, 2 on the way down, 3 up"),
  row(105, "turnYEdge", "u32", "px", "the furthest point on this way, packed"),
  row(106, "turnYHeld", "u8", "1", "turns held in the next three fields, the last in turnY2"),
  row(107, "turnY0", "u32", "px", "the last three turns along y, packed"),
  row(108, "turnY1", "u32", "px", "see turnY0"),
  row(109, "turnY2", "u32", "px", "see turnY0"),
  row(232, "cornersHeld", "u8", "1", "corners held in the next four fields, the last in corner3"),
  row(233, "corner0", "u32", "px", "the last four corners of the path, packed"),
  row(234, "corner1", "u32", "px", "see corner0"),
  row(235, "corner2", "u32", "px", "see corner0"),
  row(236, "corner3", "u32", "px", "see corner0"),
  row(237, "cornerFar", "u32", "px", "the furthest point from the last corner, packed"),
  row(238, "cornerHashes", "u32", "1", "hashes over corners of the path"),
  row(239, "cornerOwner", "u32", "hash", "session that has shown most of them before"),
  row(240, "cornerLead", "u16", "1", "by how many it is ahead of all other sessions"),
  row(241, "cornerLeadMax", "u16", "1", "the most by which any was"),
  // what the SDK measured of the pointer
  row(110, "fractionalN", "u32", "1", "pointer events that report the share of fractional coordinates"),
  row(111, "fractionalSum", "f32", "1", "sum of it"),
  row(112, "coalescedN", "u32", "1", "pointer events that report coalesced counts"),
  row(113, "coalescedSum", "f32", "1", "sum of them"),
  row(114, "lagN", "u32", "1", "events that report the dispatch lag"),
  row(115, "lagSum", "f32", "ms", "sum of it"),
  row(116, "mismatchN", "u32", "1", "events that report disagreeing movement deltas"),
  row(117, "mismatchSum", "f32", "1", "sum of it"),
  row(118, "untrusted", "u32", "1", "events with isTrusted false"),
  row(119, "trusted", "u32", "1", "events with isTrusted true"),
  // clicks
  row(120, "clicks", "u32", "1", "clicks of a pointer other than a finger"),
  row(121, "holds", "u32", "1", "clicks with a known hold"),
  row(122, "holdsShort", "u32", "1", "held under 8 ms"),
  row(125, "clicksPlaced", "u32", "1", "clicks with a place, from the second on"),
  row(126, "clicksUnmoved", "u32", "1", "of them elsewhere than the click before, with no move between"),
  row(127, "clicksJumped", "u32", "1", "of them far from the click before, with one or two moves between"),
  row(
    128,
    "clicksMeasured",
    "u32",
    "1",
    "clicks elsewhere than the one before that report how far from the middle of the target they hit",
  ),
  row(129, "clicksCentered", "u32", "1", "of them in the very middle"),
  row(131, "pointsAtClick", "u32", "1", "value of `points` at the last click"),
  row(132, "clickX", "f32", "px", "last click"),
  row(133, "clickY", "f32", "px", "last click"),
  // touch
  row(134, "touches", "u32", "1", "touch events"),
  row(135, "touchFlat", "u32", "1", "touches that report pressure and radius, both constant zero"),
  row(332, "scriptedPoints", "u32", "1", "of `points` those of events with isTrusted false"),
  row(333, "scriptedTouches", "u32", "1", "of `touches` those with isTrusted false"),
  // scroll
  row(136, "scrollsUncaused", "u32", "1", "scroll bursts that no input preceded"),
  row(137, "scrolls", "u32", "1", "scroll events"),
  row(138, "scrollT", "f64", "ms", "time of the last one"),
  row(139, "scrollGaps", "u32", "1", "intervals between scrolls of under 2 s"),
  row(140, "scrollGapSum", "f32", "ms", "their sum"),
  row(141, "scrollGapSquares", "f32", "ms²", "their squares"),
  row(142, "scrollSame", "u32", "1", "scrolls of the same distance as the one before"),
  row(143, "scrollDistance", "f32", "px", "distance of the last scroll"),
  // keys
  row(144, "keys", "u32", "1", "key presses"),
  row(145, "dwells", "u32", "1", "presses with a known dwell"),
  row(146, "dwellSum", "f32", "ms", "their sum"),
  row(147, "dwellSquares", "f32", "ms²", "squares"),
  row(148, "dwellsShort", "u32", "1", "dwells under 8 ms"),
  row(149, "flights", "u32", "1", "times from a release or press to the next press, under 2 s"),
  row(150, "flightSum", "f32", "ms", "their sum"),
  row(151, "flightSquares", "f32", "ms²", "squares"),
  row(152, "flightsShort", "u32", "1", "flights of under 15 ms and more than -15 ms"),
  row(153, "keyT", "f64", "ms", "time of the last press"),
  row(243, "keyDwell", "f32", "ms", "how long the key of that press was held"),
  row(244, "pressGaps", "u32", "1", "times of under 2 s from a press to the next"),
  row(245, "pressPauses", "u32", "1", "of them over 600 ms"),
  row(246, "pressOverlaps", "u32", "1", "of them shorter than the first key was held"),
  row(247, "keyPairs", "u32", "1", "of them under 1 s, between keys that were held under 400 ms"),
  row(248, "pairsClose", "u32", "1", "of them under a quarter of their mean so far"),
  row(249, "pairGapSum", "f32", "ms", "sum of the times of such pairs"),
  row(250, "pairGapSquares", "f32", "ms²", "squares"),
  row(251, "pairDwellSum", "f32", "ms", "sum of the holds of their first keys"),
  row(252, "pairDwellSquares", "f32", "ms²", "squares"),
  row(253, "pairGapProducts", "f32", "ms²", "sum of hold times time to the next press"),
  row(254, "pairDwellProducts", "f32", "ms²", "sum of hold times the next hold"),
  // forms
  row(157, "submits", "u16", "1", "forms sent"),
  row(158, "honeypots", "u16", "1", "filled fields that people can't see"),
  row(159, "unkeyed", "u32", "1", "changes of text fields that no input explains"),
  row(160, "formChanges", "u32", "1", "changes of fields"),
  row(161, "instantFills", "u16", "1", "forms of 3 or more fields filled in under 300 ms without autofill"),
  // who made the events
  row(162, "clicksTrusted", "u32", "1", "clicks with isTrusted true, whatever made them"),
  row(163, "clicksUntrusted", "u32", "1", "clicks with isTrusted false"),
  row(164, "clicksTracked", "u32", "1", "clicks of a mouse within a second of a point of its path"),
  row(165, "clicksAstray", "u32", "1", "of them far from that point"),
  row(
    168,
    "bareReports",
    "u32",
    "1",
    "trusted paths that count their moves as the SDK does, but lack all that it measures of them",
  ),
  row(169, "resumes", "u32", "1", "moves of a mouse after such a pause"),
  row(170, "leaps", "u32", "1", "moves of over 12 px a ms between points 6.5 to 100 ms apart"),
  row(171, "flightsInstant", "u32", "1", "flights of under 3 ms and more than -1 ms"),
  // how the pointer swerves and slows down
  row(172, "slowSteps", "u32", "1", "steps of under 3 px"),
  row(173, "swerveChances", "u32", "1", "three consecutive steps of 6 to 32 px"),
  row(174, "swerves", "u32", "1", "of them in which the path leaves its line by 2.5 px or more both times"),
  row(175, "swervesBack", "u32", "1", "of them to the one side and then to the other"),
  row(176, "movementPeak", "u32", "px/s", "highest speed over two steps of the movement under way"),
  row(177, "peakSum", "u32", "1/64", "sum over movements of this speed by the mean one"),
  row(178, "peakSquares", "u32", "1/64", "squares"),
  // its part of the path-reuse index
  row(224, "pathShares", "u8", "1", "shares of that index that it was granted; 255: no further ones"),
  row(225, "pathRoom", "u16", "1", "hashes that it may still put there"),
  // the clock behind trusted input, and wheels
  row(226, "rowGaps", "u32", "1", "times between neighbouring rows of a mouse's paths"),
  row(228, "keyTimes", "u32", "1", "dwells of keys, and times between presses"),
  row(285, "rowGapsCoarse", "u32", "1", "of `rowGaps` those of a clock of 100 ms"),
  row(286, "keyTimesCoarse", "u32", "1", "of `keyTimes` those of a clock of 100 ms"),
  row(230, "wheelBursts", "u32", "1", "scroll bursts by wheel of 100 px and more"),
  row(231, "wheelLeaps", "u32", "1", "of them in one event"),
  // what a client that is no browser gets wrong
  row(
    269,
    "environmentSessionsMax",
    "u16",
    "sessions",
    "most sessions that opened with this environment from this network in an hour",
  ),
  row(270, "earlyEvents", "u16", "1", "batches whose last event is stamped before it can have happened"),
  row(271, "stampReversals", "u16", "1", "events stamped before the event ahead of them in their batch"),
  row(281, "environmentReported", "u8", "bool", "an `env` event has come"),
  row(272, "pagelessStart", "u8", "bool", "the first batch reports an environment, but no page"),
  row(242, "platformForeign", "u16", "batches", "whose Sec-CH-UA-Platform contradicts the User-Agent"),
  // how agents act
  row(300, "pointsAtPage", "u32", "1", "value of `points` when the last page opened"),
  row(301, "leftX", "f32", "px", "where the pointer was when it opened"),
  row(302, "leftY", "f32", "px", "where the pointer was when it opened"),
  row(303, "pageByBorder", "u8", "bool", "the first point on it is near a border of the window"),
  row(304, "arrivalClicks", "u16", "1", "clicks of a mouse with at most two moves on their page, not there by itself"),
  row(305, "clickT", "f64", "ms", "time of the last click of a mouse"),
  row(306, "quietClicks", "u16", "1", "clicks of a mouse elsewhere after 2 s and more in which it moved twice at most"),
  row(
    307,
    "holdRun",
    "u16",
    "1",
    "keys in a row, the last among them, held for as long as the one before to a millisecond",
  ),
  row(308, "holdRunMax", "u16", "1", "the most of them"),
  row(309, "pastes", "u16", "1", "pastes"),
  row(310, "fieldsFilled", "u32", "1", "fields that were filled in, of each form"),
  row(311, "menuClicks", "u16", "1", "clicks of another button than the first"),
  row(312, "pageMs", "f64", "ms", "stamp of the last page"),
  row(313, "pageShown", "u8", "bool", "it was visible when it opened"),
  row(314, "pageActed", "u8", "bool", "since then there was input, a form was filled in or the page went on by itself"),
  row(315, "quickPages", "u8", "1", "pages in a row, each open for under half a second before the next"),
  row(316, "quickPagesMax", "u8", "1", "the most of them"),
  row(317, "typedPages", "u16", "1", "pages without a referrer that replaced one on which nothing was done"),
  row(318, "loneActivations", "u16", "1", "times of a user's activation that nothing in the page explains"),
  row(319, "exactClicks", "u16", "1", "presses in the very middle by a mouse that had not come there"),
  row(320, "hiddenActs", "u16", "1", "presses and keys in a hidden page"),
  row(321, "sharedFocus", "u16", "1", "times at which two tabs had the focus"),
  row(322, "unpairedKeys", "u16", "1", "printing keys pressed twice without a release, or the reverse"),
  row(323, "activeMoves", "u16", "1", "pages that nobody had touched and the pointer found activated"),
  row(324, "weightlessPresses", "u16", "1", "presses of a mouse without the pressure that browsers give each"),
  row(
    330,
    "arrivalsCentered",
    "u16",
    "1",
    "clicks in the very middle that a pointer was sent to as it came to the page",
  ),
  row(
    331,
    "unzoomedFractions",
    "f32",
    "1",
    "sum of the shares of fractional coordinates on pages whose pixels are the screen's",
  ),
  row(325, "pageBlurMs", "f64", "ms", "stamp of the first loss of the focus since then, 0 for none"),
  row(326, "mergedAtPage", "u32", "1", "moves since the last page opened that came merged into others"),
  row(327, "mergedAtClick", "u32", "1", "moves since the last click that came merged into others"),
  row(
    328,
    "unkeyedForms",
    "u16",
    "1",
    "forms of two fields and more whose texts no key, paste, drop or autofill explains",
  ),
  row(329, "placedTexts", "u16", "1", "sum of `placed_texts`: fields that had text at once, and no hand led to them"),
  row(334, "splitHolds", "u16", "1", "presses of a mouse whose hold is no whole number of milliseconds"),
  row(335, "ledTexts", "u16", "1", "sum of `led_texts`: fields that had text at once after a press or a key"),
  row(336, "lateTexts", "u16", "1", "sum of `late_texts`: fields that had text later, sooner than anybody speaks"),
  row(337, "agentMarkedMs", "f64", "ms", "server clock when the first mark of an agent came, 0 for none"),
  row(338, "agentActedMs", "f64", "ms", "server clock when it first acted as agents do, 0 for never"),
  row(339, "touchScreens", "u16", "1", "reports that tell of a touch screen, by touch points or by a coarse pointer"),
  row(340, "narrowTouches", "u16", "1", "touches by the browser itself, no wider than a debugger's client sends them"),
  row(341, "tapsCentered", "u16", "1", "taps by the browser itself, in the middle of their target"),
  row(
    342,
    "moveClock",
    "u8",
    "1",
    "the mouse's first times between moves on the page that were whole milliseconds, up to 12; then 12 and how many in a row were not, up to 16, which stays; 255 where one of the first was not",
  ),
  row(343, "handActed", "u8", "bool", "a pointer moved, or there was a press, a key, a touch or scrolling by input"),
  row(344, "restX", "f32", "px", "where the first pages found a resting pointer"),
  row(345, "restY", "f32", "px", "where the first pages found a resting pointer"),
  row(346, "scriptClickMs", "f64", "ms", "stamp of a script's click on the page, 0 for none since a form was sent"),
  row(347, "scriptLeaves", "u8", "bool", "such a click leads away from the page"),
  row(348, "scriptedPages", "u16", "1", "pages that such clicks led to"),
  row(
    349,
    "scriptedForms",
    "u16",
    "1",
    "forms after them that a script filled in at once and sent, untouched until then",
  ),
] as const satisfies readonly NumberField[];

/** Facts that may be unobserved: they start as NaN, and NaN is not stored. Booleans are 0 or 1. */
export const factFields = [
  row(179, "webdriver", "u8", "bool", "navigator.webdriver"),
  row(180, "uaMobile", "u8", "bool", "userAgentData.mobile"),
  row(181, "uaDiffers", "u8", "bool", "user agent of the page and of the request header differ"),
  row(182, "brandsDiffer", "u8", "bool", "brands of the page and Sec-CH-UA differ"),
  row(183, "headlessBrand", "u8", "bool", "a brand says Headless"),
  row(184, "languagesDiffer", "u8", "bool", "first language of the page is not in Accept-Language"),
  row(185, "languageCount", "u8", "1", "languages of the page"),
  row(186, "tzOffset", "f32", "min", "minutes west of UTC"),
  row(187, "cpu", "u16", "1", "logical processors"),
  row(188, "memory", "f32", "GiB", "device memory"),
  row(189, "touchPoints", "u8", "1", "touch points"),
  row(190, "plugins", "u16", "1", "plugins"),
  row(192, "screenW", "u16", "px", "screen"),
  row(193, "screenH", "u16", "px", "screen"),
  row(194, "availW", "u16", "px", "usable screen"),
  row(196, "innerW", "u16", "px", "viewport"),
  row(197, "innerH", "u16", "px", "viewport"),
  row(198, "outerW", "u16", "px", "window"),
  row(199, "outerH", "u16", "px", "window"),
  row(200, "dpr", "f32", "1", "device pixel ratio"),
  row(201, "colorDepth", "u8", "bit", "colour depth"),
  row(202, "chromeObject", "u8", "bool", "window.chrome exists"),
  row(203, "permissionsMismatch", "u8", "bool", "permission answers contradict each other"),
  row(204, "evalLength", "u16", "1", "eval.toString().length"),
  row(205, "stackProbe", "u8", "bool", "a debugger client read a trap"),
  row(206, "rtt", "f32", "ms", "connection.rtt"),
  row(207, "rafMean", "f32", "ms", "time between animation frames"),
  row(211, "clockSkewMin", "f32", "s", "least of (event time - server time) over batches"),
  row(
    273,
    "startTicket",
    "u8",
    "code",
    "worst state of a start ticket that came back: position in `ticketStates`, from 0",
  ),
  row(
    277,
    "hintsEmpty",
    "u8",
    "1",
    "of architecture, bitness and full version, how many the page's client hints leave empty",
  ),
  row(278, "systemFonts", "u8", "code", "systems whose fonts are there: 1 Windows, 2 macOS, 4 Linux"),
  row(275, "anyPointer", "u8", "code", "pointers by the media queries: 1 fine, 2 coarse, 4 one that hovers"),
  row(274, "pageOrigin", "f32", "s", "least (page's opening by its own clock - server time at the first batch)"),
  row(212, "clockSkewMax", "f32", "s", "greatest of it"),
  row(287, "clockSkewLast", "f32", "s", "the last of it"),
] as const satisfies readonly NumberField[];

/** Texts, "" when unobserved. Well-known texts are stored as one byte. */
export const textFields = [
  text(213, "platform", 32, "navigator.platform"),
  text(215, "timezone", 40, "IANA zone of the page"),
  text(216, "webglRenderer", 96, "unmasked WebGL renderer"),
  text(217, "driverArtifacts", 80, "names that drivers leave behind, joined by commas"),
  text(218, "nativeTampered", 60, "natives that are no longer native, joined by commas"),
  text(219, "iframeMismatch", 60, "properties that differ in an iframe, joined by commas"),
  text(220, "workerMismatch", 60, "properties that differ in a worker, joined by commas"),
  text(221, "pageUserAgent", 120, "user agent of the page, where it differs from the header's"),
  text(279, "uaPlatform", 16, "userAgentData.platform"),
  text(280, "uaFullVersion", 24, "full version by the page's client hints"),
  text(298, "agentMarks", 240, "marks of agents in the page, joined by commas, the first seen first"),
] as const satisfies readonly TextField[];

/** The number of the next new field. */
export const nextFieldNumber =
  1 + Math.max(...[...countFields, ...factFields, ...textFields, ...retiredFields].map(({ number }) => number));

/** A field that starts at 0. */
export type CountName = (typeof countFields)[number]["name"];
/** A field that starts as not observed. */
export type FactName = (typeof factFields)[number]["name"];
/** A field that holds a text. */
export type TextName = (typeof textFields)[number]["name"];
