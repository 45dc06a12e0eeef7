/**
 * Which operator a user agent claims to be. A claim is only a claim: `verified-bots.ts` holds it against addresses and DNS.
 * Runs at each session's first contact, so all tokens are looked for in one pass over the text.
 */
import { readAsset } from "../../assets.js";
import type { VerifiedBotCategory } from "../../contract/verdicts/verdict.js";
import { createTokenFinder } from "../token-finder.js";
// Only for the compiler, which then copies the file beside the compiled module.
import type claimsFile from "./ua-claims.json";

/** A part of a user agent by which a client says whose bot it is. Case does not matter. */
interface ClaimToken {
  readonly operator: string;
  /** null where the bot fits none of the five categories. */
  readonly category: VerifiedBotCategory | null;
  readonly token: string;
  /** False where a client at an unlisted address may well be genuine (previews sent from people's devices, nothing published). */
  readonly isVerifiable: boolean;
}

/** What a user agent claims, with nothing said of whether it is true. */
export interface Claim {
  /** The operator of the first token found, verifiable ones first. */
  readonly operator: string;
  readonly category: VerifiedBotCategory | null;
  /** Every token found, in the order of the list. */
  readonly tokens: readonly ClaimToken[];
  /** False as soon as one token found is not verifiable: such a client is never called spoofed. */
  readonly isVerifiable: boolean;
}

/** The claim of a user agent, undefined when it claims nothing. About 0.3 µs for a browser's. */
export type ClaimMatcher = (userAgent: string) => Claim | undefined;

/** The tokens that come with verdictd (`ua-claims.json`), verifiable ones first. Reads the file. */
export function shippedClaimTokens(): ClaimToken[] {
  const file: typeof claimsFile = JSON.parse(readAsset("src/bots/verified/ua-claims.json").toString("utf8"));
  const tokenOf = (row: FileRow, isVerifiable: boolean): ClaimToken => ({
    operator: row.operator,
    category: row.category as VerifiedBotCategory | null,
    token: row.ua_token,
    isVerifiable,
  });
  return [
    ...file.claims.map((row) => tokenOf(row, true)),
    ...file.unverifiable_claims.map((row) => tokenOf(row, false)),
  ];
}

interface FileRow {
  readonly operator: string;
  readonly category: string | null;
  readonly ua_token: string;
}

/** The matcher of these tokens; verifiable ones are to be given first. Pure, and it keeps no user agent. */
export function createClaimMatcher(tokens: readonly ClaimToken[]): ClaimMatcher {
  const find = createTokenFinder(tokens.map((token) => token.token));
  return (userAgent) => {
    const found = find(userAgent);
    if (found.length === 0) return undefined;
    const claimed = found.map((index) => tokens[index]!);
    const first = claimed[0]!;
    return {
      operator: first.operator,
      category: first.category,
      tokens: claimed,
      isVerifiable: claimed.every((token) => token.isVerifiable),
    };
  };
}
