/**
 * What detections may read of one request of a visitor: meaningful facts, which `engines/request-evidence.ts` derives from its header lines, network
 * facts and catalogue entries. undefined means "unknown"; a detection that reads such a value is skipped.
 */
import type { BotCategory } from "../bots/bot-categories.js";
import type { SignatureState } from "../bots/signed-agents.js";
import type { HttpVersion } from "../verdicts/judged-request.js";
import type { BrowserEvidence } from "./browser-evidence.js";

/**
 * Loading a page or frame, a script's request, or loading parts of a page (images, scripts, styles, media); unknown if Sec-Fetch headers are missing
 * and it does not look like a navigation.
 */
export type Purpose = "navigation" | "script" | "resource" | "unknown";

/** The evidence of one request. A bot that names itself claims no browser, so no headers are expected of it. */
export interface RequestEvidence extends BrowserEvidence {
  // identity
  headlessBrand: boolean;
  /** The purpose of the bot that the user agent names. */
  declaredBot: BotCategory | "none";
  signature: SignatureState;
  // headers
  strippedHeaders: boolean;
  /** The user agent is that of a part of an operating system or office suite, and the request one that it makes for the person who uses it. */
  platformFetcher: boolean;
  /** A proxy that changes names, or a translator, may have made its headers. */
  renamedBrowser: boolean;
  // of one request only
  method: string;
  purpose: Purpose;
  accept: string;
  acceptLanguage: string;
  acceptEncoding: string;
  contentType: string;
  /** Sec-CH-UA came, but not both of its companions. */
  partClientHints: boolean;
  secFetchSite: string;
  secFetchMode: string;
  secFetchDest: string;
  /** "" if it did not come, like the next two. */
  secFetchUser: string;
  upgradeInsecureRequests: string;
  connection: string;
  mobileForeign: boolean;
  fetchMetadata: boolean;
  clientHints: boolean;
  /** Origin and Referer name different hosts. */
  originForeign: boolean;
  /** A Referer, an Origin or a Sec-Fetch header came: the request may come from a page. */
  fromPage: boolean;
  /** Accept-Encoding, Accept-Language, Accept and User-Agent, in the order in which they came, as letters: `uale`. */
  headerOrder: string;
  lowerCaseNames: boolean;
  httpVersion: HttpVersion;
  /** The path ends as a script's. */
  scriptPath: boolean;
  // of its visit, where the SDK is installed
  sdkInstalled: boolean;
  /** Pages without a report. */
  silentPages: number;
  /** Tokens that were given and did not come back. */
  unkeptTokens: number;
  /** A POST without a token, before which no page was loaded. */
  pagelessPost: boolean;
  /** Pages in a row whose numbers rise by one. */
  walkedPages: number;
  /** A well-formed fingerprint of the TLS client hello. */
  ja4: string;
}

/** Evidence of one request in the form for detections: undefined for unknown facts. */
export type ObservedRequest = { readonly [Name in keyof RequestEvidence]: RequestEvidence[Name] | undefined };
