/**
 * The proof of work in ALTCHA's form (version 2 of its protocol): parameters that verdictd signs and a browser works on. Made and checked with
 * `node:crypto`: altcha-lib's own functions for it, on Web Crypto, take 200 to 400 us of this thread (measured; ours take 20 and 8), and a test
 * holds both to each other. The browser's side is altcha-lib's.
 */
import { createHmac, pbkdf2, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** What is signed with a puzzle beside its own parameters; it comes back with the solution. */
export interface PuzzleData {
  /** The session that it was made for. */
  readonly session: string;
  readonly issued_at_ms: number;
  /** The rule that asked for it; 0 where that is not known. */
  readonly rule: number;
  /** When the session's challenge was issued that counts for the rule: this one or an earlier one. 0 where there is none. */
  readonly counted_at_ms: number;
}

/** Names and order as ALTCHA signs them: alphabetical. */
export interface PuzzleParameters {
  readonly algorithm: "PBKDF2/SHA-256";
  /** PBKDF2 iterations for each counter that is tried. */
  readonly cost: number;
  readonly data: PuzzleData;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
  readonly keyLength: number;
  readonly keyPrefix: string;
  readonly keySignature: string;
  readonly nonce: string;
  readonly salt: string;
}

/** What a browser is sent: it finds the counter whose derived key begins with `keyPrefix`. */
export interface Puzzle {
  readonly parameters: PuzzleParameters;
  /** HMAC-SHA-256 of the parameters' JSON, hex. */
  readonly signature: string;
}

/** How much work a puzzle is: the counter that solves it lies evenly between these two, both inclusive. */
export interface PuzzleWork {
  readonly cost: number;
  readonly counterMin: number;
  readonly counterMax: number;
}

/** The two HMAC keys of a project's puzzles, as text: ALTCHA knows no other. */
export interface PuzzleKeys {
  readonly signature: string;
  readonly key: string;
}

const keyBytes = 32;
const derive = promisify(pbkdf2);

/** From a secret of the project, which the keys don't reveal. */
export function puzzleKeys(secret: string): PuzzleKeys {
  const key = (use: string): string => hmac(secret, `verdictd challenge ${use}`).toString("hex");
  return { signature: key("signature"), key: key("key") };
}

/**
 * A new puzzle. Its answer is known from the start (ALTCHA's deterministic mode), so that the work varies little and checking it takes two
 * HMACs. Deriving the key runs off this thread.
 */
export async function makePuzzle(
  keys: PuzzleKeys,
  { cost, counterMin, counterMax }: PuzzleWork,
  data: PuzzleData,
  expiresAt: number,
): Promise<Puzzle> {
  const random = randomBytes(32);
  const password = Buffer.alloc(20);
  random.copy(password, 0, 0, 16);
  password.writeUInt32BE(randomInt(counterMin, counterMax + 1), 16);
  const key = await derive(password, random.subarray(16), cost, keyBytes, "sha256");
  const parameters: PuzzleParameters = {
    algorithm: "PBKDF2/SHA-256",
    cost,
    data: {
      counted_at_ms: data.counted_at_ms,
      issued_at_ms: data.issued_at_ms,
      rule: data.rule,
      session: data.session,
    },
    expiresAt,
    keyLength: keyBytes,
    keyPrefix: key.toString("hex", 0, keyBytes / 2),
    keySignature: hmac(keys.key, key).toString("hex"),
    nonce: random.toString("hex", 0, 16),
    salt: random.toString("hex", 16),
  };
  return { parameters, signature: hmac(keys.signature, JSON.stringify(parameters)).toString("hex") };
}

/** A solution that holds: its puzzle was made with these keys and nothing of it was changed. */
export interface SolvedPuzzle {
  readonly parameters: PuzzleParameters;
}

/** Why a solution is refused, in the order of the checks: not of the form, not signed by these keys, not solved, too late. */
export type PuzzleFault = "malformed" | "forged" | "wrong" | "expired";

/**
 * Reads `text`, base64 of JSON `{challenge, solution}`, and checks it in constant time where it matters. About 10 us. Says nothing of
 * whether it was used before, or whose session asks.
 */
export function checkSolution(keys: PuzzleKeys, text: string, nowMs: number): SolvedPuzzle | PuzzleFault {
  const payload = readPayload(text);
  if (payload === null) return "malformed";
  const { parameters, signature, derivedKey } = payload;
  if (!isSame(hmac(keys.signature, JSON.stringify(sorted(parameters))), signature)) return "forged";
  // Signed by us: of the form that `makePuzzle` gives it.
  const ours = parameters as unknown as PuzzleParameters;
  if (!isSame(hmac(keys.key, Buffer.from(derivedKey, "hex")), ours.keySignature)) return "wrong";
  return ours.expiresAt * 1000 < nowMs ? "expired" : { parameters: ours };
}

interface Payload {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly signature: string;
  readonly derivedKey: string;
}

function readPayload(text: string): Payload | null {
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
  } catch {
    return null;
  }
  const { challenge, solution } = objectOf(payload);
  const { parameters, signature } = objectOf(challenge);
  const { derivedKey } = objectOf(solution);
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters)) return null;
  if (typeof signature !== "string" || !/^[0-9a-f]{64}$/.test(signature)) return null;
  if (typeof derivedKey !== "string" || !/^[0-9a-f]{64}$/.test(derivedKey)) return null;
  return { parameters: parameters as Payload["parameters"], signature, derivedKey };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Keys in the order in which they are signed, two levels deep: what goes deeper was not signed by us. */
function sorted(value: Readonly<Record<string, unknown>>, depth = 2): Record<string, unknown> {
  const entries = Object.keys(value)
    .sort()
    .map((key) => {
      const each = value[key];
      const isNested = typeof each === "object" && each !== null && !Array.isArray(each) && depth > 1;
      return [key, isNested ? sorted(each as Record<string, unknown>, depth - 1) : each];
    });
  return Object.fromEntries(entries);
}

function hmac(key: string, data: string | Buffer): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

function isSame(digest: Buffer, hex: string): boolean {
  return timingSafeEqual(digest, Buffer.from(hex, "hex"));
}
