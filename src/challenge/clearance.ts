/** Whether a passed challenge still holds. Pure. */
import { createHash } from "node:crypto";
import type { ChallengeSettings, Clearance } from "../contract/challenge.js";
import type { Band } from "../contract/verdict.js";

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

/** Whether the session may pass by its clearance as far as its band and the time say; the user agent is another question. */
export function isStanding(clearance: Clearance, band: Band, settings: ChallengeSettings, nowMs: number): boolean {
  return settings.enabled && nowMs < clearanceEndMs(clearance, settings) && ranks[band] >= ranks[clearance.band];
}
