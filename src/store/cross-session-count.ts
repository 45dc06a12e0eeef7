/** The stored value of a cross-session count. It takes one byte while it is small, because most things are counted once an hour. */

/** One byte up to 255, four above; a count over 32 bits is stored as the largest 32-bit number. */
export function packCrossSessionCount(count: number): Buffer {
  if (count <= 0xff) return Buffer.of(count);
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(Math.min(count, 0xffff_ffff), 0);
  return bytes;
}

/** Returns the count, or null for invalid bytes. */
export function unpackCrossSessionCount(bytes: Buffer): number | null {
  if (bytes.length === 1) return bytes[0]!;
  return bytes.length === 4 ? bytes.readUInt32LE(0) : null;
}
