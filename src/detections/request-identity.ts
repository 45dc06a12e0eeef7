/** Family 1001, for single requests: clients that name themselves, or that have the name of no browser. */
import { namesBrowser } from "./browser-names.js";
import { requestDetection } from "./detection.js";

/** About single requests, from what their user agent names, or fails to. */
export const requestIdentityDetections = [
  requestDetection({
    id: 100108,
    slug: "unknown-client",
    meaning: "The user agent does not look like any browser's and names no known bot or tool.",
    strength: "moderate",
    cause: "declared_tool",
    reads: ["userAgent", "toolAgent", "declaredBot", "crawlerClaim", "platformFetcher", "browserLines"],
    when: (e) =>
      e.toolAgent === 0 &&
      e.declaredBot === "none" &&
      e.crawlerClaim === 0 &&
      !e.platformFetcher &&
      !e.browserLines &&
      !namesBrowser(e.userAgent),
    source:
      "RFC 9110 10.1.5; apps and services name themselves so, which is why it is less than of a session that runs scripts",
    fires: {
      userAgent: "shop-sync 1.0",
      toolAgent: 0,
      declaredBot: "none",
      crawlerClaim: 0,
      platformFetcher: false,
      browserLines: false,
    },
    staysQuiet: {
      userAgent: "Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1",
      toolAgent: 0,
      declaredBot: "none",
      crawlerClaim: 0,
      platformFetcher: false,
      browserLines: false,
    },
  }),
  requestDetection({
    id: 100109,
    slug: "declared-library",
    meaning: "The user agent names an HTTP library or tool from the list of declared bots.",
    strength: "strong",
    cause: "declared_tool",
    reads: ["declaredBot", "toolAgent"],
    when: (e) => e.declaredBot === "library" && e.toolAgent === 0,
    source:
      "the list of declared bots, which the operator may import; what the catalogue's own list knows is not counted twice",
    fires: { declaredBot: "library", toolAgent: 0 },
    staysQuiet: { declaredBot: "library", toolAgent: 2 },
  }),
  requestDetection({
    id: 100110,
    slug: "declared-bot",
    meaning: "The user agent names a declared bot: a crawler, fetcher, monitor or agent.",
    strength: "moderate",
    cause: "crawler_claim",
    reads: ["declaredBot"],
    when: (e) => e.declaredBot !== "none" && e.declaredBot !== "library",
    source: "the list of declared bots; a claim to be a bot is evidence of one, and says nothing against it",
    fires: { declaredBot: "ai_crawler" },
    staysQuiet: { declaredBot: "none" },
  }),
  requestDetection({
    id: 100113,
    slug: "platform-fetcher",
    meaning: "The user agent names a part of an operating system, player or office suite that fetches for its user.",
    strength: "weak",
    cause: "declared_tool",
    reads: ["platformFetcher"],
    when: (e) => e.platformFetcher,
    source: "platform-fetchers.ts; a person's media, bookmarks, calendars, downloads and documents are fetched so",
    fires: { platformFetcher: true },
    staysQuiet: { platformFetcher: false },
  }),
];
