/** What is known of who a visitor is, beside what its events show: found by address and DNS, outside the engines. */
import type { VerifiedBot } from "./verified-bots.js";

/**
 * A session's claim (in its user agent) to be a crawler. `pending` while DNS has not answered; `unverifiable` when nobody can
 * check the claim.
 */
export const crawlerClaims = ["none", "pending", "verified", "spoofed", "unverifiable"] as const;
/** What became of a session's claim to be a crawler. */
export type CrawlerClaim = (typeof crawlerClaims)[number];

/** Who a visitor was found to be; looked up when a batch is scored. */
export interface VisitorIdentity {
  /** The verified bot at the visitor's address. */
  readonly verifiedBot: VerifiedBot | null;
  readonly crawlerClaim: CrawlerClaim;
}

/** A visitor of whom nothing is known: no bot, no claim. */
export const unidentified: VisitorIdentity = { verifiedBot: null, crawlerClaim: "none" };
