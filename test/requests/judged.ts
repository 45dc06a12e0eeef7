/** Requests and findings for tests of request scoring. */

import { noVisitEvidence } from "../../src/contract/evidence/visit-facts.js";
import type { JudgedRequest, RequestFindings } from "../../src/contract/verdicts/judged-request.js";

export type HeaderLine = readonly [name: string, value: string];

/** What catalogues and addresses say of most requests. */
export const noFindings: RequestFindings = {
  declaredBot: null,
  crawlerClaim: "none",
  signature: "none",
  visit: noVisitEvidence,
};

/** A GET of the shop's front page over HTTP/1.1, its lines as they came. */
export function requestOf(headers: readonly HeaderLine[], more: Partial<JudgedRequest> = {}): JudgedRequest {
  return {
    context: { method: "GET", path: "/", host: "shop.example", ip: "198.51.100.7" },
    headers,
    isAsReceived: true,
    httpVersion: "1.1",
    ja4: undefined,
    ...more,
  };
}
