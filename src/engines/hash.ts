/** A small non-cryptographic hash for "is it the same as before"; never for secrets. */

/** FNV-1a of a text, 1 to 2^32 - 1 (0 stands for "nothing seen"). */
export function hashText(value: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < value.length; index++) {
    hash = Math.imul(hash ^ value.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0 || 1;
}

/** A step of MurmurHash3 with its finish: neighbouring cells give unrelated hashes. */
export function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ value, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
