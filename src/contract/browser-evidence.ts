/** What a user agent and the headers beside it say: of a session in how many of its batches, of a request 0 or 1. */
import type { BrowserFamily, ClaimedSystem } from "./claimed-browser.js";

/** The part of evidence that sessions and single requests have in common. */
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
  /** 2: the user agent names a tool that no person's browser is; 1: one that ordinary apps use as well. */
  toolAgent: number;
  crawlerClaim: number;
  // headers that are missing or odd
  noAcceptLanguage: number;
  anyAcceptLanguage: number;
  noAccept: number;
  /** No compression is accepted; a request that asks for a range may do so. */
  noAcceptEncoding: number;
  noBrotli: number;
  noOrigin: number;
  /** The page's address is trustworthy to browsers: https, or on this machine; elsewhere they leave headers out. Of a session: in every batch. */
  secureContext: boolean;
  /** It is https for sure; of a session in every batch. */
  securePage: boolean;
  noFetchMetadata: number;
  partFetchMetadata: number;
  noClientHints: number;
  clientHintsForeign: number;
  platformForeign: number;
}
