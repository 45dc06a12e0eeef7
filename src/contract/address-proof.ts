/**
 * How a session keeps in mind which address proved it a verified bot, when the address itself may not be stored (`--ip-storage`).
 * Kept of crawlers, and of sessions that claim to be one; never of anybody else.
 */
import { createHash } from "node:crypto";

/** Bytes of a proof. A second address with the same one takes 2^64 tries, more than anybody has addresses to try. */
export const addressProofBytes = 8;

/** The start of the SHA-256 of an address in canonical text, in hex. About 1 µs. */
export function addressProof(ip: string): string {
  return createHash("sha256")
    .update(ip)
    .digest("hex")
    .slice(0, 2 * addressProofBytes);
}
