/** Mints and hashes the three credentials. Secrets leave here once, to be shown to their owner; the store sees only SHA-256. */
import { createHash, randomBytes } from "node:crypto";

/** 192 bits and more, as the contract asks: 32 bytes are 256. */
const secretBytes = 32;

/** What a public key begins with: it stands in pages, where anybody may read it. */
export const siteKeyPrefix = "pk_";
/** What a private key begins with, so that it is known when it turns up where it must not. */
export const privateKeyPrefix = "sk_";
/** Account tokens need no prefix by the contract; with one, secret scanners find a leaked token. */
const accountTokenPrefix = "vat_";

function mint(prefix: string): string {
  return prefix + randomBytes(secretBytes).toString("base64url");
}

/** A new key of 46 characters, its random part in base64url. */
export const mintSiteKey = (): string => mint(siteKeyPrefix);
/** A new key of 46 characters; like an account token it is shown once and stored as its hash. */
export const mintPrivateKey = (): string => mint(privateKeyPrefix);
/** A new token of 47 characters. */
export const mintAccountToken = (): string => mint(accountTokenPrefix);

/**
 * SHA-256 in hex. A look-up by this hash leaks no timing of the secret: what is compared is a hash that the caller can't steer.
 * A fast hash is right here: the secrets are random, not chosen by people.
 */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
