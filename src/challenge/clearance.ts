/** Whether a passed challenge still holds, and for whom. Pure. */
import { createHash } from "node:crypto";
import { type ChallengeSettings, type Clearance, defaultClearanceNetworks } from "../contract/verdicts/challenge.js";
import type { Band } from "../contract/verdicts/verdict.js";
import { parseAddressWords } from "../net/parsed-address.js";

/** Worst first. A session that is not scored yet, or a verified bot, is no worse than a person. */
const ranks: Readonly<Record<Band, number>> = {
  definite: 0,
  confident_automated: 1,
  likely_automated: 2,
  likely_human: 3,
  not_computed: 3,
  verified: 3,
};

/** Of a user agent as far as verdicts know it; 8 bytes, as text of one character each. */
export function userAgentHash(userAgent: string): string {
  return createHash("sha256").update(userAgent).digest().toString("latin1", 0, 8);
}

/** When a clearance ends by time alone, ms. */
export function clearanceEndMs({ atMs }: Clearance, { clearanceMinutes }: ChallengeSettings): number {
  return atMs + clearanceMinutes * 60_000;
}

/** Whether the session may pass by its clearance as far as its band and the time say; user agent and network are other questions. */
export function isStanding(clearance: Clearance, band: Band, settings: ChallengeSettings, nowMs: number): boolean {
  return settings.enabled && nowMs < clearanceEndMs(clearance, settings) && ranks[band] >= ranks[clearance.band];
}

/** Whether a session of this band is refused a pass. */
export function isRefusedBand(band: Band): boolean {
  return ranks[band] < ranks.likely_automated;
}

/** The band that a pass is stored with: the worst of these, but never worse than `likely_automated`. */
export function bandAtPass(bands: readonly Band[]): Band {
  const worst = bands.reduce((one, other) => (ranks[other] < ranks[one] ? other : one), bands[0] ?? "not_computed");
  return isRefusedBand(worst) ? "likely_automated" : worst;
}

/**
 * The network of an address as a clearance keeps it: a hash of 31 bits of the first half of an IPv4 address or of the first two groups of an IPv6
 * address, salted with the user agent's hash, and the family as the lowest bit. Null for what is no address.
 */
export function networkMark(ip: string, salt: string): number | null {
  const address = parseAddressWords(ip);
  if (address === null) return null;
  const isV4 = address.v4 >= 0;
  const network = isV4 ? address.v4 >>> 16 : address.v6[0]!;
  const hash = createHash("sha256")
    .update(`${salt} ${isV4 ? 4 : 6} ${network}`, "latin1")
    .digest()
    .readUInt32LE(0);
  return ((hash & ~1) | (isV4 ? 0 : 1)) >>> 0;
}

/** What a use from this network does to a clearance: nothing, adds a network, or ends it. */
export function networkUse(clearance: Clearance, mark: number, settings: ChallengeSettings): "known" | "new" | "over" {
  const { networks } = clearance;
  if (networks.includes(mark)) return "known";
  const ofFamily = networks.filter((each) => (each & 1) === (mark & 1)).length;
  return ofFamily < (settings.clearanceNetworks ?? defaultClearanceNetworks) ? "new" : "over";
}
