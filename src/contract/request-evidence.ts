/**
 * What detections may read of one request of a visitor: facts with a meaning, which `engines/request-evidence.ts` makes of its header lines,
 * network facts and what catalogues say of it. undefined stands for "can't be told"; a detection that reads such a value is skipped.
 */
import type { BotCategory } from "./bot-categories.js";
import type { BrowserEvidence } from "./browser-evidence.js";
import type { HttpVersion } from "./judged-request.js";
import type { SignatureState } from "./signed-agents.js";

/**
 * The loading of a page or frame, the request of a script, the loading of what a page needs (images, scripts, styles, media); unknown where
 * Sec-Fetch headers are missing and it looks like no navigation.
 */
export type Purpose = "navigation" | "script" | "resource" | "unknown";

/**
 * One request's evidence. A bot that names itself claims no browser: nothing is expected of its headers.
 */
export interface RequestEvidence extends BrowserEvidence {
  // identity
  headlessBrand: boolean;
  /** What the bot is for that the user agent names. */
  declaredBot: BotCategory | "none";
  signature: SignatureState;
  // headers
  strippedHeaders: boolean;
  // of one request only
  method: string;
  purpose: Purpose;
  accept: string;
  acceptLanguage: string;
  acceptEncoding: string;
  contentType: string;
  /** Sec-CH-UA came, and one of its two companions did not. */
  partClientHints: boolean;
  secFetchSite: string;
  secFetchMode: string;
  secFetchDest: string;
  /** "" where it did not come, like the next two. */
  secFetchUser: string;
  upgradeInsecureRequests: string;
  connection: string;
  mobileForeign: boolean;
  fetchMetadata: boolean;
  clientHints: boolean;
  /** Origin and Referer name different hosts. */
  originForeign: boolean;
  /** A Referer, an Origin or a Sec-Fetch header came: some page may have asked for it. */
  fromPage: boolean;
  /** Accept-Encoding, Accept-Language, Accept and User-Agent, in the order in which they came, as letters: `uale`. */
  headerOrder: string;
  lowerCaseNames: boolean;
  httpVersion: HttpVersion;
  /** A well-formed fingerprint of the TLS client hello. */
  ja4: string;
}

/** Evidence of one request, as detections get it: undefined for what can't be told of it. */
export type ObservedRequest = { readonly [Name in keyof RequestEvidence]: RequestEvidence[Name] | undefined };
