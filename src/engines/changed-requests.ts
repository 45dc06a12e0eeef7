/**
 * What a filter, a proxy or an agent switch of a person makes of a browser's request, told from what a program never had: the first takes a few kinds of
 * lines, or changes the name alone, and leaves the rest as the browser wrote it.
 */
import type { JudgedHeaderFacts } from "../contract/evidence/header-facts.js";
import type { ClaimedBrowser } from "./claimed-browser.js";

/** How Accept begins for pages in all current browsers. */
export const pageAccept = "text/html,application/xhtml+xml,";

/** What `changesOf` reads besides the lines. */
interface ChangedRequest {
  readonly values: JudgedHeaderFacts;
  /** Of the claimed browser; "other" without a user agent. */
  readonly browser: ClaimedBrowser;
  /** No encodings, or not those that browsers offer over https. */
  readonly lacksEncoding: boolean;
  /** As in `JudgedLines`. */
  readonly order: string | undefined;
  readonly method: string | undefined;
}

/** The conclusions about one request. */
export interface RequestChanges {
  /**
   * Few kinds are missing: besides headers that begin with Sec- one, or two where the encodings are the claimed version's and a page's Accept or languages
   * are left, or where a page's Accept, the wish for upgrades and Sec-Fetch headers are. A library's defaults (any type accepted, from no page) do not match.
   */
  readonly isStripped: boolean;
  /** All is another engine's but the name: a proxy, an extension or the browser's own menu claims another browser for somebody. */
  readonly isRenamed: boolean;
  /** Three of languages, encodings and a page are there; or one of them with a wish for upgrades, Sec-Fetch headers or hints. */
  readonly hasBrowserLines: boolean;
}

/** Pure, under a microsecond. */
export function changesOf(request: ChangedRequest): RequestChanges {
  const { values, browser } = request;
  if (isTranslators(values)) return { isStripped: true, isRenamed: true, hasBrowserLines: true };
  return {
    isStripped: missingKinds(request) <= missingMax(values, browser),
    isRenamed: isRenamed(request),
    hasBrowserLines: browserKinds(request) >= 3,
  };
}

/** A translator fetches the page for somebody and names his browser: it says so in the user agent, or is the page that the request comes from. */
function isTranslators({ userAgent, referer }: JudgedHeaderFacts): boolean {
  return userAgent.includes("gzip(gfe)") || translators.test(referer);
}

const translators =
  /^https:\/\/(?:translate\.google\.[a-z.]{2,6}|translate\.yandex\.[a-z]{2,3}|(?:[a-z0-9-]{1,80}\.)?(?:translate\.goog|translatetheweb\.com))\//;

function missingKinds({ values, browser, lacksEncoding, order, method }: ChangedRequest): number {
  const { accept, acceptLanguage, acceptEncoding, referer, origin, upgradeInsecureRequests: upgrade } = values;
  const isPage = accept.startsWith(pageAccept);
  const isNavigation = isPage || upgrade === "1" || isDocument(values);
  const isUpload = isBrowsersUpload(values);
  const isFromNowhere = !isNavigation && !isUpload && referer === "" && origin === "" && !hasFetchMetadata(values);
  const kinds = [
    acceptLanguage === "",
    (accept === "" && !isUpload) || (accept === "*/*" && isNavigation),
    (lacksEncoding && !isHandshake(values)) || !isBrowsersEncoding(acceptEncoding),
    isNavigation && browser.family !== "safari" && upgrade === "",
    isFromNowhere,
    // Nothing but encodings tells then what a library sends from what a browser does.
    isFromNowhere && order === undefined && acceptEncoding !== encodingsOf(browser),
    method === "POST" && origin === "" && !isUpload,
  ];
  return count(kinds);
}

/** Reports of the Reporting API and of network errors: Chromium's network code sends them by itself, for no page and without Accept. */
function isBrowsersUpload({ contentType }: JudgedHeaderFacts): boolean {
  return contentType.startsWith("application/reports+json");
}

/** Of a WebSocket, for which Safari does not offer Brotli. */
function isHandshake({ connection, origin }: JudgedHeaderFacts): boolean {
  return origin !== "" && /\bupgrade\b/i.test(connection);
}

function missingMax(values: JudgedHeaderFacts, browser: ClaimedBrowser): number {
  const { accept, acceptLanguage, acceptEncoding, upgradeInsecureRequests: upgrade } = values;
  const isPage = accept.startsWith(pageAccept);
  if (acceptEncoding === encodingsOf(browser)) return acceptLanguage !== "" || isPage || isOfTools(values) ? 2 : 1;
  return isPage && upgrade === "1" && hasFetchMetadata(values) ? 2 : 1;
}

/** What Chromium's developer tools fetch for themselves comes from no page and says little of what is accepted. */
function isOfTools({ secFetchSite, secFetchMode, secFetchDest }: JudgedHeaderFacts): boolean {
  return secFetchSite === "none" && secFetchMode === "no-cors" && secFetchDest === "empty";
}

/** Browsers name them in this order, and media without any. Libraries have orders of their own. */
function isBrowsersEncoding(encodings: string): boolean {
  return /^(?:gzip(?:, deflate(?:, |$)|$)|identity)/.test(encodings) || encodings === "";
}

/** What the claimed version offers over https. */
function encodingsOf({ family, version }: ClaimedBrowser): string {
  const hasZstd = (family === "chromium" && version >= 123) || (family === "firefox" && version >= 126);
  return hasZstd ? "gzip, deflate, br, zstd" : "gzip, deflate, br";
}

/** Firefox fetches objects and embedded files as navigations, with an Accept of its own. */
function isDocument({ secFetchMode, secFetchDest }: JudgedHeaderFacts): boolean {
  return secFetchMode === "navigate" && secFetchDest !== "object" && secFetchDest !== "embed";
}

function hasFetchMetadata({ secFetchSite, secFetchMode, secFetchDest }: JudgedHeaderFacts): boolean {
  return secFetchSite !== "" && secFetchMode !== "" && secFetchDest !== "";
}

/** The page's Accept is another engine's than the name's, and all else is that engine's, too. */
function isRenamed(request: ChangedRequest): boolean {
  const { values, browser, lacksEncoding, order } = request;
  const { family } = browser;
  const { accept, acceptLanguage, secFetchMode } = values;
  if (family === "other" || acceptLanguage === "") return false;
  if (!accept.startsWith(pageAccept)) return isPartRenamed(request);
  if (!accept.includes("image/apng")) return family === "chromium" && !lacksEncoding && isOtherEngines(values, order);
  if (family === "chromium") return false;
  if (secFetchMode !== "" && values.secFetchSite !== "") return true;
  // What is copied into a library comes in the library's order, and seldom with encodings that it can't read.
  const isChromiums = order === undefined ? values.acceptEncoding.endsWith("zstd") : /^u?a?e?l?$/.test(order);
  return isChromiums && values.upgradeInsecureRequests === "1" && !lacksEncoding;
}

/** The same of what a page loads and its scripts request, whose Accept tells little: hints, or the order, are the other engine's. */
function isPartRenamed({ values, browser: { family }, lacksEncoding, order }: ChangedRequest): boolean {
  const hasHints = values.secChUa !== "";
  if (family === "chromium") return !hasHints && hasFetchMetadata(values) && order === "uale";
  if (hasHints) return hasFetchMetadata(values);
  const isFromPage = values.referer !== "" || values.origin !== "";
  return isFromPage && !lacksEncoding && order === "uael";
}

/** The lines of Firefox or of Safari, whose languages, encodings and wishes for upgrades differ. */
function isOtherEngines(values: JudgedHeaderFacts, order: string | undefined): boolean {
  const { accept, acceptLanguage, acceptEncoding, secChUa } = values;
  if (secChUa !== "" || (order !== undefined && !/^ual?e$/.test(order))) return false;
  const hasMetadata = hasFetchMetadata(values);
  if (values.upgradeInsecureRequests === "1") {
    // Over http both wish for upgrades, and offer the same encodings as every browser.
    if (!acceptEncoding.includes("br")) return order !== undefined;
    const isFirefoxs = acceptEncoding.endsWith("zstd") || accept.includes("image/avif");
    return isFirefoxs && !acceptLanguage.includes("q=0.9") && (hasMetadata || order !== undefined);
  }
  return hasMetadata && acceptEncoding === "gzip, deflate, br" && /^[^;]*(?:;q=0\.9|$)/.test(acceptLanguage);
}

/** What no library sends by itself counts twice. */
function browserKinds({ values, lacksEncoding }: ChangedRequest): number {
  const { accept, acceptLanguage, acceptEncoding, referer, origin, secChUa, secChUaMobile } = values;
  const isLibrarys = [
    acceptLanguage !== "" && acceptLanguage !== "*",
    acceptEncoding.startsWith("gzip, deflate") && !lacksEncoding,
    accept.startsWith(pageAccept) || (accept !== "" && (referer !== "" || origin !== "")),
  ];
  const isBrowsers = [
    values.upgradeInsecureRequests === "1",
    hasFetchMetadata(values),
    secChUa !== "" && secChUaMobile !== "",
  ];
  return count(isLibrarys) + 2 * count(isBrowsers);
}

function count(facts: readonly boolean[]): number {
  return facts.filter((isSo) => isSo).length;
}
