/** A different hash for each path, as scattered as real ones (the last steps of MurmurHash3). */
export function scatteredHash(path: number): number {
  let hash = Math.imul(path ^ (path >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
