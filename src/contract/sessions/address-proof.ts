/**
 * Remembers for a session which address proved it a verified bot, even if the address itself may not be stored (`--ip-storage`). Kept only for
 * crawlers, and for sessions that claim to be one.
 */
import { createHash } from "node:crypto";

/** Bytes of a proof. Finding a second address with the same proof takes 2^64 tries, more than anyone has addresses to try. */
export const addressProofBytes = 8;

/** Returns the start of the SHA-256 of an address in canonical text, in hex. About 1 µs. */
export function addressProof(ip: string): string {
  return createHash("sha256")
    .update(ip)
    .digest("hex")
    .slice(0, 2 * addressProofBytes);
}
