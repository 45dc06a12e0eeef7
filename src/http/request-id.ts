/** `X-Request-Id`: unique across threads and restarts, cheap to make, safe to print. Visitors see it as a reference, so it does not count. */
import { randomBytes } from "node:crypto";

/** Hexadecimal digits of an id's own, and ids whose digits are drawn at once. */
const ownDigits = 16;
const drawn = 256;

/** Returns a generator of ids: 24 random bits that stay the thread's, then 64 of each id. */
export function requestIds(): () => string {
  const prefix = `${randomBytes(3).toString("hex")}-`;
  let digits = "";
  let at = 0;
  return () => {
    if (at === digits.length) {
      digits = randomBytes((drawn * ownDigits) / 2).toString("hex");
      at = 0;
    }
    at += ownDigits;
    return prefix + digits.slice(at - ownDigits, at);
  };
}
