/** Headers of the routes that any page's scripts may call: without cookies or credentials of the browser's. */

/** Of every answer, refusals included: any origin may read it. */
export const cors = [["Access-Control-Allow-Origin", "*"]] as const;

/** Of the answer to a preflight. */
export const preflight = [
  ...cors,
  ["Access-Control-Allow-Methods", "POST"],
  ["Access-Control-Allow-Headers", "Content-Type, Idempotency-Key, X-Service-Site-Key"],
  ["Access-Control-Max-Age", "86400"],
] as const;
