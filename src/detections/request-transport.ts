/**
 * Family 1002, for single requests: languages and encodings, order and case of the lines while they are the visitor's own, the version of
 * HTTP and the TLS client hello, against the claimed browser.
 */
import { requestDetection } from "./detection.js";

const range = "(?:\\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)(?: ?; ?q=(?:0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?))?";
/** RFC 9110 section 12.5.4. Its parts begin with different characters, so that it takes linear time. */
const languageRanges = new RegExp(`^${range}(?: ?, ?${range})*$`);

/** First versions with TLS 1.3 and HTTP/2 by default, with some to spare. */
const currentTlsSince = { chromium: 80, firefox: 80, safari: 14, other: Number.POSITIVE_INFINITY } as const;

/** First versions that accept Zstandard, with one to spare. */
const zstdSince = { chromium: 124, firefox: 127, safari: Number.POSITIVE_INFINITY, other: Number.POSITIVE_INFINITY };

/** About single requests that claim to be a browser's; those on order and case are skipped behind proxies that may change them. */
export const requestTransportDetections = [
  requestDetection({
    id: 100230,
    slug: "odd-accept-language",
    meaning: "The client claims to be a browser, but its Accept-Language header is not a list of language tags.",
    strength: "weak",
    cause: "accept_language",
    reads: ["acceptLanguage", "browserFamily"],
    when: (e) => e.browserFamily !== "other" && !languageRanges.test(e.acceptLanguage),
    source: "RFC 9110 section 12.5.4 and RFC 4647; names of locales such as en_US in hand-made clients",
    fires: { acceptLanguage: "en_US", browserFamily: "chromium" },
    staysQuiet: { acceptLanguage: "de-DE,de;q=0.9,en;q=0.8", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100231,
    slug: "no-zstandard",
    meaning: "The client claims to be a current Chromium or Firefox on https, but accepts Brotli and not Zstandard.",
    strength: "weak",
    cause: "accept_encoding",
    group: "stripping",
    reads: ["acceptEncoding", "securePage", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) =>
      e.securePage &&
      !e.browserEmbedded &&
      e.browserVersion >= zstdSince[e.browserFamily] &&
      e.acceptEncoding.includes("br") &&
      !e.acceptEncoding.includes("zstd"),
    source: "Zstandard by default since Chromium 123 and Firefox 126; header sets copied from older versions",
    fires: {
      acceptEncoding: "gzip, deflate, br",
      securePage: true,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
    staysQuiet: {
      acceptEncoding: "gzip, deflate, br, zstd",
      securePage: true,
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
  }),
  requestDetection({
    id: 100229,
    slug: "order-of-no-browser",
    meaning: "Accept-Encoding comes before Accept, unlike in every browser.",
    strength: "notable",
    cause: "header_order",
    reads: ["headerOrder", "browserFamily"],
    when: (e) => e.browserFamily !== "other" && /e.*a/.test(e.headerOrder),
    source:
      "the network code of browsers adds encodings behind what the page set; requests, Apache HttpClient and Ruby begin with them. No switch of names changes the order",
    fires: { headerOrder: "uea", browserFamily: "chromium" },
    staysQuiet: { headerOrder: "uael", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100232,
    slug: "foreign-header-order",
    meaning: "The header lines come in an order that the claimed browser's network code does not produce.",
    strength: "notable",
    cause: "header_order",
    group: "switching",
    reads: ["headerOrder", "purpose", "fromPage", "browserFamily"],
    when: (e) => {
      if (e.browserFamily === "firefox") return /e.*[ual]|l.*[ua]|a.*u/.test(e.headerOrder);
      if (e.browserFamily !== "chromium") return false;
      const isOfScript = e.purpose === "script" || (e.purpose === "unknown" && e.fromPage);
      return /e.*[ua]/.test(e.headerOrder) || (!isOfScript && /l.*e/.test(e.headerOrder));
    },
    source:
      "captures over HTTP/1.1 and 2: Chromium adds Accept-Encoding behind what the page set and Accept-Language last, Firefox the other way round; scripts may set the language themselves",
    fires: { headerOrder: "uale", purpose: "unknown", fromPage: false, browserFamily: "chromium" },
    staysQuiet: { headerOrder: "luae", purpose: "unknown", fromPage: true, browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100233,
    slug: "lower-case-names",
    meaning: "The client claims to be a browser on HTTP/1.1, but all its header names are in lower case.",
    strength: "weak",
    cause: "header_case",
    group: "stripping",
    reads: ["lowerCaseNames", "httpVersion", "browserFamily"],
    when: (e) => e.lowerCaseNames && e.httpVersion === "1.1" && e.browserFamily !== "other",
    source: "browsers write Host and User-Agent; Node's fetch, and proxies that translate from HTTP/2, do not",
    fires: { lowerCaseNames: true, httpVersion: "1.1", browserFamily: "chromium" },
    staysQuiet: { lowerCaseNames: true, httpVersion: "2", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100234,
    slug: "no-keep-alive",
    meaning: "The client claims to be a browser on HTTP/1.1, but its Connection header is missing or unusual.",
    strength: "weak",
    cause: "connection",
    group: "stripping",
    reads: ["connection", "headerOrder", "httpVersion", "browserFamily"],
    when: (e) =>
      e.httpVersion === "1.1" && e.browserFamily !== "other" && (e.connection === "" || e.connection === "Keep-Alive"),
    source: "browsers send `keep-alive` to servers of HTTP/1.1; curl and Go send nothing, wget and okhttp `Keep-Alive`",
    fires: { connection: "", headerOrder: "ua", httpVersion: "1.1", browserFamily: "chromium" },
    staysQuiet: { connection: "keep-alive", headerOrder: "uael", httpVersion: "1.1", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100235,
    slug: "ancient-http",
    meaning: "The client claims to be a browser, but speaks HTTP/1.0.",
    strength: "notable",
    cause: "http_version",
    reads: ["httpVersion", "connection", "headerOrder", "browserFamily"],
    when: (e) => e.httpVersion === "1.0" && e.browserFamily !== "other" && e.connection !== "close",
    source:
      "browsers speak HTTP/1.1 since 1997; load testers and old scripts do not. nginx asks with 1.0 and `close` for everybody",
    fires: { httpVersion: "1.0", connection: "", headerOrder: "ua", browserFamily: "chromium" },
    staysQuiet: { httpVersion: "1.0", connection: "close", headerOrder: "uael", browserFamily: "chromium" },
  }),
  requestDetection({
    id: 100236,
    slug: "foreign-tls-hello",
    meaning: "The TLS handshake (JA4) offers no TLS 1.3 or no HTTP/2, or names no server, unlike the claimed browser.",
    strength: "notable",
    cause: "tls_hello",
    group: "stripping",
    reads: ["ja4", "connection", "browserFamily", "browserVersion", "browserEmbedded"],
    when: (e) => {
      if (e.browserEmbedded || e.browserVersion < currentTlsSince[e.browserFamily]) return false;
      const alpn = e.ja4.slice(8, 10);
      const isWebSocket = e.connection.toLowerCase().includes("upgrade");
      return e.ja4.slice(1, 3) !== "13" || alpn === "00" || (alpn === "h1" && !isWebSocket);
    },
    source:
      "description of JA4 (FoxIO, BSD): its first part tells version and ALPN; browsers offer TLS 1.3 and h2 since 2018 to 2020. Inspecting proxies of companies do not always",
    fires: {
      ja4: "t13d181100_e8a523a41297_d267a5f792d4",
      connection: "keep-alive",
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
    staysQuiet: {
      ja4: "t13d1516h2_8daaf6152771_b186095e22b6",
      connection: "keep-alive",
      browserFamily: "chromium",
      browserVersion: 131,
      browserEmbedded: false,
    },
  }),
];
