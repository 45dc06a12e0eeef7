/**
 * Family 1002, for single requests: client hints and fetch metadata against the claimed browser, the method and one another. What
 * browsers send differs between navigations, requests of scripts and the loading of images and the like; each entry says which it means.
 */
import { requestDetection, sharedDetection } from "./detection.js";

const fetchModes = ["navigate", "cors", "no-cors", "same-origin", "websocket", "webtransport"];
const fetchSites = ["none", "same-origin", "same-site", "cross-site"];
/** What a navigation may be for; "empty" when a service worker passes one on. */
const navigationDests = ["document", "iframe", "frame", "fencedframe", "embed", "object", "empty"];
const documentDests = ["document", "iframe", "frame"];

/** About single requests; the contradiction of Sec-CH-UA-Platform is about sessions as well. */
export const requestMetadataDetections = [
  sharedDetection({
    id: 100217,
    slug: "client-hints-contradict-system",
    meaning: "Sec-CH-UA-Platform names another operating system than the User-Agent.",
    strength: "notable",
    cause: "client_hints_platform",
    group: "switching",
    reads: ["platformForeign"],
    when: (e) => e.platformForeign > 0,
    source:
      "User-Agent Client Hints section 3.6: both come from one build; user-agent switchers and disguises change one of them",
    fires: { platformForeign: 1 },
    staysQuiet: { platformForeign: 0 },
  }),
  requestDetection({
    id: 100218,
    slug: "client-hints-contradict-form",
    meaning: "Sec-CH-UA-Mobile and the User-Agent disagree on whether this is a phone.",
    strength: "notable",
    cause: "client_hints_mobile",
    group: "switching",
    reads: ["mobileForeign", "browserFamily", "browserEmbedded"],
    when: (e) => e.mobileForeign && e.browserFamily === "chromium" && !e.browserEmbedded,
    source: "User-Agent Client Hints section 3.3; Chromium derives the hint and the word Mobile from one switch",
    fires: { mobileForeign: true, browserFamily: "chromium", browserEmbedded: false },
    staysQuiet: { mobileForeign: true, browserFamily: "chromium", browserEmbedded: true },
  }),
  requestDetection({
    id: 100219,
    slug: "partial-client-hints",
    meaning: "Sec-CH-UA came without Sec-CH-UA-Mobile or Sec-CH-UA-Platform, which Chromium sends with it.",
    strength: "notable",
    cause: "client_hints_part",
    group: "stripping",
    reads: ["partClientHints", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) => e.partClientHints && e.browserFamily === "chromium" && e.browserVersion >= 95 && !e.browserEmbedded,
    source: "User-Agent Client Hints: the three are of low entropy and sent together since Chromium 93",
    fires: { partClientHints: true, browserFamily: "chromium", browserVersion: 131, browserEmbedded: false },
    staysQuiet: { partClientHints: true, browserFamily: "chromium", browserVersion: 90, browserEmbedded: false },
  }),
  requestDetection({
    id: 100220,
    slug: "headers-newer-than-agent",
    meaning: "The claimed browser version is older than the Sec- headers it sends.",
    strength: "notable",
    cause: "header_era",
    group: "switching",
    reads: ["fetchMetadata", "clientHints", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) =>
      !e.browserEmbedded &&
      ((e.fetchMetadata && e.browserFamily === "chromium" && e.browserVersion < 76) ||
        (e.fetchMetadata && e.browserFamily === "firefox" && e.browserVersion < 90) ||
        (e.clientHints && e.browserFamily === "chromium" && e.browserVersion < 84)),
    source:
      "Sec-Fetch headers came with Chromium 76 and Firefox 90, Sec-CH-UA with Chromium 84; lists of old user agents",
    fires: {
      fetchMetadata: true,
      clientHints: true,
      browserFamily: "chromium",
      browserVersion: 58,
      browserEmbedded: false,
    },
    staysQuiet: {
      fetchMetadata: true,
      clientHints: false,
      browserFamily: "firefox",
      browserVersion: 102,
      browserEmbedded: false,
    },
  }),
  requestDetection({
    id: 100221,
    slug: "impossible-fetch-metadata",
    meaning: "Sec-Fetch headers have values that do not exist, or that no browser sends together.",
    strength: "notable",
    cause: "fetch_metadata",
    reads: ["secFetchMode", "secFetchSite", "secFetchDest", "secFetchUser", "upgradeInsecureRequests"],
    when: (e) => {
      const isNavigation = e.secFetchMode === "navigate";
      if (!fetchModes.includes(e.secFetchMode) || !fetchSites.includes(e.secFetchSite)) return true;
      if (e.secFetchUser !== "" && !(isNavigation && e.secFetchUser === "?1")) return true;
      if (e.upgradeInsecureRequests !== "" && e.secFetchMode === "cors") return true;
      return isNavigation ? !navigationDests.includes(e.secFetchDest) : documentDests.includes(e.secFetchDest);
    },
    source:
      "W3C Fetch Metadata sections 2.1 to 2.4; header sets of a page view that are sent with a script's request, or the reverse",
    fires: {
      secFetchMode: "cors",
      secFetchSite: "same-origin",
      secFetchDest: "document",
      secFetchUser: "?1",
      upgradeInsecureRequests: "1",
    },
    staysQuiet: {
      secFetchMode: "navigate",
      secFetchSite: "none",
      secFetchDest: "document",
      secFetchUser: "?1",
      upgradeInsecureRequests: "1",
    },
  }),
  requestDetection({
    id: 100222,
    slug: "navigation-by-odd-method",
    meaning: "A navigation used a method other than GET and POST.",
    strength: "notable",
    cause: "fetch_method",
    reads: ["secFetchMode", "method"],
    when: (e) => e.secFetchMode === "navigate" && e.method !== "GET" && e.method !== "POST",
    source: "HTML standard, navigation: links, addresses and forms know GET and POST only",
    fires: { secFetchMode: "navigate", method: "PUT" },
    staysQuiet: { secFetchMode: "cors", method: "PUT" },
  }),
  requestDetection({
    id: 100223,
    slug: "navigation-with-content-type",
    meaning: "A navigation by GET names a content type although it has no body.",
    strength: "notable",
    cause: "content_type",
    reads: ["purpose", "method", "contentType", "browserFamily"],
    when: (e) => e.purpose === "navigation" && e.method === "GET" && e.browserFamily !== "other",
    source:
      "Fetch standard: only a body brings Content-Type; scripts may set it, navigations can't. Habit of API clients",
    fires: { purpose: "navigation", method: "GET", contentType: "application/json", browserFamily: "chromium" },
    staysQuiet: { purpose: "script", method: "GET", contentType: "application/json", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100224,
    slug: "navigation-with-foreign-accept",
    meaning: "A navigation's Accept header is not that of the claimed browser.",
    strength: "notable",
    cause: "accept",
    group: "switching",
    reads: ["purpose", "accept", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) => {
      if (e.purpose !== "navigation" || e.browserEmbedded || e.browserFamily === "other") return false;
      if (e.accept === "*/*") return false;
      if (!e.accept.startsWith("text/html")) return true;
      if (e.browserFamily === "chromium") return e.browserVersion >= 80 && !e.accept.includes("image/webp");
      return e.accept.includes("application/signed-exchange") || e.accept.includes("image/apng");
    },
    source:
      "Chromium's Accept has listed WebP since version 32 and signed exchanges since 73; those of Firefox and Safari never list the latter",
    fires: {
      purpose: "navigation",
      accept: "application/json",
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
    staysQuiet: {
      purpose: "script",
      accept: "*/*",
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
  }),
  requestDetection({
    id: 100228,
    slug: "navigation-accepts-anything",
    meaning: "The client claims to be a browser, but its navigation accepts any type alike.",
    strength: "notable",
    cause: "accept",
    group: "stripping",
    reads: ["purpose", "accept", "browserFamily", "browserEmbedded"],
    when: (e) => e.purpose === "navigation" && e.accept === "*/*" && e.browserFamily !== "other" && !e.browserEmbedded,
    source: "libraries' default; filters that hide what a browser can show write the same",
    fires: { purpose: "navigation", accept: "*/*", browserFamily: "firefox", browserEmbedded: false },
    staysQuiet: { purpose: "script", accept: "*/*", browserFamily: "firefox", browserEmbedded: false },
  }),
  requestDetection({
    id: 100225,
    slug: "no-upgrade-insecure-requests",
    meaning: "The client claims to be Chromium or Firefox, but its navigation has no Upgrade-Insecure-Requests header.",
    strength: "weak",
    cause: "upgrade_insecure_requests",
    group: "stripping",
    reads: ["purpose", "upgradeInsecureRequests", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) =>
      e.purpose === "navigation" &&
      e.upgradeInsecureRequests === "" &&
      !e.browserEmbedded &&
      (e.browserFamily === "chromium" || e.browserFamily === "firefox") &&
      e.browserVersion >= 60,
    source: "W3C Upgrade Insecure Requests section 3.2.1; Chromium since 44 and Firefox since 48, to http and https",
    fires: {
      purpose: "navigation",
      upgradeInsecureRequests: "",
      browserFamily: "firefox",
      browserVersion: 140,
      browserEmbedded: false,
    },
    staysQuiet: {
      purpose: "navigation",
      upgradeInsecureRequests: "",
      browserFamily: "safari",
      browserVersion: 18,
      browserEmbedded: false,
    },
  }),
  requestDetection({
    id: 100226,
    slug: "request-from-no-page",
    meaning: "The client claims to be a browser, but the request is not a navigation and names no page.",
    strength: "weak",
    cause: "referer",
    group: "stripping",
    reads: ["purpose", "fromPage", "accept", "browserFamily", "browserEmbedded"],
    when: (e) =>
      e.purpose === "unknown" && !e.fromPage && e.accept === "*/*" && e.browserFamily !== "other" && !e.browserEmbedded,
    source: "Referrer Policy's default names the page's origin; libraries accept anything and name nothing",
    fires: { purpose: "unknown", fromPage: false, accept: "*/*", browserFamily: "chromium", browserEmbedded: false },
    staysQuiet: {
      purpose: "unknown",
      fromPage: true,
      accept: "*/*",
      browserFamily: "chromium",
      browserEmbedded: false,
    },
  }),
  requestDetection({
    id: 100227,
    slug: "origin-contradicts-referer",
    meaning: "Origin and Referer name different sites.",
    strength: "notable",
    cause: "origin",
    reads: ["originForeign"],
    when: (e) => e.originForeign,
    source: "Fetch standard: both are those of the page that asks; after redirects Origin becomes null",
    fires: { originForeign: true },
    staysQuiet: { originForeign: false },
  }),
];
