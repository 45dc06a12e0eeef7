/** The value of a cross-session count, in one byte as long as that will do. Most things that an hour counts are seen once. */

/** One byte up to 255, four beyond; what is over 32 bits counts as their greatest number. */
export function packCrossSessionCount(count: number): Buffer {
  if (count <= 0xff) return Buffer.of(count);
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(Math.min(count, 0xffff_ffff), 0);
  return bytes;
}

/** The count, or null for bytes that are none. */
export function unpackCrossSessionCount(bytes: Buffer): number | null {
  if (bytes.length === 1) return bytes[0]!;
  return bytes.length === 4 ? bytes.readUInt32LE(0) : null;
}
