/** What is known about a visitor's identity, besides the evidence of its events: found by address and DNS, outside the engines. */
import type { VerifiedBot } from "../bots/verified-bots.js";

/**
 * A session's claim (in its user agent) to be a crawler. `pending` while DNS has not answered; `unverifiable` when nobody can
 * check the claim.
 */
export const crawlerClaims = ["none", "pending", "verified", "spoofed", "unverifiable"] as const;
/** The result for a session's claim to be a crawler. */
export type CrawlerClaim = (typeof crawlerClaims)[number];

/** A visitor's identity; looked up when a batch is scored. */
export interface VisitorIdentity {
  /** The verified bot at the visitor's address. */
  readonly verifiedBot: VerifiedBot | null;
  readonly crawlerClaim: CrawlerClaim;
}

/** A visitor of whom nothing is known: no bot, no claim. */
export const unidentified: VisitorIdentity = { verifiedBot: null, crawlerClaim: "none" };
