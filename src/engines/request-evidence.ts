/**
 * Turns one request of a visitor (its header lines, network facts and catalogue entries) into what detections may read
 * (`contract/evidence/request-evidence.ts`). Conclusions live in detections/.
 */
import type { JudgedHeaderFacts } from "../contract/evidence/header-facts.js";
import type { ObservedRequest, Purpose } from "../contract/evidence/request-evidence.js";
import { crawlerClaims } from "../contract/evidence/visitor.js";
import type { JudgedRequest, RequestFindings } from "../contract/verdicts/judged-request.js";
import { isPlatformFetch } from "../detections/platform-fetchers.js";
import { claimsOf } from "./agent-claims.js";
import { changesOf, pageAccept, type RequestChanges } from "./changed-requests.js";
import { type ClaimedBrowser, namesAppsView } from "./claimed-browser.js";
import { contradictsHints, contradictsMobile, contradictsPlatform } from "./client-hints.js";
import { judgedLinesOf } from "./judged-headers.js";

/** Returns the evidence of a request: pure, about three microseconds. */
export function requestEvidenceOf(request: JudgedRequest, findings: RequestFindings): ObservedRequest {
  const lines = judgedLinesOf(request);
  const { values } = lines;
  const { userAgent, acceptLanguage, accept, acceptEncoding, secChUa } = values;
  const claims = claimsOf(userAgent);
  const declaredBot = findings.declaredBot?.category ?? "none";
  const browser: ClaimedBrowser | undefined = userAgent === "" ? undefined : claims.browser;
  const secureContext = isTrustworthy(request, values);
  const hasNoMetadata = values.secFetchSite === "" && values.secFetchMode === "" && values.secFetchDest === "";
  const isPartMetadata = values.secFetchSite === "" || values.secFetchMode === "" || values.secFetchDest === "";
  // Browsers request a range of media without compression.
  const isRange = values.range !== "" || values.secFetchDest === "video" || values.secFetchDest === "audio";
  const noEncoding = acceptEncoding === "" || (acceptEncoding === "identity" && !isRange);
  const noBrotli = !noEncoding && !acceptEncoding.includes("br") && !isRange;
  const purpose = purposeOf(values);
  const securePage = secureContext === true && isOutside(hostOf(request, values)) ? true : undefined;
  const changes = changesOf({
    values,
    browser: claims.browser,
    lacksEncoding: noEncoding || (noBrotli && securePage === true),
    order: lines.order,
    method: request.context.method,
  });
  const isView =
    viewCategories.includes(declaredBot) &&
    (findings.crawlerClaim === "none" || findings.crawlerClaim === "unverifiable") &&
    isInAppView(values, claims.browser, changes);
  const crawlerClaim = isView ? "none" : findings.crawlerClaim;
  const isDeclared = declaredBot !== "none" && !isView;
  const isNamedBot = isDeclared || crawlerClaim !== "none";
  /** What is expected of a browser says nothing of a bot that claims to be none. */
  const ofBrowser = <Value>(value: Value): Value | undefined => (isNamedBot ? undefined : value);
  return {
    userAgent: userAgent === "" ? undefined : userAgent,
    browserFamily: isNamedBot ? "other" : browser?.family,
    browserVersion: isNamedBot || browser === undefined || browser.version === 0 ? undefined : browser.version,
    browserSystem: browser?.system,
    browserMobile: browser?.isMobile,
    browserEmbedded: browser?.isEmbedded,
    noUserAgent: userAgent === "" ? 1 : 0,
    // The parts of a bot's name are no names of their own.
    toolAgent: isDeclared && declaredBot !== "library" ? 0 : claims.tool,
    crawlerClaim: crawlerClaims.indexOf(crawlerClaim),
    headlessBrand: secChUa === "" ? undefined : secChUa.includes("Headless"),
    declaredBot: isView ? "none" : declaredBot,
    signature: findings.signature,
    noAcceptLanguage: acceptLanguage === "" ? 1 : 0,
    anyAcceptLanguage: ofBrowser(acceptLanguage === "*" ? 1 : 0),
    noAccept: accept === "" ? 1 : 0,
    noAcceptEncoding: noEncoding ? 1 : 0,
    noBrotli: noBrotli ? 1 : 0,
    noOrigin: sendsOrigin(request.context.method, claims.browser) ? (values.origin === "" ? 1 : 0) : undefined,
    secureContext,
    securePage,
    noFetchMetadata: hasNoMetadata ? 1 : 0,
    partFetchMetadata: ofBrowser(isPartMetadata && !hasNoMetadata ? 1 : 0),
    noClientHints: secChUa === "" && !isOutsidePage(values) ? 1 : 0,
    clientHintsForeign: ofBrowser(secChUa !== "" && contradictsHints(secChUa, userAgent) ? 1 : 0),
    platformForeign: ofBrowser(contradictsPlatform(values.secChUaPlatform, browser?.system) ? 1 : 0),
    strippedHeaders: changes.isStripped,
    renamedBrowser: changes.isRenamed,
    browserLines: ofBrowser(changes.hasBrowserLines),
    platformFetcher: isPlatformFetch(userAgent, request.context.path ?? "", values.range),
    method: request.context.method,
    purpose,
    accept: text(accept),
    acceptLanguage: text(acceptLanguage),
    acceptEncoding: text(acceptEncoding),
    contentType: text(values.contentType),
    partClientHints: secChUa !== "" && (values.secChUaMobile === "" || values.secChUaPlatform === ""),
    secFetchSite: text(values.secFetchSite),
    secFetchMode: ofBrowser(text(values.secFetchMode)),
    secFetchDest: text(values.secFetchDest),
    secFetchUser: values.secFetchUser,
    upgradeInsecureRequests: values.upgradeInsecureRequests,
    connection: values.connection,
    mobileForeign: contradictsMobile(values.secChUaMobile, userAgent),
    fetchMetadata: !hasNoMetadata,
    clientHints: secChUa !== "",
    originForeign: ofBrowser(isForeignOrigin(values.origin, values.referer)),
    fromPage: values.referer !== "" || values.origin !== "" || !hasNoMetadata,
    headerOrder: lines.order,
    lowerCaseNames: lines.isLowerCase,
    httpVersion: request.httpVersion,
    scriptPath: isScript(request.context.path ?? ""),
    sdkInstalled: findings.visit.isInstalled,
    silentPages: ofBrowser(findings.visit.silentPages),
    unkeptTokens: ofBrowser(findings.visit.unkeptTokens),
    pagelessPost: ofBrowser(findings.visit.isPagelessPost),
    walkedPages: findings.visit.walkedPages,
    ja4: request.ja4 === undefined || !ja4Start.test(request.ja4) ? undefined : request.ja4,
  };
}

/** Whether a path is that of a script. */
export function isScript(path: string): boolean {
  return path.endsWith("js") && /\.m?js$/.test(path);
}

/** First part of a JA4 fingerprint (FoxIO's description, BSD 3-clause): QUIC or TCP, TLS version, server name, two counts, ALPN. */
const ja4Start = /^[tqd](?:1[0-3]|s[1-3]|d[1-3]|00)[di]\d{4}[0-9a-z]{2}(?:_|$)/;

function text(value: string): string | undefined {
  return value === "" ? undefined : value;
}

/** Bots of these purposes have the names of apps, in which people read. */
const viewCategories: readonly string[] = ["feed", "preview"];

/** What somebody loads in an app that has a bot's name: a full browser's lines, and no words or addresses for bots. */
function isInAppView(
  { userAgent, accept, referer, origin }: JudgedHeaderFacts,
  browser: ClaimedBrowser,
  { hasBrowserLines }: RequestChanges,
): boolean {
  const isOfPage = accept.startsWith(pageAccept) || referer !== "" || origin !== "";
  return hasBrowserLines && isOfPage && namesAppsView(userAgent, browser);
}

/** Chromium sends no client hints from workers, for their scripts, and from its developer tools. */
function isOutsidePage({
  secFetchSite,
  secFetchDest: dest,
  secFetchMode: mode,
  referer,
  accept,
}: JudgedHeaderFacts): boolean {
  if (secFetchSite === "" || mode === "") return false;
  if (dest === "empty") return mode !== "navigate";
  if (dest === "script") return accept === "*/*" && mode === "no-cors" && /\.m?js(?:$|\?)/.test(referer);
  return dest === "worker" || dest === "sharedworker" || dest === "serviceworker";
}

/** Uses Sec-Fetch if it came; else recognises only certain navigations. */
function purposeOf(values: JudgedHeaderFacts): Purpose {
  const { secFetchMode: mode, secFetchDest: dest } = values;
  // Firefox asks for them as for images.
  if (mode === "navigate") return dest === "object" || dest === "embed" ? "resource" : "navigation";
  if (dest !== "") return dest === "empty" ? "script" : "resource";
  if (mode !== "") return "unknown";
  if (values.upgradeInsecureRequests === "1") return "navigation";
  return values.accept.startsWith(pageAccept) && values.xRequestedWith === "" ? "navigation" : "unknown";
}

/**
 * Browsers speak HTTP/2 and 3, offer Brotli and send headers that begin with Sec- only to https addresses (or to this machine). Returns true or false
 * if a line or the connection shows it.
 */
function isTrustworthy({ httpVersion, ja4 }: JudgedRequest, values: JudgedHeaderFacts): boolean | undefined {
  if (values.xForwardedProto !== "") return values.xForwardedProto.startsWith("https");
  if (httpVersion === "2" || httpVersion === "3" || ja4 !== undefined) return true;
  if (values.secChUa !== "" || values.secFetchSite !== "" || values.secFetchMode !== "") return true;
  return values.acceptEncoding.includes("br") ? true : undefined;
}

function hostOf({ context }: JudgedRequest, values: JudgedHeaderFacts): string {
  return context.host ?? values.host;
}

/** Neither this machine nor an onion address: browsers send these headers of secure contexts over http, too. */
function isOutside(host: string): boolean {
  const name = host.replace(/:\d+$/, "");
  return !(/^127\.|^\[::1\]$/.test(name) || /(?:^|\.)localhost$|\.onion$/.test(name));
}

/** Every POST of current browsers carries Origin; Firefox long left it out of its own forms. */
function sendsOrigin(method: string | undefined, { family, version }: ClaimedBrowser): boolean {
  return method === "POST" && !(family === "firefox" && version < 90);
}

/** Both name the page that sends the request. "null" stands for an unnamed page. */
function isForeignOrigin(origin: string, referer: string): boolean | undefined {
  if (origin === "" || origin === "null" || referer === "") return undefined;
  return !(referer === origin || referer.startsWith(`${origin}/`));
}
