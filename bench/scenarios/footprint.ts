/**
 * The formulas of `src/docs/operations.md` (Sizing) as code, so that the fill-up holds them to what it measures: what verdictd takes of the
 * disk and of memory at most. Change both together.
 */
import { serveOptions } from "../../src/config/config.js";

const MIB = 1024 ** 2;

/** A session of up to 30 events at most: a third of a page of 4 KiB, since a fourth record takes the third along to the next page, and its part of the tree. */
const sessionDiskBytes = 1400;
/** A new session's idempotency key, and its place in the counts of addresses and of shapes: rows in pages that are 60 to 75 % full. */
const newSessionDiskBytes = 75 + 75;

/** Bytes of disk that a new session of 20 events adds at most. */
export const diskBytesOfNew = sessionDiskBytes + newSessionDiskBytes;

const processBytes = 64 * MIB;
const httpThreadBytes = 32 * MIB;
const scoringThreadBytes = 96 * MIB;

/** Bytes of private memory with the defaults of this machine, however many sessions are stored. */
export function privateBytesMax(): number {
  const fallback = (name: keyof typeof serveOptions): number => Number(serveOptions[name].fallback);
  const httpThreads = fallback("http-threads") * (httpThreadBytes + fallback("verdict-cache-mb") * MIB);
  return processBytes + httpThreads + fallback("scoring-threads") * scoringThreadBytes + fallback("queue-mb") * MIB;
}
