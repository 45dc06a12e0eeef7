/**
 * Addresses of rules and visitors. Text is parsed once (rules: on compile; visitors: on first use), then compared as numbers. An IPv4-mapped IPv6
 * address counts as its IPv4 address: a rule never depends on a proxy's spelling.
 */
import ipaddr from "ipaddr.js";
import { parseV4 } from "../net/ipv4.js";

/** Longest text of an address or range: a transitional IPv6 address (45 characters) and `/128`. */
const addressTextMax = 49;
const mappedPrefixBits = 96;

/** 128 bits as four unsigned 32-bit words, most significant first. IPv4 is 0, 0, 0, address; `family` tells them apart. */
export interface Address {
  readonly family: 4 | 6;
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  readonly word3: number;
}

/** Fields and not an array, because V8 would convert an array with a word above 2³¹ for each visitor. */
function addressOf(family: 4 | 6, wordAt: (index: number) => number): Address {
  return { family, word0: wordAt(0), word1: wordAt(1), word2: wordAt(2), word3: wordAt(3) };
}

/** All addresses from `low` to `high`, both included and of one family. */
interface AddressRange {
  readonly low: Address;
  readonly high: Address;
}

function word(bytes: readonly number[], at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

function ipv4(value: number): Address {
  return { family: 4, word0: 0, word1: 0, word2: 0, word3: value };
}

/** Reads four-part decimal IPv4 or any IPv6 notation without a zone; undefined for everything else (octal, hex, ports, spaces). */
export function parseAddress(text: string): Address | undefined {
  if (text.length > addressTextMax || text.includes("%")) return undefined;
  if (!text.includes(":")) {
    const value = parseV4(text);
    return value < 0 ? undefined : ipv4(value);
  }
  const parsed = parseV6(text);
  if (parsed === undefined) return undefined;
  const bytes = parsed.toByteArray();
  if (parsed.isIPv4MappedAddress()) return ipv4(word(bytes, 12));
  return addressOf(6, (index) => word(bytes, 4 * index));
}

/** Parsed without a check before: each takes some microseconds, and a project may have 60,000 of them. */
function parseV6(text: string): ipaddr.IPv6 | undefined {
  try {
    return ipaddr.IPv6.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the mask of 32-bit word number `index` for a network prefix of `bits` out of 128. */
function maskWord(index: number, bits: number): number {
  const inWord = Math.min(32, Math.max(0, bits - index * 32));
  return inWord === 0 ? 0 : (0xffffffff << (32 - inWord)) >>> 0;
}

/**
 * Reads an address or `address/prefix`. Host bits may be set: `203.0.113.7/24` is its network. `::ffff:a.b.c.d/n` with n from 96 is IPv4 `/n-96`. A
 * shorter prefix there would mix families and returns undefined, like any other text that is no range.
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
  const { family, word0, word1, word2, word3 } = address;
  const words = [word0, word1, word2, word3];
  // The upper words of IPv4 are zero at both ends, whatever the mask, because at least 96 bits are fixed.
  return {
    low: addressOf(family, (index) => (words[index]! & maskWord(index, bits)) >>> 0),
    high: addressOf(family, (index) => (words[index]! | ~maskWord(index, bits)) >>> 0),
  };
}

function compareAddresses(a: Address, b: Address): number {
  return a.family - b.family || a.word0 - b.word0 || a.word1 - b.word1 || a.word2 - b.word2 || a.word3 - b.word3;
}

/**
 * Tests membership in a non-empty list of ranges in O(log n). CIDR ranges nest or are disjoint, so ranges inside another one are dropped and the rest
 * is searched by halving.
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
