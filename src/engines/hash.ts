/** A small non-cryptographic hash for "is it the same as before"; never for secrets. */

/** FNV-1a of a text, 1 to 2^32 - 1 (0 stands for "nothing seen"). */
export function hashText(value: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < value.length; index++) {
    hash = Math.imul(hash ^ value.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0 || 1;
}
