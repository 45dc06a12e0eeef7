/** The value of a row of sightings: a count, in one byte as long as that will do. Most sightings of an hour are seen once. */

export function packSightingCount(count: number): Buffer {
  if (count <= 0xff) return Buffer.of(count);
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(Math.min(count, 0xffff_ffff), 0);
  return bytes;
}

/** The count, or null for bytes that are none. */
export function unpackSightingCount(bytes: Buffer): number | null {
  if (bytes.length === 1) return bytes[0]!;
  return bytes.length === 4 ? bytes.readUInt32LE(0) : null;
}
