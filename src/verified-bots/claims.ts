/**
 * Which operator a user agent claims to be. A claim is only a claim: `verified-bots.ts` holds it against addresses and DNS.
 * Runs at each session's first contact, so all tokens are looked for in one pass over the text.
 */
import { readAsset } from "../assets.js";
import type { VerifiedBotCategory } from "../contract/verdict.js";
// Only for the compiler, which then copies the file beside the compiled module.
import type claimsFile from "./ua-claims.json";

/** A part of a user agent by which a client says whose bot it is. Case does not matter. */
export interface ClaimToken {
  readonly operator: string;
  /** null where the bot fits none of the five categories. */
  readonly category: VerifiedBotCategory | null;
  readonly token: string;
  /** False where a client at an unlisted address may well be genuine (previews sent from people's devices, nothing published). */
  readonly isVerifiable: boolean;
}

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
  const file: typeof claimsFile = JSON.parse(readAsset("src/verified-bots/ua-claims.json").toString("utf8"));
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

/**
 * Finds which of the tokens a text contains, ASCII case aside: their indexes in ascending order. Aho and Corasick, "Efficient
 * string matching" (1975), with a full transition table: one array read a character, whatever the number of tokens.
 */
export function createTokenFinder(tokens: readonly string[]): (text: string) => readonly number[] {
  const alphabet = alphabetOf(tokens);
  const width = alphabet.width;
  const states = 1 + tokens.reduce((sum, token) => sum + token.length, 0);
  const next = new Int32Array(states * width);
  const ends: number[][] = Array.from({ length: states }, () => []);
  let used = 1;
  for (const [index, token] of tokens.entries()) {
    let state = 0;
    for (let at = 0; at < token.length; at++) {
      const edge = state * width + alphabet.classOf[token.charCodeAt(at)]!;
      if (next[edge] === 0) next[edge] = used++;
      state = next[edge]!;
    }
    ends[state]!.push(index);
  }
  fillFallbacks(next, ends, width, used);
  const isEnd = Uint8Array.from(ends, (found) => (found.length > 0 ? 1 : 0));
  const none: readonly number[] = Object.freeze([]);

  return (text) => {
    let found: Set<number> | undefined;
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      state = code < 128 ? next[state * width + alphabet.classOf[code]!]! : 0;
      if (isEnd[state] === 1) {
        found ??= new Set();
        for (const index of ends[state]!) found.add(index);
      }
    }
    return found === undefined ? none : [...found].sort((a, b) => a - b);
  };
}

/** A class for each ASCII character that occurs in a token, the same for both cases; 0 for all others. */
function alphabetOf(tokens: readonly string[]): { classOf: Uint8Array; width: number } {
  const classOf = new Uint8Array(128);
  let width = 1;
  for (const token of tokens) {
    if (!/^[ -~]+$/.test(token)) throw new Error(`a token must be printable ASCII: ${JSON.stringify(token)}`);
    for (const letter of token.toLowerCase()) {
      const code = letter.charCodeAt(0);
      if (classOf[code] !== 0) continue;
      classOf[code] = width;
      classOf[letter.toUpperCase().charCodeAt(0)] = width;
      width++;
    }
  }
  return { classOf, width };
}

/** Turns the tree of tokens into an automaton: where the tree has no edge, go on from the longest suffix that it has. */
function fillFallbacks(next: Int32Array, ends: number[][], width: number, used: number): void {
  const fallback = new Int32Array(used);
  const order: number[] = [0];
  for (const state of order) {
    for (let letter = 0; letter < width; letter++) {
      const edge = state * width + letter;
      const child = next[edge]!;
      const detour = state === 0 ? 0 : next[fallback[state]! * width + letter]!;
      if (child === 0) next[edge] = detour;
      else {
        fallback[child] = detour;
        ends[child]!.push(...ends[detour]!);
        order.push(child);
      }
    }
  }
}
