/** An address as look-ups in tables of words take it. */
import { mappedV4, parseV4, parseV6 } from "./address-text.js";
import { wordsOfGroups } from "./words.js";

/** `v4` is -1 for IPv6. Valid until the next one is parsed. */
export interface ParsedAddress {
  readonly v4: number;
  readonly v6: Uint32Array;
}

const groups = new Uint16Array(8);
const parsed = { v4: -1, v6: new Uint32Array(4) };

/** Null when the text is no address; IPv4-mapped IPv6 is IPv4. Allocates nothing: the same object each time. */
export function parseAddressWords(text: string): ParsedAddress | null {
  parsed.v4 = parseV4(text);
  if (parsed.v4 >= 0) return parsed;
  if (!parseV6(text, groups)) return null;
  parsed.v4 = mappedV4(groups);
  if (parsed.v4 < 0) wordsOfGroups(groups, parsed.v6);
  return parsed;
}
