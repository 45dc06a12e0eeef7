/** `X-Request-Id`: unique across threads and restarts, cheap to make, safe to print. */
import { randomBytes } from "node:crypto";

/** Returns a generator of ids: 48 random bits per thread, then a counter. */
export function requestIds(): () => string {
  const prefix = randomBytes(6).toString("hex");
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}
