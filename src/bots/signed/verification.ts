/**
 * Verifies signatures off the HTTP thread: `crypto.verify` with a callback runs in the process's pool of threads and costs the calling
 * thread 5 to 18 us where a verification takes 150 to 250 (measured). Results are remembered.
 */
import { constants, createHash, verify } from "node:crypto";
import { LRUCache } from "lru-cache";
import { limits } from "../../limits.js";
import type { AgentKey } from "./jwks.js";

/** Checks signatures and remembers what came of it, good or bad. */
interface Verifier {
  /** Whether the bytes are the key's signature over the base: at once where it is remembered, null when too many are waited for. */
  check(key: AgentKey, base: string, signature: Uint8Array): boolean | null | Promise<boolean>;
  /** Results remembered. */
  readonly size: number;
}

/** A verifier that remembers `limits.signatureResultsMax` results, the least recently asked for going first. */
export function createVerifier(): Verifier {
  const results = new LRUCache<string, boolean | Promise<boolean>>({ max: limits.signatureResultsMax });
  let active = 0;

  async function ask(id: string, key: AgentKey, data: Buffer, signature: Uint8Array): Promise<boolean> {
    active++;
    try {
      const isValid = await verifyOnce(key, data, signature);
      results.set(id, isValid);
      return isValid;
    } finally {
      active--;
    }
  }

  return {
    check(key, base, signature) {
      const data = Buffer.from(base, "utf8");
      const id = createHash("sha256").update(key.thumbprint).update(signature).update(data).digest("base64");
      const known = results.get(id);
      if (known !== undefined) return known;
      if (active >= limits.signatureChecksMax) return null;
      const asked = ask(id, key, data, signature);
      results.set(id, asked);
      return asked;
    },
    get size() {
      return results.size;
    },
  };
}

/** Never rejects: what the library can't even read is no signature. */
function verifyOnce({ algorithm, key }: AgentKey, data: Buffer, signature: Uint8Array): Promise<boolean> {
  return new Promise((done) => {
    const onResult = (error: Error | null, isValid: boolean): void => done(error === null && isValid);
    try {
      if (algorithm === "ed25519") verify(null, data, key, signature, onResult);
      else if (algorithm === "rsa-pss-sha512") {
        const padding = constants.RSA_PKCS1_PSS_PADDING;
        verify("sha512", data, { key, padding, saltLength: 64 }, signature, onResult);
      } else verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, signature, onResult);
    } catch {
      done(false);
    }
  });
}
