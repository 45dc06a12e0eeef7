/**
 * Family 1002: request headers against what the claimed browser sends with a script's request. Extensions, proxies and
 * web views drop headers one at a time, so that one missing header decides nothing; a library misses several at once. A proxy
 * that drops all headers whose names begin with Sec- does one thing: their absence has one cause, whichever are missing.
 */
import { detection, sharedDetection } from "./detection.js";

/** First versions that send Sec-Fetch headers. */
const fetchMetadataSince = { chromium: 80, firefox: 90, safari: 17, other: Number.POSITIVE_INFINITY } as const;

/** About the requests that carry a session's reports and, where an entry is shared, about single requests too. */
export const headerDetections = [
  sharedDetection({
    id: 100201,
    slug: "no-accept-language",
    meaning: "The client claims to be a browser, but sent no Accept-Language header.",
    strength: "notable",
    cause: "accept_language",
    group: "stripping",
    reads: ["noAcceptLanguage", "browserFamily"],
    when: (e) => e.noAcceptLanguage > 0 && e.browserFamily !== "other",
    source: "Fetch standard: browsers always send it; libraries do not",
    fires: { noAcceptLanguage: 1, browserFamily: "chromium" },
    staysQuiet: { noAcceptLanguage: 0, browserFamily: "chromium" },
  }),
  sharedDetection({
    id: 100202,
    slug: "any-accept-language",
    meaning: 'Accept-Language is "*", which no browser sends but Node\'s fetch does.',
    strength: "strong",
    cause: "accept_language",
    reads: ["anyAcceptLanguage"],
    when: (e) => e.anyAcceptLanguage > 0,
    source: "undici sets it by default, as the Fetch standard's fallback says",
    fires: { anyAcceptLanguage: 1 },
    staysQuiet: { anyAcceptLanguage: 0 },
  }),
  sharedDetection({
    id: 100203,
    slug: "chromium-without-fetch-metadata",
    meaning: "The client claims to be Chromium, but its Sec-Fetch headers are missing.",
    strength: "notable",
    cause: "sec_headers",
    group: "stripping",
    reads: ["noFetchMetadata", "secureContext", "browserFamily", "browserVersion"],
    when: (e) =>
      e.noFetchMetadata > 0 &&
      e.secureContext &&
      e.browserFamily === "chromium" &&
      e.browserVersion >= fetchMetadataSince.chromium,
    source: "W3C Fetch Metadata; Chromium sends them to trustworthy addresses since version 80",
    fires: { noFetchMetadata: 1, secureContext: true, browserFamily: "chromium", browserVersion: 131 },
    staysQuiet: { noFetchMetadata: 1, secureContext: false, browserFamily: "chromium", browserVersion: 131 },
  }),
  sharedDetection({
    id: 100204,
    slug: "browser-without-fetch-metadata",
    meaning: "The client claims to be a current Firefox or Safari, but its Sec-Fetch headers are missing.",
    strength: "notable",
    cause: "sec_headers",
    group: "stripping",
    reads: ["noFetchMetadata", "secureContext", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) =>
      e.noFetchMetadata > 0 &&
      e.secureContext &&
      !e.browserEmbedded &&
      (e.browserFamily === "firefox" || e.browserFamily === "safari") &&
      e.browserVersion >= fetchMetadataSince[e.browserFamily],
    source: "W3C Fetch Metadata; Firefox since 90, Safari since 16.4 (17 here, for lack of the minor version)",
    fires: {
      noFetchMetadata: 2,
      secureContext: true,
      browserFamily: "firefox",
      browserVersion: 140,
      browserEmbedded: false,
    },
    staysQuiet: {
      noFetchMetadata: 2,
      secureContext: true,
      browserFamily: "firefox",
      browserVersion: 78,
      browserEmbedded: false,
    },
  }),
  sharedDetection({
    id: 100205,
    slug: "partial-fetch-metadata",
    meaning: "Some Sec-Fetch headers are there and others are missing; browsers send Site, Mode and Dest together.",
    strength: "notable",
    cause: "fetch_metadata",
    reads: ["partFetchMetadata"],
    when: (e) => e.partFetchMetadata > 0,
    source: "Node's fetch sends Sec-Fetch-Mode alone",
    fires: { partFetchMetadata: 1 },
    staysQuiet: { partFetchMetadata: 0 },
  }),
  sharedDetection({
    id: 100206,
    slug: "chromium-without-client-hints",
    meaning: "The client claims to be Chromium, but its Sec-CH-UA header is missing.",
    strength: "notable",
    cause: "sec_headers",
    group: "stripping",
    reads: ["noClientHints", "secureContext", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) =>
      e.noClientHints > 0 &&
      e.secureContext &&
      !e.browserEmbedded &&
      e.browserFamily === "chromium" &&
      e.browserVersion >= 90,
    source: "User-Agent Client Hints: Chromium sends it to secure addresses since version 89; web views may not",
    fires: {
      noClientHints: 1,
      secureContext: true,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
    staysQuiet: {
      noClientHints: 1,
      secureContext: true,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: true,
    },
  }),
  sharedDetection({
    id: 100207,
    slug: "client-hints-contradict-agent",
    meaning: "Sec-CH-UA names another engine or version than the User-Agent.",
    strength: "notable",
    cause: "client_hints",
    group: "switching",
    reads: ["clientHintsForeign"],
    when: (e) => e.clientHintsForeign > 0,
    source: "both come from one build; user-agent switchers and disguised clients change one of them",
    fires: { clientHintsForeign: 1 },
    staysQuiet: { clientHintsForeign: 0 },
  }),
  sharedDetection({
    id: 100208,
    slug: "no-accept-encoding",
    meaning: "The client claims to be a browser, but sent no Accept-Encoding header.",
    strength: "weak",
    cause: "accept_encoding",
    group: "stripping",
    reads: ["noAcceptEncoding", "browserFamily"],
    when: (e) => e.noAcceptEncoding > 0 && e.browserFamily !== "other",
    source: "every browser offers compression; curl and Node's http offer none. Filtering proxies remove it",
    fires: { noAcceptEncoding: 1, browserFamily: "safari" },
    staysQuiet: { noAcceptEncoding: 0, browserFamily: "safari" },
  }),
  sharedDetection({
    id: 100209,
    slug: "no-brotli",
    meaning: "The client claims to be a current browser on an https page, but does not accept Brotli.",
    strength: "weak",
    cause: "accept_encoding",
    group: "stripping",
    reads: ["noBrotli", "securePage", "browserFamily", "browserVersion"],
    when: (e) => e.noBrotli > 0 && e.securePage && e.browserFamily !== "other" && e.browserVersion >= 60,
    source: "Brotli over https: Chromium 50, Firefox 44; libraries offer gzip and deflate. Proxies rewrite it",
    fires: { noBrotli: 1, securePage: true, browserFamily: "chromium", browserVersion: 131 },
    staysQuiet: { noBrotli: 1, securePage: false, browserFamily: "chromium", browserVersion: 131 },
  }),
  sharedDetection({
    id: 100210,
    slug: "no-origin",
    meaning: "The client claims to be a browser, but its POST had no Origin header.",
    strength: "weak",
    cause: "origin",
    group: "stripping",
    reads: ["noOrigin", "browserFamily"],
    when: (e) => e.noOrigin > 0 && e.browserFamily !== "other",
    source: "Fetch standard: a POST of a page carries Origin, also to its own site",
    fires: { noOrigin: 1, browserFamily: "chromium" },
    staysQuiet: { noOrigin: 0, browserFamily: "chromium" },
  }),
  sharedDetection({
    id: 100211,
    slug: "no-accept",
    meaning: "The client claims to be a browser, but sent no Accept header.",
    strength: "weak",
    cause: "accept",
    group: "stripping",
    reads: ["noAccept", "browserFamily"],
    when: (e) => e.noAccept > 0 && e.browserFamily !== "other",
    source: "Fetch standard: browsers always send it",
    fires: { noAccept: 1, browserFamily: "firefox" },
    staysQuiet: { noAccept: 0, browserFamily: "firefox" },
  }),
  detection({
    id: 100212,
    slug: "odd-accept",
    meaning:
      "The client claims to be a browser, but its Accept header names only fixed types, as hand-made clients do.",
    strength: "weak",
    cause: "accept",
    group: "stripping",
    reads: ["libraryAccept", "browserFamily"],
    when: (e) => e.libraryAccept > 0 && e.browserFamily !== "other",
    source: "a script's request accepts anything unless the page says otherwise, and the SDK does not",
    fires: { libraryAccept: 1, browserFamily: "firefox" },
    staysQuiet: { libraryAccept: 0, browserFamily: "firefox" },
  }),
  detection({
    id: 100213,
    slug: "navigation-fetch-metadata",
    meaning: "Sec-Fetch headers describe the loading of a document, not the request of a script.",
    strength: "notable",
    cause: "fetch_metadata",
    reads: ["navigationFetch"],
    when: (e) => e.navigationFetch > 0,
    source: "header sets copied from a page view, as impersonating clients send them with every request",
    fires: { navigationFetch: 1 },
    staysQuiet: { navigationFetch: 0 },
  }),
  sharedDetection({
    id: 100214,
    slug: "library-behind-https",
    meaning:
      "The client claims to be a current browser on an https page, but Sec-Fetch headers and Brotli are both missing.",
    strength: "notable",
    cause: "library_transport",
    group: "stripping",
    reads: ["noFetchMetadata", "noBrotli", "noAcceptEncoding", "securePage", "browserFamily", "browserVersion"],
    when: (e) =>
      e.noFetchMetadata > 0 &&
      e.noBrotli + e.noAcceptEncoding > 0 &&
      e.securePage &&
      e.browserVersion >= fetchMetadataSince[e.browserFamily],
    source: "two unrelated parts of a browser's network stack, both absent in HTTP libraries",
    fires: {
      noFetchMetadata: 1,
      noBrotli: 1,
      noAcceptEncoding: 0,
      securePage: true,
      browserFamily: "firefox",
      browserVersion: 140,
    },
    staysQuiet: {
      noFetchMetadata: 1,
      noBrotli: 0,
      noAcceptEncoding: 0,
      securePage: true,
      browserFamily: "firefox",
      browserVersion: 140,
    },
  }),
  sharedDetection({
    id: 100215,
    slug: "no-origin-no-metadata",
    meaning: "The client claims to be a current browser, but its POST had neither Origin nor Sec-Fetch headers.",
    strength: "notable",
    cause: "library_transport",
    group: "stripping",
    reads: ["noOrigin", "noFetchMetadata", "browserFamily", "browserVersion"],
    when: (e) => e.noOrigin > 0 && e.noFetchMetadata > 0 && e.browserVersion >= fetchMetadataSince[e.browserFamily],
    source: "what takes both away breaks cross-origin requests, so that people's proxies leave Origin alone",
    fires: { noOrigin: 1, noFetchMetadata: 1, browserFamily: "safari", browserVersion: 18 },
    staysQuiet: { noOrigin: 0, noFetchMetadata: 1, browserFamily: "safari", browserVersion: 18 },
  }),
  detection({
    id: 100216,
    slug: "request-without-a-page",
    meaning:
      "The client claims to be a current browser, but sent neither Sec-Fetch headers nor anything about the page's environment.",
    strength: "notable",
    cause: "library_transport",
    reads: [
      "noFetchMetadata",
      "secureContext",
      "environmentFacts",
      "browserFamily",
      "browserVersion",
      "browserEmbedded",
    ],
    when: (e) =>
      e.noFetchMetadata > 0 &&
      e.secureContext &&
      e.environmentFacts < 4 &&
      !e.browserEmbedded &&
      e.browserVersion >= fetchMetadataSince[e.browserFamily],
    source:
      "a proxy may take the headers away, but not what the SDK reports from inside of the page with its first batch",
    fires: {
      noFetchMetadata: 1,
      secureContext: true,
      environmentFacts: 0,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
    staysQuiet: {
      noFetchMetadata: 1,
      secureContext: true,
      environmentFacts: 9,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
  }),
];
