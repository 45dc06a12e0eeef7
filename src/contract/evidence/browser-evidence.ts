/** Evidence from a user agent and its headers: for a session in how many of its batches, for a request 0 or 1. */
import type { BrowserFamily, ClaimedSystem } from "./claimed-browser.js";

/** The evidence that sessions and single requests share. */
export interface BrowserEvidence {
  // identity
  userAgent: string;
  browserFamily: BrowserFamily;
  browserVersion: number;
  browserSystem: ClaimedSystem;
  browserMobile: boolean;
  /** An app's web view or a browser known to rewrite headers. */
  browserEmbedded: boolean;
  noUserAgent: number;
  /** 2: the user agent names a tool that no person uses as a browser; 1: one that ordinary apps use as well. */
  toolAgent: number;
  crawlerClaim: number;
  /**
   * Most of what browsers send besides their names is there: of a request three kinds of lines, of a session all but one kind and those that begin with
   * Sec-, and a page that reports.
   */
  browserLines: boolean;
  // headers that are missing or odd
  noAcceptLanguage: number;
  anyAcceptLanguage: number;
  noAccept: number;
  /** No compression is accepted; a request that asks for a range may do so. */
  noAcceptEncoding: number;
  noBrotli: number;
  noOrigin: number;
  /** Browsers trust the page's address: https, or on this machine; on other pages they leave headers out. For a session: in every batch. */
  secureContext: boolean;
  /** It is certainly https; for a session in every batch. */
  securePage: boolean;
  noFetchMetadata: number;
  partFetchMetadata: number;
  noClientHints: number;
  clientHintsForeign: number;
  platformForeign: number;
}
