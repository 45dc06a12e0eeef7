/**
 * The packed record of a session: the scored state first, so that a verdict read touches nothing else, then the request ids
 * seen recently, then the features that the engines own. Both hot paths use it; its layout is written down here only.
 *
 * | at      | what                                                                   |
 * |---------|------------------------------------------------------------------------|
 * | 0       | u8 layout version: 2 where the user agent is packed, else 1            |
 * | 1       | u8 flags: 1 scored, 2 padded, 4 cleared, 8 has an address proof, 16 has been challenged, 32 has a contact key, 64 has marks of agents |
 * | 2, 3, 4 | u8 score of heuristics, JS detection, behavioural; 0: abstained        |
 * | 5       | u8 combined score; 0: not computed                                     |
 * | 6       | u8 verified-bot category, 1 + index; 0: none                           |
 * | 7       | u8 number of detections n                                              |
 * | 8       | f64 first seen, ms                                                     |
 * | 16      | f64 last seen, ms                                                      |
 * | 24      | f64 logged in at, ms; 0: never                                         |
 * | 32      | u32 events recorded                                                    |
 * | 36      | u16 bytes of path, host, user agent; u8 of address and bot name        |
 * | 44      | u16 number of request ids r                                            |
 * | 46      | cleared: f64 passed at, ms; u8 band; 8 bytes of the user agent's hash  |
 * | …       | challenged: f64 refused at, ms (0: never); u8 number of networks m; m × u32 networks of the clearance |
 * | …       | n × u32 detection ids, then the five texts; `user-agent-pieces.ts` packs the user agent |
 * | proof   | 8 bytes of `contract/sessions/address-proof.ts`                                 |
 * | marks   | u8 number of bytes, then as many of text                               |
 * | …       | r × 8 bytes of request-id hashes (as `seen-ids.ts` holds them), then the features |
 * | padded  | zeros up to the next of `paddedSizes`; the last u16 is how many bytes, itself among them |
 *
 * The contact key, the 13 bytes of `idempotencyKey` of the row that leads to the session, is the end of the padding, before its length: who does not
 * know it takes it for zeros, as builds before schema 7 on a cluster do.
 */
import { addressProofBytes } from "../contract/sessions/address-proof.js";
import type { ScoredState } from "../contract/sessions/session.js";
import type { Clearance } from "../contract/verdicts/challenge.js";
import { bands, verifiedBotCategories } from "../contract/verdicts/verdict.js";
import { idempotencyKeyBytes } from "./keys.js";
import { packUserAgent, unpackUserAgent } from "./user-agent-pieces.js";

/** All texts are as they came; as builds before schema 10 write all records. */
const plainVersion = 1;
const packedAgentVersion = 2;
const headBytes = 46;
const scoredFlag = 1;
const paddedFlag = 2;
const clearedFlag = 4;
const clearanceBytes = 17;
const proofFlag = 8;
const challengedFlag = 16;
/** Before its networks. */
const challengedBytes = 9;
const networksMax = 32;
const contactFlag = 32;
/** The key and the length of the padding. */
const contactBytes = idempotencyKeyBytes + 2;
const agentMarksFlag = 64;

/**
 * Records take one of these sizes: five, four, three or two fill a page of 4 KiB (24 bytes of header; 10 of node and 25 of key each). A
 * record that grows in small steps would split its page again and again and leave it half empty; one that keeps its size is written in place.
 * When a sixth is appended to five of the smallest, LMDB takes the fifth along to the next page: four stay, with room for the next size.
 */
const paddedSizes = [778, 982, 1321, 2000] as const;

/** A record unpacked; scoring reads all of it, verdicts only `state`. */
export interface SessionRecord {
  state: ScoredState;
  /** Hashes of the request ids seen since the last spill, 8 bytes each. */
  seenIds: Buffer;
  /** Packed by the engines; opaque here. */
  features: Buffer;
  /** Key of the row (`idempotencyKey`) that leads to the session, or `noIdempotencyKey`; absent where its first contact was before schema 7. */
  contactKey?: Buffer | undefined;
}

const textBytesMax = 2048;
const shortTextBytesMax = 255;

/** Bytes that `encodeSession` writes at most for a record with so many seen ids and features. */
function bytesMaxOf({ seenIds, features }: SessionRecord): number {
  return (
    headBytes +
    clearanceBytes +
    challengedBytes +
    4 * networksMax +
    4 * 255 +
    3 * textBytesMax +
    3 * shortTextBytesMax +
    1 +
    addressProofBytes +
    contactBytes +
    seenIds.length +
    features.length
  );
}

/** Writes `text` as UTF-8 of at most `bytesMax` bytes, never cutting a character in two; returns how many bytes. */
function writeText(target: Buffer, at: number, text: string, bytesMax: number): number {
  return text === "" ? 0 : target.write(text, at, bytesMax, "utf8");
}

/** Where records are written before LMDB copies them; grows to the largest. */
let scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** The record's bytes: a view of memory that the next call writes over, so store or copy them at once. */
export function encodeSession(record: SessionRecord): Buffer {
  const { state, seenIds, features } = record;
  if (bytesMaxOf(record) > scratch.length) scratch = Buffer.allocUnsafeSlow(2 * bytesMaxOf(record));
  const bytes = scratch;
  const idCount = Math.min(state.detectionIds.length, 255);
  bytes[1] = state.scored ? scoredFlag : 0;
  bytes[2] = state.engineScores.heuristics ?? 0;
  bytes[3] = state.engineScores.js_detection ?? 0;
  bytes[4] = state.engineScores.behavioral ?? 0;
  bytes[5] = state.score;
  bytes[6] = state.verifiedBot === null ? 0 : 1 + verifiedBotCategories.indexOf(state.verifiedBot.category);
  bytes[7] = idCount;
  bytes.writeDoubleLE(state.firstSeenMs, 8);
  bytes.writeDoubleLE(state.lastSeenMs, 16);
  bytes.writeDoubleLE(state.loggedInAtMs, 24);
  bytes.writeUInt32LE(state.eventCount >>> 0, 32);
  bytes.writeUInt16LE(seenIds.length >>> 3, 44);
  let at = headBytes;
  if (state.clearance !== null) {
    bytes[1]! |= clearedFlag;
    at = writeClearance(bytes, state.clearance);
  }
  const { clearance, challengeRefusedAtMs = 0 } = state;
  const networks = clearance === null ? [] : clearance.networks.slice(0, networksMax);
  if (networks.length > 0 || challengeRefusedAtMs > 0) {
    bytes[1]! |= challengedFlag;
    at = bytes.writeDoubleLE(challengeRefusedAtMs, at);
    at = bytes.writeUInt8(networks.length, at);
    for (const network of networks) at = bytes.writeUInt32LE(network, at);
  }
  for (let index = 0; index < idCount; index++) at = bytes.writeUInt32LE(state.detectionIds[index]!, at);
  const { path, host, ip } = state.last;
  const userAgent = packUserAgent(state.last.userAgent);
  bytes[0] = userAgent === state.last.userAgent ? plainVersion : packedAgentVersion;
  const longText = (text: string, lengthAt: number): void => {
    const length = writeText(bytes, at, text, textBytesMax);
    bytes.writeUInt16LE(length, lengthAt);
    at += length;
  };
  const shortText = (text: string, lengthAt: number): void => {
    const length = writeText(bytes, at, text, shortTextBytesMax);
    bytes[lengthAt] = length;
    at += length;
  };
  longText(path, 36);
  longText(host, 38);
  longText(userAgent, 40);
  shortText(ip, 42);
  shortText(state.verifiedBot?.name ?? "", 43);
  if (state.addressProof !== undefined) {
    bytes[1]! |= proofFlag;
    at += bytes.write(state.addressProof, at, addressProofBytes, "hex");
  }
  if (state.agentMarks !== undefined) {
    bytes[1]! |= agentMarksFlag;
    const length = writeText(bytes, at + 1, state.agentMarks, shortTextBytesMax);
    bytes[at] = length;
    at += 1 + length;
  }
  bytes.set(seenIds, at);
  bytes.set(features, at + seenIds.length);
  const end = at + seenIds.length + features.length;
  const { contactKey } = record;
  const least = contactKey === undefined ? end : end + contactBytes;
  const size = paddedSizes.find((each) => least <= each) ?? least;
  if (size - end < 2) return bytes.subarray(0, end);
  bytes[1]! |= paddedFlag;
  bytes.fill(0, end, size);
  bytes.writeUInt16LE(size - end, size - 2);
  if (contactKey !== undefined) {
    bytes[1]! |= contactFlag;
    bytes.set(contactKey, size - contactBytes);
  }
  return bytes.subarray(0, size);
}

function hasKnownLayout(bytes: Buffer): boolean {
  return bytes.length >= headBytes && (bytes[0] === plainVersion || bytes[0] === packedAgentVersion);
}

/** How many of its request ids a record no longer has itself; 0 where it is not of this layout. */
export function spilledIdsOf(bytes: Buffer): number {
  if (!hasKnownLayout(bytes)) return 0;
  return Math.max(0, bytes.readUInt32LE(32) - bytes.readUInt16LE(44));
}

/** The scored state alone, read from the head of a record. Null when the record is not of this layout or cut short. */
export function decodeScoredState(bytes: Buffer): ScoredState | null {
  if (!hasKnownLayout(bytes)) return null;
  const idCount = bytes[7]!;
  if (seenIdsOffset(bytes) > bytes.length) return null;
  let at = textsOffset(bytes) - 4 * idCount;
  const detectionIds: number[] = [];
  for (let index = 0; index < idCount; index++, at += 4) detectionIds.push(bytes.readUInt32LE(at));
  const marksAt = agentMarksOffset(bytes);
  const proofAt = marksAt - proofBytesOf(bytes);
  const text = textsOf(bytes, at, proofAt);
  const path = text(bytes.readUInt16LE(36));
  const host = text(bytes.readUInt16LE(38));
  const agentText = text(bytes.readUInt16LE(40));
  const userAgent = bytes[0] === packedAgentVersion ? unpackUserAgent(agentText) : agentText;
  const ip = text(bytes[42]!);
  const botName = text(bytes[43]!);
  // Most have none, and an index of -1 would be looked up as a name.
  const category = bytes[6] === 0 ? undefined : verifiedBotCategories[bytes[6]! - 1];
  const refusedAtMs = challengeRefusedAtMs(bytes);
  const state: ScoredState = {
    scored: (bytes[1]! & scoredFlag) !== 0,
    engineScores: {
      heuristics: bytes[2]! || null,
      js_detection: bytes[3]! || null,
      behavioral: bytes[4]! || null,
    },
    score: bytes[5]!,
    detectionIds,
    verifiedBot: category === undefined ? null : { name: botName, category },
    firstSeenMs: bytes.readDoubleLE(8),
    lastSeenMs: bytes.readDoubleLE(16),
    loggedInAtMs: bytes.readDoubleLE(24),
    clearance: readClearance(bytes),
    eventCount: bytes.readUInt32LE(32),
    last: { path, host, userAgent, ip },
  };
  // Few sessions have these; a spread of what may not be there costs each read.
  if (hasProof(bytes)) state.addressProof = bytes.toString("hex", proofAt, proofAt + addressProofBytes);
  if (hasAgentMarks(bytes)) state.agentMarks = bytes.toString("utf8", marksAt + 1, marksAt + 1 + bytes[marksAt]!);
  if (refusedAtMs > 0) state.challengeRefusedAtMs = refusedAtMs;
  return state;
}

/**
 * Takes the texts that lie one behind the other between `from` and `end`, each by its bytes. All are decoded at once: text that comes out
 * as long as its bytes is ASCII, or stands for it byte by byte, and may be cut anywhere.
 */
function textsOf(bytes: Buffer, from: number, end: number): (length: number) => string {
  const all = bytes.toString("utf8", from, end);
  const isCut = all.length === end - from;
  let at = from;
  return (length) => {
    const start = at;
    at += length;
    return isCut ? all.slice(start - from, at - from) : bytes.toString("utf8", start, at);
  };
}

/**
 * The whole record; `seenIds` and `features` are views of `bytes`. Null when it is not of this layout or cut short. `bytes` may be LMDB's
 * reused read buffer, which is longer than its `length` says: every slice of it names its end.
 */
export function decodeSession(bytes: Buffer): SessionRecord | null {
  const state = decodeScoredState(bytes);
  if (state === null) return null;
  const seenIdsAt = seenIdsOffset(bytes);
  const featuresAt = seenIdsAt + 8 * bytes.readUInt16LE(44);
  const end = bytes.length - ((bytes[1]! & paddedFlag) === 0 ? 0 : bytes.readUInt16LE(bytes.length - 2));
  if (featuresAt > end) return null;
  const seenIds = bytes.subarray(seenIdsAt, featuresAt);
  const features = bytes.subarray(featuresAt, end);
  const contactKey = contactKeyOf(bytes);
  return contactKey === null ? { state, seenIds, features } : { state, seenIds, features, contactKey };
}

/** Key of the `idempotency` row that leads to the session, or `noIdempotencyKey`; a copy. Null where the record does not say. */
export function contactKeyOf(bytes: Buffer): Buffer | null {
  const flags = paddedFlag | contactFlag;
  if (bytes.length < headBytes || (bytes[1]! & flags) !== flags) return null;
  if (bytes.readUInt16LE(bytes.length - 2) < contactBytes) return null;
  return Buffer.from(bytes.subarray(bytes.length - contactBytes, bytes.length - 2));
}

function hasProof(bytes: Buffer): boolean {
  return (bytes[1]! & proofFlag) !== 0;
}

function proofBytesOf(bytes: Buffer): number {
  return hasProof(bytes) ? addressProofBytes : 0;
}

function hasAgentMarks(bytes: Buffer): boolean {
  return (bytes[1]! & agentMarksFlag) !== 0;
}

/** Where the request ids begin: behind the detection ids, the texts, the proof and the marks. */
function seenIdsOffset(bytes: Buffer): number {
  const at = agentMarksOffset(bytes);
  return hasAgentMarks(bytes) ? at + 1 + (bytes[at] ?? 0) : at;
}

/** Where the marks begin, if there are any: behind the detection ids, the texts and the proof. */
function agentMarksOffset(bytes: Buffer): number {
  const texts = bytes.readUInt16LE(36) + bytes.readUInt16LE(38) + bytes.readUInt16LE(40) + bytes[42]! + bytes[43]!;
  return textsOffset(bytes) + texts + proofBytesOf(bytes);
}

/** Where the texts begin: behind the detection ids. */
function textsOffset(bytes: Buffer): number {
  const challengedAt = challengedOffset(bytes);
  const isChallenged = (bytes[1]! & challengedFlag) !== 0;
  const ownBytes = isChallenged ? challengedBytes + 4 * (bytes[challengedAt + challengedBytes - 1] ?? 0) : 0;
  return challengedAt + ownBytes + 4 * bytes[7]!;
}

/** Where refusal and networks begin, or would begin. */
function challengedOffset(bytes: Buffer): number {
  return headBytes + ((bytes[1]! & clearedFlag) === 0 ? 0 : clearanceBytes);
}

function readNetworks(bytes: Buffer): number[] {
  if ((bytes[1]! & challengedFlag) === 0) return [];
  const at = challengedOffset(bytes) + challengedBytes;
  return Array.from({ length: bytes[at - 1]! }, (_, index) => bytes.readUInt32LE(at + 4 * index));
}

function writeClearance(bytes: Buffer, { atMs, band, userAgentHash }: Clearance): number {
  bytes.writeDoubleLE(atMs, headBytes);
  bytes[headBytes + 8] = bands.indexOf(band);
  bytes.write(userAgentHash, headBytes + 9, 8, "latin1");
  return headBytes + clearanceBytes;
}

function readClearance(bytes: Buffer): Clearance | null {
  if ((bytes[1]! & clearedFlag) === 0) return null;
  return {
    atMs: bytes.readDoubleLE(headBytes),
    band: bands[bytes[headBytes + 8]!] ?? "verified",
    userAgentHash: bytes.toString("latin1", headBytes + 9, headBytes + clearanceBytes),
    networks: readNetworks(bytes),
  };
}

/** Whether the record holds a clearance. Reads one byte. */
export function hasClearance(bytes: Buffer): boolean {
  return bytes.length > headBytes && (bytes[1]! & clearedFlag) !== 0;
}

/** When the session was first seen, ms; null when the record is not of this layout. Reads eight bytes. */
export function firstSeenMs(bytes: Buffer): number | null {
  return hasKnownLayout(bytes) ? bytes.readDoubleLE(8) : null;
}

/** When the session was last seen, ms; null when the record is not of this layout. Reads eight bytes. */
export function lastSeenMs(bytes: Buffer): number | null {
  return hasKnownLayout(bytes) ? bytes.readDoubleLE(16) : null;
}

/** When the session's visitor was last asserted to be logged in, ms; 0: never. Reads eight bytes. */
export function loggedInAtMs(bytes: Buffer): number {
  return bytes.length < headBytes ? 0 : bytes.readDoubleLE(24);
}

/** A copy of the record with the assertion set. */
export function withLoggedInAt(bytes: Buffer, atMs: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeDoubleLE(atMs, 24);
  return copy;
}

/** When a pass was last refused to the session, ms; 0: never. Reads a few bytes of a record that is whole. */
function challengeRefusedAtMs(bytes: Buffer): number {
  return (bytes[1]! & challengedFlag) === 0 ? 0 : bytes.readDoubleLE(challengedOffset(bytes));
}

/** The record with the clearance set or removed, its own bytes; null when it can't be decoded. */
export function withClearance(bytes: Buffer, clearance: Clearance | null): Buffer | null {
  const record = decodeSession(bytes);
  if (record === null) return null;
  record.state.clearance = clearance;
  return Buffer.from(encodeSession(record));
}

/** The record of a session that is refused a pass: without a clearance; null when it can't be decoded. */
export function withRefusal(bytes: Buffer, atMs: number): Buffer | null {
  const record = decodeSession(bytes);
  if (record === null) return null;
  record.state.clearance = null;
  record.state.challengeRefusedAtMs = atMs;
  return Buffer.from(encodeSession(record));
}
