/**
 * The proof of work in ALTCHA's form (version 2 of its protocol): parameters that verdictd signs and a browser works on. Made and checked with
 * `node:crypto`: altcha-lib's own functions for it, on Web Crypto, take 200 to 400 us of this thread (measured; ours take 20 and 8), and a test
 * holds both to each other. The browser's side is altcha-lib's.
 */
import crypto, { createHmac, pbkdf2, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { LRUCache } from "lru-cache";

/** What is signed with the first puzzle of a challenge beside its own parameters; it comes back with the solution. */
export interface PuzzleData {
  /** The session that it was made for. */
  readonly session: string;
  readonly issued_at_ms: number;
  /** The rule that asked for it; 0 where that is not known. */
  readonly rule: number;
  /** When the session's challenge was issued that counts for the rule: this one or an earlier one. 0 where there is none. */
  readonly counted_at_ms: number;
}

/** What the first puzzle carries for all of its challenge, so that checking it takes three HMACs and not sixteen; hex. */
interface SetData {
  /** HMAC of the others, in their order: the JSON list of `{parameters, signature}`. */
  readonly others: string;
  /** HMAC of all derived keys, in their order. */
  readonly keys: string;
}

type FirstData = PuzzleData & SetData;

/** What ties a further puzzle to the first one of its challenge. */
interface FurtherData {
  /** 1 to 7. */
  readonly place: number;
  /** The first one's nonce. */
  readonly set: string;
}

/** Names and order as ALTCHA signs them: alphabetical. */
interface PuzzleParameters<Data = FirstData | FurtherData> {
  readonly algorithm: "PBKDF2/SHA-256";
  /** PBKDF2 iterations for each counter that is tried. */
  readonly cost: number;
  readonly data: Data;
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

/**
 * How much work a puzzle is: the counter that solves it lies evenly from 0 to `counterMax`, inclusive. Who knows this much knows nothing: whatever was
 * tried, trying on is never dearer than asking for another challenge.
 */
export interface PuzzleWork {
  readonly cost: number;
  readonly counterMax: number;
}

/** Puzzles of one challenge. The sum of so many varies little: by a fifth (standard deviation), while one alone would vary by three fifths. */
export const puzzlesPerChallenge = 8;

/** The two HMAC keys of a project's puzzles, as text: ALTCHA knows no other. */
export interface PuzzleKeys {
  readonly signature: string;
  readonly key: string;
}

const keyBytes = 32;
/** Two counters of a puzzle that begin alike are a matter of one in a million challenges. */
const prefixBytes = 4;
const derive = promisify(pbkdf2);

/** From a secret of the project, which the keys don't reveal. */
export function puzzleKeys(secret: string): PuzzleKeys {
  const key = (use: string): string => hmac(secret, `verdictd challenge ${use}`).toString("hex");
  return { signature: key("signature"), key: key("key") };
}

/**
 * The puzzles of a new challenge, in their order. Their answers are known from the start (ALTCHA's deterministic mode), so that checking them derives
 * no key. Deriving them here runs off this thread, one after another, so that a challenge takes one other thread at a time.
 */
export async function makePuzzles(
  keys: PuzzleKeys,
  work: PuzzleWork,
  { counted_at_ms, issued_at_ms, rule, session }: PuzzleData,
  expiresAt: number,
): Promise<Puzzle[]> {
  const answers: PuzzleAnswer[] = [];
  for (let place = 0; place < puzzlesPerChallenge; place++) answers.push(await newAnswer(work));
  const [first, ...further] = answers as [PuzzleAnswer, ...PuzzleAnswer[]];
  const others = further.map((answer, at) =>
    puzzleOf(keys, work.cost, answer, { place: at + 1, set: first.nonce }, expiresAt),
  );
  const derived = answers.map(({ key }) => key.toString("hex")).join("");
  // Names in the order in which ALTCHA signs them.
  const data: FirstData = {
    counted_at_ms,
    issued_at_ms,
    keys: hmacOfText(keys.key, derived),
    others: hmacOfText(keys.signature, JSON.stringify(others)),
    rule,
    session,
  };
  return [puzzleOf(keys, work.cost, first, data, expiresAt), ...others];
}

/** A puzzle before it is signed: what its browser gets to know, and the key that it is to find. */
interface PuzzleAnswer {
  readonly nonce: string;
  readonly salt: string;
  readonly key: Buffer;
}

async function newAnswer({ cost, counterMax }: PuzzleWork): Promise<PuzzleAnswer> {
  const random = randomBytes(32);
  const password = Buffer.alloc(20);
  random.copy(password, 0, 0, 16);
  password.writeUInt32BE(randomInt(counterMax + 1), 16);
  const key = await derive(password, random.subarray(16), cost, keyBytes, "sha256");
  return { nonce: random.toString("hex", 0, 16), salt: random.toString("hex", 16), key };
}

function puzzleOf(
  keys: PuzzleKeys,
  cost: number,
  { nonce, salt, key }: PuzzleAnswer,
  data: FirstData | FurtherData,
  expiresAt: number,
): Puzzle {
  const parameters: PuzzleParameters = {
    algorithm: "PBKDF2/SHA-256",
    cost,
    data,
    expiresAt,
    keyLength: keyBytes,
    keyPrefix: key.toString("hex", 0, prefixBytes),
    keySignature: hmac(keys.key, key).toString("hex"),
    nonce,
    salt,
  };
  return { parameters, signature: hmac(keys.signature, JSON.stringify(parameters)).toString("hex") };
}

/** A solution that holds: its puzzles were made together, with these keys, and nothing of them was changed. */
interface SolvedPuzzles {
  /** Of the first puzzle. */
  readonly parameters: PuzzleParameters<PuzzleData & SetData>;
}

/** Why a solution is refused: not of the form, not signed by these keys, not the puzzles of one challenge in their order, not solved, too late. */
type PuzzleFault = "malformed" | "forged" | "mixed" | "wrong" | "expired";

/**
 * Reads `text`, base64 of the JSON list of eight `{challenge, solution}`, and checks it in constant time where it matters. About 40 us, half of it for the JSON. Says nothing of
 * whether it was used before, or whose session asks.
 */
export function checkSolution(keys: PuzzleKeys, text: string, nowMs: number): SolvedPuzzles | PuzzleFault {
  const payloads = readPayloads(text);
  if (payloads === null) return "malformed";
  const solved: Payload[] = [];
  for (const each of payloads) {
    const payload = readPayload(each);
    if (payload === null) return "malformed";
    solved.push(payload);
  }
  const ours = signedBy(keys, solved);
  if (ours === null) return "forged";
  const [first, ...others] = ours;
  if (first === undefined || !isFirst(first.parameters)) return "mixed";
  const { parameters } = first;
  const { data, nonce, expiresAt } = parameters;
  // What is not of this challenge is signed by us all the same, or it is forged.
  const isMixed = others.some(({ parameters: { data: own } }, at) => {
    const { place, set } = objectOf(own);
    return place !== at + 1 || set !== nonce;
  });
  if (isMixed) return "mixed";
  if (!isSame(hmacOfText(keys.signature, JSON.stringify(others)), data.others)) return "forged";
  const derived = solved.map(({ derivedKey }) => derivedKey).join("");
  if (!isSame(hmacOfText(keys.key, derived), data.keys)) return "wrong";
  return expiresAt * 1000 < nowMs ? "expired" : { parameters };
}

function isFirst(parameters: PuzzleParameters): parameters is PuzzleParameters<FirstData> {
  // Builds before this one made challenges without the others' HMAC, which are refused for as long as they are valid.
  return "session" in parameters.data && "others" in parameters.data;
}

/** The puzzles as they were signed, if these keys have signed the first of them; null if not. */
function signedBy({ signature: key }: PuzzleKeys, solved: readonly Payload[]): Puzzle[] | null {
  const isOurs = ([first]: readonly Payload[]): boolean =>
    first !== undefined && isSame(hmacOfText(key, JSON.stringify(first.parameters)), first.signature);
  // Browsers send the parameters as they got them; in another order they are the same.
  const asSent = solved.map(({ parameters, signature }) => ({ parameters, signature }));
  if (isOurs(solved)) return asSent as unknown as Puzzle[];
  const inOrder = solved.map((each) => ({ ...each, parameters: sorted(each.parameters) }));
  if (!isOurs(inOrder)) return null;
  return inOrder.map(({ parameters, signature }) => ({ parameters, signature })) as unknown as Puzzle[];
}

function readPayloads(text: string): readonly unknown[] | null {
  try {
    const payloads: unknown = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
    return Array.isArray(payloads) && payloads.length === puzzlesPerChallenge ? payloads : null;
  } catch {
    return null;
  }
}

interface Payload {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly signature: string;
  readonly derivedKey: string;
}

function readPayload(payload: unknown): Payload | null {
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

/** Hexadecimal digests, compared in constant time. */
function isSame(digest: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest, "latin1"), Buffer.from(other, "latin1"));
}

const blockBytes = 64;

/** Node 20.12 and later hash short data at once, in a tenth of the time of an HMAC, which is made of two such hashes (RFC 2104). */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash;

/** The HMAC of a text in hexadecimal digits; `key` is one of `PuzzleKeys`: 64 of them, a block of SHA-256. */
function hmacOfText(key: string, text: string): string {
  if (hashAtOnce === undefined) return hmac(key, text).toString("hex");
  const { innerText, outer } = paddedKey(key);
  outer.write(hashAtOnce("sha256", innerText + text, "hex"), blockBytes, "hex");
  return hashAtOnce("sha256", outer, "hex");
}

interface PaddedKey {
  /** Its characters are below 128, so that a text behind them is hashed with them. */
  readonly innerText: string;
  /** With room for a digest. */
  readonly outer: Buffer;
}

/** Of the keys that were used last. */
const paddedKeys = new LRUCache<string, PaddedKey>({ max: 64 });

function paddedKey(key: string): PaddedKey {
  const known = paddedKeys.get(key);
  if (known !== undefined) return known;
  const padded = (pad: number): Buffer => {
    const bytes = Buffer.alloc(blockBytes + 32);
    for (let at = 0; at < blockBytes; at++) bytes[at] = key.charCodeAt(at) ^ pad;
    return bytes;
  };
  const made = { innerText: padded(0x36).toString("latin1", 0, blockBytes), outer: padded(0x5c) };
  paddedKeys.set(key, made);
  return made;
}
