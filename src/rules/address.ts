/**
 * Addresses of rules and visitors: text is parsed once (rules: on compile; visitors: on first use), then compared as numbers.
 * An IPv4-mapped IPv6 address is its IPv4 address, so that a rule never depends on how a proxy spells a visitor.
 */
import ipaddr from "ipaddr.js";
import { parseV4 } from "../contract/ipv4.js";

/** Longest text of an address or range: a transitional IPv6 address (45 characters) and `/128`. */
const addressTextMax = 49;
const mappedPrefixBits = 96;

/** 128 bits as four unsigned 32-bit words, most significant first. IPv4 is 0, 0, 0, address, told apart by `family`. */
export interface Address {
  readonly family: 4 | 6;
  readonly words: readonly [number, number, number, number];
}

/** All addresses from `low` to `high`, both included and of one family. */
export interface AddressRange {
  readonly low: Address;
  readonly high: Address;
}

function word(bytes: readonly number[], at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Reads four-part decimal IPv4 or any IPv6 notation without a zone; undefined for everything else (octal, hex, ports, spaces). */
export function parseAddress(text: string): Address | undefined {
  if (text.length > addressTextMax || text.includes("%")) return undefined;
  if (!text.includes(":")) {
    const value = parseV4(text);
    return value < 0 ? undefined : { family: 4, words: [0, 0, 0, value] };
  }
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const parsed = ipaddr.IPv6.parse(text);
  const bytes = parsed.toByteArray();
  if (parsed.isIPv4MappedAddress()) return { family: 4, words: [0, 0, 0, word(bytes, 12)] };
  return { family: 6, words: [word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12)] };
}

/** Mask of 32-bit word number `index` for a network prefix of `bits` out of 128. */
function maskWord(index: number, bits: number): number {
  const inWord = Math.min(32, Math.max(0, bits - index * 32));
  return inWord === 0 ? 0 : (0xffffffff << (32 - inWord)) >>> 0;
}

/**
 * Reads an address or `address/prefix`. Host bits may be set: `203.0.113.7/24` is its network. `::ffff:a.b.c.d/n` with n from 96 is
 * IPv4 `/n-96`; a shorter prefix there would mix families and is refused (undefined), like any other text that is no range.
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  const slash = text.indexOf("/");
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  if (slash < 0) return { low: address, high: address };
  const prefixText = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefixText)) return undefined;
  const writtenAsFour = !text.includes(":");
  const bits = Number(prefixText) + (writtenAsFour ? mappedPrefixBits : 0);
  if (bits > 128 || (address.family === 4 && bits < mappedPrefixBits)) return undefined;
  const { family, words } = address;
  // The upper words of IPv4 are zero in both ends, whatever the mask says, since at least 96 bits are fixed.
  const low = words.map((each, index) => (each & maskWord(index, bits)) >>> 0);
  const high = words.map((each, index) => (each | ~maskWord(index, bits)) >>> 0);
  return {
    low: { family, words: [low[0]!, low[1]!, low[2]!, low[3]!] },
    high: { family, words: [high[0]!, high[1]!, high[2]!, high[3]!] },
  };
}

function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  for (let index = 0; index < 4; index++) {
    const difference = a.words[index]! - b.words[index]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * A membership test over a non-empty list of ranges in O(log n): CIDR ranges nest or are disjoint, so those inside another are dropped and
 * the rest is searched by halving.
 */
export function addressSet(ranges: readonly AddressRange[]): (address: Address) => boolean {
  const ascending = [...ranges].sort((a, b) => compareAddresses(a.low, b.low) || compareAddresses(b.high, a.high));
  const disjoint: AddressRange[] = [];
  for (const range of ascending) {
    const last = disjoint.at(-1);
    if (last === undefined || compareAddresses(range.low, last.high) > 0) disjoint.push(range);
  }
  return (address) => {
    let from = 0;
    let to = disjoint.length - 1;
    while (from < to) {
      const middle = (from + to + 1) >>> 1;
      if (compareAddresses(disjoint[middle]!.low, address) <= 0) from = middle;
      else to = middle - 1;
    }
    const candidate = disjoint[from]!;
    return compareAddresses(candidate.low, address) <= 0 && compareAddresses(address, candidate.high) <= 0;
  };
}
