/** Headers of the routes that scripts of any page may call, without cookies or other browser credentials. */

/** For every answer, including refusals: any origin may read it. */
export const cors = [["Access-Control-Allow-Origin", "*"]] as const;

/** For the answer to a preflight. */
export const preflight = [
  ...cors,
  ["Access-Control-Allow-Methods", "POST"],
  ["Access-Control-Allow-Headers", "Content-Type, Idempotency-Key, X-Service-Site-Key"],
  ["Access-Control-Max-Age", "86400"],
] as const;
