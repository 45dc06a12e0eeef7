/**
 * Header sets of browsers by engine and version, for tests: a navigation, a form's POST, a script's requests and an image, over http and
 * https, HTTP/1.1 and 2. Chromium 156 and Firefox 153 are held against captures; older ones leave out what came later: Sec-Fetch (Chromium
 * 80, Firefox 90, Safari 16.4), Sec-CH-UA (89) and its platform (93), Zstandard (Chromium 123, Firefox 126), AVIF (Chromium 85).
 */
import type { HttpVersion, JudgedRequest } from "../../src/contract/verdicts/judged-request.js";
import { type HeaderLine, requestOf } from "./judged.js";

export interface Browser {
  readonly name: string;
  readonly engine: "chromium" | "firefox" | "safari" | "other";
  /** Major version of the engine, which says what it sends. */
  readonly version: number;
  readonly agent: string;
  /** Brands of Sec-CH-UA beside Chromium; null for a Chromium that sends no hints. */
  readonly brands?: readonly string[] | null;
  readonly platform?: string;
  readonly isMobile?: boolean;
  /** What differs from its engine, by lower-case name; null takes a line away. */
  readonly odd?: Readonly<Record<string, string | null>>;
}

/** How a request travels: what browsers send depends on it. */
export interface Way {
  readonly name: string;
  readonly isSecure: boolean;
  readonly httpVersion: HttpVersion;
}

export const ways: readonly Way[] = [
  { name: "https, HTTP/2", isSecure: true, httpVersion: "2" },
  { name: "https, HTTP/1.1", isSecure: true, httpVersion: "1.1" },
  { name: "http, HTTP/1.1", isSecure: false, httpVersion: "1.1" },
];

export type Kind = "typed address" | "link" | "form" | "fetch" | "fetch of JSON" | "image";
export const kinds: readonly Kind[] = ["typed address", "link", "form", "fetch", "fetch of JSON", "image"];

const host = "shop.example";

interface Asked {
  readonly kind: Kind;
  readonly way: Way;
  readonly browser: Browser;
  readonly origin: string;
}

/** The lines of one request, as the browser orders and writes them. */
export function headersOf(browser: Browser, kind: Kind, way: Way): HeaderLine[] {
  const asked = { kind, way, browser, origin: `${way.isSecure ? "https" : "http"}://${host}` };
  const lines = { chromium: chromiumLines, firefox: firefoxLines, safari: safariLines, other: otherLines }[
    browser.engine
  ](asked);
  const odd = browser.odd ?? {};
  const named = lines
    .filter(([name]) => odd[name.toLowerCase()] !== null)
    .map(([name, value]): HeaderLine => [name, odd[name.toLowerCase()] ?? value]);
  for (const [name, value] of Object.entries(odd)) {
    if (value !== null && !lines.some(([each]) => each.toLowerCase() === name)) named.push([name, value]);
  }
  return way.httpVersion === "1.1"
    ? [["Host", host], ...named]
    : named.filter(([name]) => name !== "Connection").map(([name, value]) => [name.toLowerCase(), value]);
}

export function requestFrom(browser: Browser, kind: Kind, way: Way): JudgedRequest {
  return requestOf(headersOf(browser, kind, way), {
    context: { ...requestOf([]).context, method: methodOf(kind) },
    httpVersion: way.httpVersion,
  });
}

function methodOf(kind: Kind): string {
  return kind === "form" || kind === "fetch of JSON" ? "POST" : "GET";
}

function isNavigation(kind: Kind): boolean {
  return kind === "typed address" || kind === "link" || kind === "form";
}

function lineIf(condition: boolean, name: string, value: string): HeaderLine[] {
  return condition ? [[name, value]] : [];
}

function metadata({ kind }: Asked): { site: string; mode: string; dest: string; user: boolean } {
  const site = kind === "typed address" ? "none" : "same-origin";
  if (isNavigation(kind)) return { site, mode: "navigate", dest: "document", user: kind !== "form" };
  return kind === "image"
    ? { site, mode: "no-cors", dest: "image", user: false }
    : { site, mode: "cors", dest: "empty", user: false };
}

function body(kind: Kind): HeaderLine[] {
  if (methodOf(kind) === "GET") return [];
  return [["Content-Type", kind === "form" ? "application/x-www-form-urlencoded" : "application/json"]];
}

function origin({ kind, origin: value }: Asked): HeaderLine[] {
  return lineIf(methodOf(kind) === "POST", "Origin", value);
}

function referer({ kind, origin: value }: Asked): HeaderLine[] {
  return lineIf(kind !== "typed address", "Referer", `${value}/`);
}

function chromiumAccept({ kind, browser: { version } }: Asked): string {
  if (kind === "fetch of JSON") return "application/json";
  const images = `image/${version >= 85 ? "avif,image/" : ""}webp,image/apng`;
  if (kind === "image") return `${images},image/svg+xml,image/*,*/*;q=0.8`;
  if (kind === "fetch") return "*/*";
  const exchange =
    version >= 110
      ? ",application/signed-exchange;v=b3;q=0.7"
      : version >= 79
        ? ",application/signed-exchange;v=b3;q=0.9"
        : "";
  return `text/html,application/xhtml+xml,application/xml;q=0.9,${images},*/*;q=0.8${exchange}`;
}

function chromiumLines(asked: Asked): HeaderLine[] {
  const { kind, way, browser } = asked;
  const { version } = browser;
  const { site, mode, dest, user } = metadata(asked);
  const brands = (browser.brands ?? []).map((brand) => `, "${brand}";v="${version}"`).join("");
  const hasHints = way.isSecure && version >= 89 && browser.brands !== null;
  const hint: HeaderLine[] = lineIf(hasHints, "sec-ch-ua", `"Not:A-Brand";v="8", "Chromium";v="${version}"${brands}`);
  const mobile = lineIf(hasHints, "sec-ch-ua-mobile", browser.isMobile ? "?1" : "?0");
  const platform = lineIf(hasHints && version >= 93, "sec-ch-ua-platform", `"${browser.platform ?? "Windows"}"`);
  const agent: HeaderLine[] = [["User-Agent", browser.agent]];
  const accept: HeaderLine[] = [["Accept", chromiumAccept(asked)]];
  const fetched = way.isSecure && version >= 80;
  const encodings = way.isSecure ? `gzip, deflate, br${version >= 123 ? ", zstd" : ""}` : "gzip, deflate";
  const first: HeaderLine[] = isNavigation(kind)
    ? [
        ...hint,
        ...mobile,
        ...platform,
        ["Upgrade-Insecure-Requests", "1"],
        ...body(kind),
        ...agent,
        ...origin(asked),
        ...accept,
      ]
    : [...platform, ...agent, ...hint, ...body(kind), ...mobile, ...accept, ...origin(asked)];
  return [
    ["Connection", "keep-alive"],
    ...first,
    ...lineIf(fetched, "Sec-Fetch-Site", site),
    ...lineIf(fetched, "Sec-Fetch-Mode", mode),
    ...lineIf(fetched && user, "Sec-Fetch-User", "?1"),
    ...lineIf(fetched, "Sec-Fetch-Dest", dest),
    ...referer(asked),
    ["Accept-Encoding", encodings],
    ["Accept-Language", "en-US,en;q=0.9"],
  ];
}

function firefoxAccept({ kind, browser: { version } }: Asked): string {
  if (kind === "fetch of JSON") return "application/json";
  if (kind === "fetch") return "*/*";
  if (kind === "image") return version >= 92 ? "image/avif,image/webp,*/*" : version >= 66 ? "image/webp,*/*" : "*/*";
  const images = version >= 132 || version < 66 ? "" : version >= 92 ? "image/avif,image/webp," : "image/webp,";
  return `text/html,application/xhtml+xml,application/xml;q=0.9,${images}*/*;q=0.8`;
}

function firefoxLines(asked: Asked): HeaderLine[] {
  const { kind, way, browser } = asked;
  const { version } = browser;
  const { site, mode, dest, user } = metadata(asked);
  const fetched = way.isSecure && version >= 90;
  return [
    ["User-Agent", browser.agent],
    ["Accept", firefoxAccept(asked)],
    ["Accept-Language", "en-US,en;q=0.5"],
    ["Accept-Encoding", way.isSecure ? `gzip, deflate, br${version >= 126 ? ", zstd" : ""}` : "gzip, deflate"],
    ...body(kind),
    ...(version >= 70 || kind === "fetch of JSON" ? origin(asked) : []),
    ["Connection", "keep-alive"],
    ...referer(asked),
    ...lineIf(isNavigation(kind) && version >= 48, "Upgrade-Insecure-Requests", "1"),
    ...lineIf(fetched, "Sec-Fetch-Dest", dest),
    ...lineIf(fetched, "Sec-Fetch-Mode", mode),
    ...lineIf(fetched, "Sec-Fetch-Site", site),
    ...lineIf(fetched && user, "Sec-Fetch-User", "?1"),
    ...lineIf(way.httpVersion === "2", "TE", "trailers"),
  ];
}

function safariLines(asked: Asked): HeaderLine[] {
  const { kind, way, browser } = asked;
  const { version } = browser;
  const { site, mode, dest } = metadata(asked);
  const fetched = way.isSecure && version >= 17;
  const accept = isNavigation(kind)
    ? "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    : kind === "image"
      ? "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
      : kind === "fetch"
        ? "*/*"
        : "application/json";
  return [
    ...lineIf(fetched, "Sec-Fetch-Dest", dest),
    ...body(kind),
    ["User-Agent", browser.agent],
    ["Accept", accept],
    ...origin(asked),
    ...referer(asked),
    ...lineIf(fetched, "Sec-Fetch-Site", site),
    ...lineIf(fetched, "Sec-Fetch-Mode", mode),
    ...lineIf(isNavigation(kind) && !way.isSecure, "Upgrade-Insecure-Requests", "1"),
    ["Accept-Language", "en-US,en;q=0.9"],
    ["Accept-Encoding", way.isSecure ? "gzip, deflate, br" : "gzip, deflate"],
    ["Connection", "keep-alive"],
  ];
}

/** Engines of their own: text browsers, consoles, readers. */
function otherLines(asked: Asked): HeaderLine[] {
  const { kind, browser } = asked;
  return [
    ["User-Agent", browser.agent],
    ["Accept", isNavigation(kind) ? "text/html, text/*;q=0.5, image/*, application/*" : "*/*"],
    ["Accept-Encoding", "gzip, deflate"],
    ["Accept-Language", "en"],
    ...body(kind),
    ...referer(asked),
    ["Connection", "Keep-Alive"],
  ];
}
