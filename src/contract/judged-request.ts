/** A visitor's request as it is judged, whether a session stands behind it or not. */

import type { DeclaredBot } from "./declared-bots.js";
import type { SignatureState } from "./signed-agents.js";
import type { RequestContext } from "./verdict.js";
import type { CrawlerClaim } from "./visitor.js";

export const httpVersions = ["1.0", "1.1", "2", "3"] as const;
export type HttpVersion = (typeof httpVersions)[number];

/** What a backend or a proxy says of a visitor's request. Everything in it is bounded; what is missing or of a wrong type is left out. */
export interface JudgedRequest {
  readonly context: RequestContext;
  /** Name and value of each line in its order, names as they came. At most `limits.requestHeadersMax`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether order and case of the names are the visitor's own: after a proxy's own request they are not. */
  readonly isAsReceived: boolean;
  readonly httpVersion: HttpVersion | undefined;
  /** Fingerprint of the TLS client hello, by whoever ended the connection. */
  readonly ja4: string | undefined;
}

/** What catalogues, address and signature say of such a request. */
export interface RequestFindings {
  readonly declaredBot: DeclaredBot | null;
  /** What its user agent claims, held against its address. */
  readonly crawlerClaim: CrawlerClaim;
  readonly signature: SignatureState;
}

/** The heuristics engine's result for one request. */
export interface RequestScore {
  /** 1 to 99, lower is more bot-confident; null where nothing counts, which stands for the neutral 60. */
  readonly score: number | null;
  /** Strongest first. */
  readonly detectionIds: readonly number[];
}
