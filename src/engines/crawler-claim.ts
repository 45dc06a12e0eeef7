/** How the verdict on a claimed crawler, which is found elsewhere (ranges, DNS), enters the features. */
import { type CrawlerClaim, crawlerClaims } from "../contract/visitor.js";
import { F, type SessionFeatures } from "./session-features.js";

/** Notes what is known of the session's claim to be a crawler. The latest verdict stands. */
export function setCrawlerClaim(features: SessionFeatures, claim: CrawlerClaim): void {
  features.numbers[F.crawlerClaim] = crawlerClaims.indexOf(claim);
}
