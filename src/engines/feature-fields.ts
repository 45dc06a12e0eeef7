/**
 * The one table of what scoring remembers of a session. Layout of the packed record, `newFeatures` and the names in the code
 * derive from it. Append rows to the end of their list, or raise `featuresVersion`: stored records are read by position.
 */

/** How a field is stored. Integers are variable-length and clamped to their width; f32 loses digits beyond the seventh. */
export type NumberKind = "u8" | "u16" | "u32" | "f32" | "f64";

interface NumberField {
  readonly name: string;
  readonly kind: NumberKind;
  readonly unit: string;
  readonly meaning: string;
}

interface TextField {
  readonly name: string;
  /** Characters kept. */
  readonly charactersMax: number;
  readonly meaning: string;
}

const row = <const N extends string>(name: N, kind: NumberKind, unit: string, meaning: string) => ({
  name,
  kind,
  unit,
  meaning,
});

const text = <const N extends string>(name: N, charactersMax: number, meaning: string) => ({
  name,
  charactersMax,
  meaning,
});

/** Layout version of the packed record. A record of another version reads as a session without history. */
export const featuresVersion = 5;

/** Sums and counts: they start at 0, and 0 is not stored. */
export const countFields = [
  row("batches", "u32", "1", "batches folded"),
  row("events", "u32", "1", "events folded"),
  row("firstSeenMs", "f64", "ms", "server clock at the first batch"),
  row("lastSeenMs", "f64", "ms", "server clock at the last batch"),
  row("pages", "u16", "1", "page events"),
  row("presenceEvents", "u32", "1", "visibility, focus and heartbeat events"),
  // request
  row("userAgentHash", "u32", "hash", "user agent of the last request"),
  row("userAgentChanges", "u16", "1", "batches whose user agent differs from the batch before"),
  row(
    "toolAgent",
    "u8",
    "code",
    "user agent names a tool: 0 no, 1 one that people's apps also use, 2 one that no browser sends",
  ),
  row("browserFamily", "u8", "code", "position in `browserFamilies` of the claimed browser, from 1"),
  row("browserVersion", "u16", "1", "its major version"),
  row("browserSystem", "u8", "code", "position in `claimedSystems` of the claimed system, from 1"),
  row("browserMobile", "u8", "bool", "a telephone or tablet is claimed"),
  row("browserEmbedded", "u8", "bool", "a web view, or a browser that rewrites its headers, is claimed"),
  row("networkHash", "u32", "hash", "network (/16, or /32 of IPv6) of the last request"),
  row("networkChanges", "u16", "1", "batches from another network than the batch before"),
  row("noUserAgent", "u16", "batches", "without User-Agent"),
  row("noAcceptLanguage", "u16", "batches", "without Accept-Language"),
  row("anyAcceptLanguage", "u16", "batches", "with the Accept-Language `*`, which no browser sends"),
  row("noAccept", "u16", "batches", "without Accept"),
  row("noAcceptEncoding", "u16", "batches", "without Accept-Encoding"),
  row("noBrotli", "u16", "batches", "with an Accept-Encoding that lacks br"),
  row("noOrigin", "u16", "batches", "without Origin"),
  row("plainOrigin", "u16", "batches", "with an Origin that is http and no loopback address"),
  row("otherOrigin", "u16", "batches", "whose Origin is missing or not https"),
  row("noFetchMetadata", "u16", "batches", "without any Sec-Fetch header"),
  row("partFetchMetadata", "u16", "batches", "with Sec-Fetch-Mode but neither Site nor Dest"),
  row("navigationFetch", "u16", "batches", "with Sec-Fetch values that a script's request never has"),
  row("noClientHints", "u16", "batches", "without Sec-CH-UA"),
  row("clientHintsForeign", "u16", "batches", "whose Sec-CH-UA contradicts the User-Agent"),
  row("libraryAccept", "u16", "batches", "whose Accept is a library's default"),
  row("ipSessionsMax", "u16", "sessions", "most sessions seen from this address in an hour"),
  row("shapeSessionsMax", "u16", "sessions", "most sessions that sent a batch of the same geometry"),
  row("crawlerClaim", "u8", "code", "verdict on a claimed crawler: see `CrawlerClaim`"),
  // clocks and forged data
  row("futureEvents", "u16", "1", "events stamped over a day after the server's clock"),
  row("timeReversals", "u16", "1", "events stamped before the event ahead of them"),
  row("badCoordinates", "u16", "1", "points far outside of any screen"),
  row("outsideViewport", "u16", "1", "points outside of the reported window"),
  row("badDurations", "u16", "1", "negative or impossible durations"),
  // pointer path
  row("points", "u32", "1", "points of pointer paths"),
  row("rawT", "f64", "ms", "time of the last point, kept or not"),
  row("rawX", "f32", "px", "last point, kept or not"),
  row("rawY", "f32", "px", "last point, kept or not"),
  row("rushes", "u32", "1", "moves of over 25 px within under 3 ms"),
  row("pathT", "f64", "ms", "time of the last point kept, in the clock it came with"),
  row("pathX", "f32", "px", "last point kept"),
  row("pathY", "f32", "px", "last point kept"),
  row("stepX", "f32", "px", "last step of the stroke, 0 at its start"),
  row("stepY", "f32", "px", "last step of the stroke"),
  row("stepMs", "f32", "ms", "its duration"),
  row("priorX", "f32", "px", "step before the last one"),
  row("priorY", "f32", "px", "step before the last one"),
  row("steps", "u32", "1", "steps that moved (all sums of steps are halved when this passes its bound)"),
  row("pairs", "u32", "1", "pairs of consecutive steps of at least 8 px"),
  row("pairsSame", "u32", "1", "of them equal within a rounding"),
  row("pairBend", "f32", "px", "sum of the differences between the steps of a pair"),
  row("pairLength", "f32", "px", "sum of the lengths of the second steps of pairs"),
  row("triples", "u32", "1", "three consecutive steps of at least 8 px"),
  row("triplesSmooth", "u32", "1", "of them whose second difference is within rounding and a tenth of the step"),
  row("turns", "u32", "1", "pairs of steps of at least 3 px"),
  row("turnSum", "f32", "rad", "sum of their absolute turns"),
  row("paces", "u32", "1", "pairs of steps of at least 4 px whose durations differ by a quarter"),
  row("paceProducts", "f32", "1", "sum of log ratio of lengths times log ratio of durations"),
  row("paceSquares", "f32", "1", "sum of squared log ratios of durations"),
  row("gaps", "u32", "1", "intervals of 1 to 100 ms between points"),
  row("gapSum", "f32", "ms", "their sum"),
  row("gapSquares", "f32", "ms²", "their squares"),
  row("fractionPoints", "u32", "1", "points that are not whole pixels"),
  row("jumps", "u16", "1", "moves of a mouse of over 120 px across a pause of 250 ms to 5 s"),
  row("strokes", "u16", "1", "finished strokes of at least 5 steps and 30 px"),
  row("straightSum", "f32", "1", "sum of their straightness (chord by length)"),
  row("straightSquares", "f32", "1", "squares"),
  row("strokeDistanceSum", "f32", "px", "sum of chords"),
  row("strokeDistanceSquares", "f32", "px²", "squares"),
  row("strokeTimeSum", "f32", "ms", "sum of durations"),
  row("strokeTimeSquares", "f32", "ms²", "squares"),
  row("strokeProducts", "f32", "px ms", "sum of chord times duration"),
  row("spurts", "u16", "1", "finished strokes of at least 6 steps of over 4 px on average"),
  row("spurtsAbrupt", "u16", "1", "of them that end at over 0.6 of their mean step"),
  row("strokeSteps", "u16", "1", "steps of the stroke under way"),
  row("strokeX", "f32", "px", "its origin"),
  row("strokeY", "f32", "px", "its origin"),
  row("strokeLength", "f32", "px", "its length so far"),
  row("strokeMs", "f32", "ms", "its duration so far"),
  // replay
  row("ring", "u32", "1", "steps held in the seven ring fields, the last in ring6"),
  row("ring0", "u32", "step", "the last seven steps, packed, for shingles"),
  row("ring1", "u32", "step", "see ring0"),
  row("ring2", "u32", "step", "see ring0"),
  row("ring3", "u32", "step", "see ring0"),
  row("ring4", "u32", "step", "see ring0"),
  row("ring5", "u32", "step", "see ring0"),
  row("ring6", "u32", "step", "see ring0"),
  row("ringX", "f32", "px", "the point after the last of these steps"),
  row("ringY", "f32", "px", "the point after the last of these steps"),
  row("shingles", "u32", "1", "sampled shingles of the path"),
  row("shinglesReplayed", "u32", "1", "of them known from another session"),
  row("turnHashes", "u32", "1", "hashes over turns of the path"),
  row("turnHashesReplayed", "u32", "1", "of them known from another session"),
  row("turnXWay", "u8", "code", "along x: 0 no point yet, 1 no way yet, 2 on the way down, 3 up"),
  row("turnXEdge", "u32", "px", "the furthest point on this way, packed"),
  row("turnXHeld", "u8", "1", "turns held in the next three fields, the last in turnX2"),
  row("turnX0", "u32", "px", "the last three turns along x, packed"),
  row("turnX1", "u32", "px", "see turnX0"),
  row("turnX2", "u32", "px", "see turnX0"),
  row("turnYWay", "u8", "code", "along y: 0 no point yet, 1 no way yet, 2 on the way down, 3 up"),
  row("turnYEdge", "u32", "px", "the furthest point on this way, packed"),
  row("turnYHeld", "u8", "1", "turns held in the next three fields, the last in turnY2"),
  row("turnY0", "u32", "px", "the last three turns along y, packed"),
  row("turnY1", "u32", "px", "see turnY0"),
  row("turnY2", "u32", "px", "see turnY0"),
  // what the SDK measured of the pointer
  row("fractionalN", "u32", "1", "pointer events that report the share of fractional coordinates"),
  row("fractionalSum", "f32", "1", "sum of it"),
  row("coalescedN", "u32", "1", "pointer events that report coalesced counts"),
  row("coalescedSum", "f32", "1", "sum of them"),
  row("lagN", "u32", "1", "events that report the dispatch lag"),
  row("lagSum", "f32", "ms", "sum of it"),
  row("mismatchN", "u32", "1", "events that report disagreeing movement deltas"),
  row("mismatchSum", "f32", "1", "sum of it"),
  row("untrusted", "u32", "1", "events with isTrusted false"),
  row("trusted", "u32", "1", "events with isTrusted true"),
  // clicks
  row("clicks", "u32", "1", "clicks of a pointer other than a finger"),
  row("holds", "u32", "1", "clicks with a known hold"),
  row("holdsShort", "u32", "1", "held under 8 ms"),
  row("holdSum", "f32", "ms", "sum of holds"),
  row("holdSquares", "f32", "ms²", "squares"),
  row("clicksPlaced", "u32", "1", "clicks with a place, from the second on"),
  row("clicksUnmoved", "u32", "1", "of them elsewhere than the click before, with no move between"),
  row("clicksJumped", "u32", "1", "of them far from the click before, with one or two moves between"),
  row(
    "clicksMeasured",
    "u32",
    "1",
    "clicks elsewhere than the one before that report how far from the middle of the target they hit",
  ),
  row("clicksCentered", "u32", "1", "of them in the very middle"),
  row("clicksByKey", "u32", "1", "clicks without a pointer"),
  row("pointsAtClick", "u32", "1", "value of `points` at the last click"),
  row("clickX", "f32", "px", "last click"),
  row("clickY", "f32", "px", "last click"),
  // touch
  row("touches", "u32", "1", "touch events"),
  row("touchFlat", "u32", "1", "touches that report pressure and radius, both constant zero"),
  // scroll
  row("scrollsUncaused", "u32", "1", "scroll bursts that no input preceded"),
  row("scrolls", "u32", "1", "scroll events"),
  row("scrollT", "f64", "ms", "time of the last one"),
  row("scrollGaps", "u32", "1", "intervals between scrolls of under 2 s"),
  row("scrollGapSum", "f32", "ms", "their sum"),
  row("scrollGapSquares", "f32", "ms²", "their squares"),
  row("scrollSame", "u32", "1", "scrolls of the same distance as the one before"),
  row("scrollDistance", "f32", "px", "distance of the last scroll"),
  // keys
  row("keys", "u32", "1", "key presses"),
  row("dwells", "u32", "1", "presses with a known dwell"),
  row("dwellSum", "f32", "ms", "their sum"),
  row("dwellSquares", "f32", "ms²", "squares"),
  row("dwellsShort", "u32", "1", "dwells under 8 ms"),
  row("flights", "u32", "1", "times from a release or press to the next press, under 2 s"),
  row("flightSum", "f32", "ms", "their sum"),
  row("flightSquares", "f32", "ms²", "squares"),
  row("flightsShort", "u32", "1", "flights of under 15 ms and more than -15 ms"),
  row("keyT", "f64", "ms", "time of the last press"),
  row("backspaces", "u16", "1", "corrections"),
  row("pastes", "u16", "1", "pastes"),
  // forms
  row("forms", "u16", "1", "form events"),
  row("submits", "u16", "1", "forms sent"),
  row("honeypots", "u16", "1", "filled fields that people can't see"),
  row("unkeyed", "u32", "1", "changes of text fields that no input explains"),
  row("formChanges", "u32", "1", "changes of fields"),
  row("instantFills", "u16", "1", "forms of 3 or more fields filled in under 300 ms without autofill"),
  // who made the events
  row("clicksTrusted", "u32", "1", "clicks with isTrusted true, whatever made them"),
  row("clicksUntrusted", "u32", "1", "clicks with isTrusted false"),
  row("clicksTracked", "u32", "1", "clicks of a mouse within a second of a point of its path"),
  row("clicksAstray", "u32", "1", "of them far from that point"),
  row("rowsTimed", "u32", "1", "rows of pointer paths behind the first of their event"),
  row("rowsWhole", "u32", "1", "of them whole milliseconds after that first row"),
  row(
    "bareReports",
    "u32",
    "1",
    "trusted paths that count their moves as the SDK does, but lack all that it measures of them",
  ),
  row("resumes", "u32", "1", "moves of a mouse after such a pause"),
  row("leaps", "u32", "1", "moves of over 12 px a ms between points 6.5 to 100 ms apart"),
  row("flightsInstant", "u32", "1", "flights of under 3 ms and more than -1 ms"),
  // how the pointer swerves and slows down
  row("slowSteps", "u32", "1", "steps of under 3 px"),
  row("swerveChances", "u32", "1", "three consecutive steps of 6 to 32 px"),
  row("swerves", "u32", "1", "of them in which the path leaves its line by 2.5 px or more both times"),
  row("swervesBack", "u32", "1", "of them to the one side and then to the other"),
  row("strokePeak", "u32", "px/s", "highest speed over two steps of the stroke under way"),
  row("peakSum", "u32", "1/64", "sum over strokes of this speed by the mean one"),
  row("peakSquares", "u32", "1/64", "squares"),
] as const satisfies readonly NumberField[];

/** Facts that may be unobserved: they start as NaN, and NaN is not stored. Booleans are 0 or 1. */
export const factFields = [
  row("webdriver", "u8", "bool", "navigator.webdriver"),
  row("uaMobile", "u8", "bool", "userAgentData.mobile"),
  row("uaDiffers", "u8", "bool", "user agent of the page and of the request header differ"),
  row("brandsDiffer", "u8", "bool", "brands of the page and Sec-CH-UA differ"),
  row("headlessBrand", "u8", "bool", "a brand says Headless"),
  row("languagesDiffer", "u8", "bool", "first language of the page is not in Accept-Language"),
  row("languageCount", "u8", "1", "languages of the page"),
  row("tzOffset", "f32", "min", "minutes west of UTC"),
  row("cpu", "u16", "1", "logical processors"),
  row("memory", "f32", "GiB", "device memory"),
  row("touchPoints", "u8", "1", "touch points"),
  row("plugins", "u16", "1", "plugins"),
  row("mimeTypes", "u16", "1", "MIME types"),
  row("screenW", "u16", "px", "screen"),
  row("screenH", "u16", "px", "screen"),
  row("availW", "u16", "px", "usable screen"),
  row("availH", "u16", "px", "usable screen"),
  row("innerW", "u16", "px", "viewport"),
  row("innerH", "u16", "px", "viewport"),
  row("outerW", "u16", "px", "window"),
  row("outerH", "u16", "px", "window"),
  row("dpr", "f32", "1", "device pixel ratio"),
  row("colorDepth", "u8", "bit", "colour depth"),
  row("chromeObject", "u8", "bool", "window.chrome exists"),
  row("permissionsMismatch", "u8", "bool", "permission answers contradict each other"),
  row("evalLength", "u16", "1", "eval.toString().length"),
  row("stackProbe", "u8", "bool", "a debugger client read a trap"),
  row("rtt", "f32", "ms", "connection.rtt"),
  row("rafMean", "f32", "ms", "time between animation frames"),
  row("rafSd", "f32", "ms", "its deviation"),
  row("ttfb", "f32", "ms", "time to first byte"),
  row("load", "f32", "ms", "load event"),
  row("clockSkewMin", "f32", "s", "least of (event time - server time) over batches"),
  row("clockSkewMax", "f32", "s", "greatest of it"),
] as const satisfies readonly NumberField[];

/** Texts, "" when unobserved. Well-known ones are stored as one byte. */
export const textFields = [
  text("platform", 32, "navigator.platform"),
  text("languages", 48, "languages of the page, joined by commas"),
  text("timezone", 40, "IANA zone of the page"),
  text("webglRenderer", 96, "unmasked WebGL renderer"),
  text("driverArtifacts", 80, "names that drivers leave behind, joined by commas"),
  text("nativeTampered", 60, "natives that are no longer native, joined by commas"),
  text("iframeMismatch", 60, "properties that differ in an iframe, joined by commas"),
  text("workerMismatch", 60, "properties that differ in a worker, joined by commas"),
  text("pageUserAgent", 120, "user agent of the page, where it differs from the header's"),
  text("permission", 12, "Notification.permission"),
  text("acceptLanguage", 24, "Accept-Language of the last request"),
] as const satisfies readonly TextField[];

export type CountName = (typeof countFields)[number]["name"];
export type FactName = (typeof factFields)[number]["name"];
export type TextName = (typeof textFields)[number]["name"];
