/** The verified-bot allowlist in the form of files, the export and the store. */
import type { VerifiedBotCategory } from "../verdicts/verdict.js";

/** By a range of addresses, or by the name that reverse DNS gives and forward DNS confirms. */
export const matchMethods = ["ip_cidr", "rdns_suffix"] as const;
/** How an address is proved to be the bot's. */
type MatchMethod = (typeof matchMethods)[number];

/** One row of the allowlist. `match_value` alone is not unique: an operator may use one range for two bots. */
export interface VerifiedBotEntry {
  /** Operator, such as `Google`. */
  readonly name: string;
  readonly category: VerifiedBotCategory;
  readonly match_method: MatchMethod;
  /** A CIDR range in canonical text, or a lower-case hostname suffix such as `.googlebot.com`. */
  readonly match_value: string;
}

/** The whole allowlist: the form of the shipped file and of `verified-bots import`. */
export interface VerifiedBotCatalogue {
  /** Free text naming the state of the list, usually its date. */
  readonly version: string;
  readonly entries: readonly VerifiedBotEntry[];
  /**
   * Operators whose addresses run scripts of anybody's: listed, and never verified. Absent: those that verdictd knows of; empty: none.
   */
  readonly script_runners?: readonly string[];
}

/** What a session is verified as. */
export interface VerifiedBot {
  readonly name: string;
  readonly category: VerifiedBotCategory;
}
