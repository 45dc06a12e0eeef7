/** Enters the verdict on a claimed crawler into the features. Ranges and DNS decide that verdict elsewhere. */
import { type CrawlerClaim, crawlerClaims } from "../contract/visitor.js";
import { F, type SessionFeatures } from "./session-features.js";

/** Records what is known about the session's claim to be a crawler. The latest verdict counts. */
export function setCrawlerClaim(features: SessionFeatures, claim: CrawlerClaim): void {
  features.numbers[F.crawlerClaim] = crawlerClaims.indexOf(claim);
}
