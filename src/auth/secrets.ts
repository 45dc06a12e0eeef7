/** Mints and hashes the three credentials. Secrets leave here once, to be shown to their owner; the store sees only SHA-256. */
import { createHash, randomBytes } from "node:crypto";

/** 192 bits and more, as the contract asks: 32 bytes are 256. */
const secretBytes = 32;

export const siteKeyPrefix = "pk_";
export const privateKeyPrefix = "sk_";
/** Account tokens need no prefix by the contract; with one, secret scanners find a leaked token. */
const accountTokenPrefix = "vat_";

function mint(prefix: string): string {
  return prefix + randomBytes(secretBytes).toString("base64url");
}

export const mintSiteKey = (): string => mint(siteKeyPrefix);
export const mintPrivateKey = (): string => mint(privateKeyPrefix);
export const mintAccountToken = (): string => mint(accountTokenPrefix);

/**
 * SHA-256 in hex. A look-up by this hash leaks no timing of the secret: what is compared is a hash that the caller can't steer.
 * A fast hash is right here: the secrets are random, not chosen by people.
 */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
