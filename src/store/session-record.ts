/**
 * The packed record of a session: the verdict part first, so that a verdict read touches nothing else, then the request ids
 * seen lately, then the features that the engines own. Both hot paths use it; its layout is written down here only.
 *
 * | at      | what                                                                   |
 * |---------|------------------------------------------------------------------------|
 * | 0       | u8 layout version                                                      |
 * | 1       | u8 flags: 1 scored                                                     |
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
 * | 46      | n × u32 detection ids, then the five texts                             |
 * | …       | r × 8 bytes of request-id hashes, then the features                    |
 */
import type { VerdictPart } from "../contract/session.js";
import { verifiedBotCategories } from "../contract/verdict.js";

const layoutVersion = 1;
const headBytes = 46;
const scoredFlag = 1;

export interface SessionRecord {
  verdict: VerdictPart;
  /** Hashes of the request ids seen since the last spill, 8 bytes each. */
  repeats: Buffer;
  /** Packed by the engines; opaque here. */
  features: Buffer;
}

/** `text` as UTF-8 of at most `bytesMax` bytes, never cutting a character in two. */
function boundedUtf8(text: string, bytesMax: number): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= bytesMax) return bytes;
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

const textBytesMax = 2048;

export function encodeSession(record: SessionRecord): Buffer {
  const { verdict } = record;
  const path = boundedUtf8(verdict.last.path, textBytesMax);
  const host = boundedUtf8(verdict.last.host, textBytesMax);
  const userAgent = boundedUtf8(verdict.last.userAgent, textBytesMax);
  const ip = boundedUtf8(verdict.last.ip, 255);
  const botName = boundedUtf8(verdict.verifiedBot?.name ?? "", 255);
  const ids = verdict.detectionIds.slice(0, 255);
  const bytes = Buffer.allocUnsafe(
    headBytes +
      4 * ids.length +
      path.length +
      host.length +
      userAgent.length +
      ip.length +
      botName.length +
      record.repeats.length +
      record.features.length,
  );
  bytes[0] = layoutVersion;
  bytes[1] = verdict.scored ? scoredFlag : 0;
  bytes[2] = verdict.engineScores.heuristics ?? 0;
  bytes[3] = verdict.engineScores.js_detection ?? 0;
  bytes[4] = verdict.engineScores.behavioral ?? 0;
  bytes[5] = verdict.score;
  bytes[6] = verdict.verifiedBot === null ? 0 : 1 + verifiedBotCategories.indexOf(verdict.verifiedBot.category);
  bytes[7] = ids.length;
  bytes.writeDoubleLE(verdict.firstSeenMs, 8);
  bytes.writeDoubleLE(verdict.lastSeenMs, 16);
  bytes.writeDoubleLE(verdict.loggedInAtMs, 24);
  bytes.writeUInt32LE(verdict.eventCount >>> 0, 32);
  bytes.writeUInt16LE(path.length, 36);
  bytes.writeUInt16LE(host.length, 38);
  bytes.writeUInt16LE(userAgent.length, 40);
  bytes[42] = ip.length;
  bytes[43] = botName.length;
  bytes.writeUInt16LE(record.repeats.length >>> 3, 44);
  let at = headBytes;
  for (const id of ids) at = bytes.writeUInt32LE(id, at);
  for (const part of [path, host, userAgent, ip, botName, record.repeats, record.features]) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The verdict part alone, read from the head of a record. Null when the record is not of this layout. */
export function decodeVerdictPart(bytes: Buffer): VerdictPart | null {
  if (bytes.length < headBytes || bytes[0] !== layoutVersion) return null;
  const idCount = bytes[7]!;
  let at = headBytes;
  const detectionIds: number[] = [];
  for (let index = 0; index < idCount; index++, at += 4) detectionIds.push(bytes.readUInt32LE(at));
  const text = (length: number): string => {
    const value = bytes.toString("utf8", at, at + length);
    at += length;
    return value;
  };
  const path = text(bytes.readUInt16LE(36));
  const host = text(bytes.readUInt16LE(38));
  const userAgent = text(bytes.readUInt16LE(40));
  const ip = text(bytes[42]!);
  const botName = text(bytes[43]!);
  const category = verifiedBotCategories[bytes[6]! - 1];
  return {
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
    eventCount: bytes.readUInt32LE(32),
    last: { path, host, userAgent, ip },
  };
}

/**
 * The whole record; `repeats` and `features` are copies. Null when it is not of this layout or cut short. `bytes` may be LMDB's
 * reused read buffer, which is longer than its `length` says: every slice of it names its end.
 */
export function decodeSession(bytes: Buffer): SessionRecord | null {
  const verdict = decodeVerdictPart(bytes);
  if (verdict === null) return null;
  const repeatsAt =
    headBytes +
    4 * bytes[7]! +
    bytes.readUInt16LE(36) +
    bytes.readUInt16LE(38) +
    bytes.readUInt16LE(40) +
    bytes[42]! +
    bytes[43]!;
  const featuresAt = repeatsAt + 8 * bytes.readUInt16LE(44);
  if (featuresAt > bytes.length) return null;
  return {
    verdict,
    repeats: Buffer.from(bytes.subarray(repeatsAt, featuresAt)),
    features: Buffer.from(bytes.subarray(featuresAt, bytes.length)),
  };
}

/** When the session was first seen, ms; null when the record is not of this layout. Reads eight bytes. */
export function firstSeenMs(bytes: Buffer): number | null {
  return bytes.length < headBytes || bytes[0] !== layoutVersion ? null : bytes.readDoubleLE(8);
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
