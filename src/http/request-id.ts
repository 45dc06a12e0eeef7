/** `X-Request-Id`: unique across threads and restarts, cheap to make, safe to print. Visitors see it as a reference, so it does not count. */
import { randomBytes, randomFillSync } from "node:crypto";

const ownBytes = 8;
/** Random bytes drawn at once. */
const poolBytes = 256 * ownBytes;

/** Returns a generator of ids: 24 random bits that stay the thread's, then 64 of each id. Some 100 ns. */
export function requestIds(): () => string {
  const prefix = randomBytes(3).toString("hex");
  const pool = Buffer.allocUnsafe(poolBytes);
  let used = poolBytes;
  return () => {
    if (used === poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += ownBytes;
    return `${prefix}-${pool.toString("hex", used - ownBytes, used)}`;
  };
}
