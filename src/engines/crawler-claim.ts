/** How the verdict on a claimed crawler, which is found elsewhere (ranges, DNS), enters the features. */
import { F, type SessionFeatures } from "./session-features.js";

/** `pending` while DNS has not answered; `unverifiable` when nobody can check the claim. */
export type CrawlerClaim = "none" | "pending" | "verified" | "spoofed" | "unverifiable";

const codes: Record<CrawlerClaim, number> = { none: 0, pending: 1, verified: 2, spoofed: 3, unverifiable: 4 };

/** Notes what is known of the session's claim to be a crawler. The latest verdict stands. */
export function setCrawlerClaim(features: SessionFeatures, claim: CrawlerClaim): void {
  features.numbers[F.crawlerClaim] = codes[claim];
}
