/**
 * Family 1003, for single requests: what the visit of a request did before. People who block scripts and cookies do some of it as well, so that all of it
 * counts once, and never takes a request below `likely_automated`. Nothing is said where the SDK is not installed.
 */
import { requestDetection } from "./detection.js";

/** The cause that all of them share: the score counts the strongest of them, and no further than `likely_automated`. */
export const visitCause = "visit";

/** About single requests, from the visit that they belong to. The counts are of 72 runs of HTTP clients and 57 visits of people on a shop. */
export const requestVisitDetections = [
  requestDetection({
    id: 100310,
    slug: "pages-without-script",
    meaning: "The visit loaded four pages or more, and the script on them reported from none.",
    strength: "moderate",
    cause: visitCause,
    reads: ["silentPages"],
    when: (e) => e.silentPages >= 4,
    source:
      "two such pages or more in 46 of 72 runs of HTTP clients and in 0 of 57 visits of people; four leave room for pages that are left before the script runs",
    fires: { silentPages: 4 },
    staysQuiet: { silentPages: 3 },
  }),
  requestDetection({
    id: 100311,
    slug: "cookie-never-kept",
    state: "experimental",
    meaning:
      "The request says that it comes from the same site, but the tokens that the visit was given there did not come back.",
    strength: "moderate",
    cause: visitCause,
    reads: ["unkeptTokens", "secFetchSite"],
    when: (e) => e.unkeptTokens >= 3 && e.secFetchSite === "same-origin",
    source:
      "RFC 6265 section 5.4; three leave room for tabs that are opened at once, and behind a shared address for others' first pages. Who refuses cookies does the same. Not counted on people or programs yet",
    fires: { unkeptTokens: 3, secFetchSite: "same-origin" },
    staysQuiet: { unkeptTokens: 2, secFetchSite: "same-origin" },
  }),
  requestDetection({
    id: 100312,
    slug: "post-without-page",
    meaning: "A POST came from a visit that had loaded no page and brought no session token.",
    strength: "moderate",
    cause: visitCause,
    reads: ["pagelessPost"],
    when: (e) => e.pagelessPost,
    source: "23 of 72 runs of HTTP clients posted to a form that they never fetched, 0 of 57 visits of people",
    fires: { pagelessPost: true },
    staysQuiet: { pagelessPost: false },
  }),
  requestDetection({
    id: 100313,
    slug: "post-from-nowhere",
    meaning: "By Sec-Fetch-Site somebody typed the address of a POST.",
    strength: "moderate",
    cause: visitCause,
    reads: ["secFetchSite", "method", "sdkInstalled"],
    when: (e) => e.sdkInstalled && e.method === "POST" && e.secFetchSite === "none",
    source:
      "W3C Fetch Metadata section 2.3; headers copied from a page's request: 19 of 72 runs of HTTP clients, 0 of 57 visits of people",
    fires: { secFetchSite: "none", method: "POST", sdkInstalled: true },
    staysQuiet: { secFetchSite: "same-origin", method: "POST", sdkInstalled: true },
  }),
  requestDetection({
    id: 100314,
    slug: "script-as-document",
    state: "experimental",
    meaning: "The address of a script was asked for as if it were a page.",
    strength: "weak",
    cause: visitCause,
    reads: ["scriptPath", "secFetchDest", "sdkInstalled"],
    when: (e) => e.sdkInstalled && e.scriptPath && e.secFetchDest === "document",
    source:
      "headers copied from a page's request; a developer who opens a script in a tab does the same, and neither was counted yet",
    fires: { scriptPath: true, secFetchDest: "document", sdkInstalled: true },
    staysQuiet: { scriptPath: true, secFetchDest: "script", sdkInstalled: true },
  }),
  requestDetection({
    id: 100315,
    slug: "listing-walked",
    state: "experimental",
    meaning: "The visit walks through a listing in its own order: eight pages in a row whose numbers rise by one.",
    strength: "none",
    cause: "listing_walk",
    reads: ["walkedPages", "sdkInstalled"],
    when: (e) => e.sdkInstalled && e.walkedPages >= 8,
    source: "scrapers of catalogues; people skip, go back and open items in between. Not measured on people yet",
    fires: { walkedPages: 8, sdkInstalled: true },
    staysQuiet: { walkedPages: 7, sdkInstalled: true },
  }),
];
