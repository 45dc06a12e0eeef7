/**
 * Reads CIDR text, for the catalogue and for `--trusted-proxies`. Strict on purpose: a range with host bits is more often a
 * slip than a wish, and both lists decide who is trusted. The message then says which range was probably meant.
 */
import { formatV4, formatV6, mappedV4, parseV4, parseV6 } from "./address-text.js";

/** An address range. IPv4-mapped IPv6 ranges are read as the IPv4 range they are. */
export interface Cidr {
  readonly family: 4 | 6;
  /** Lowest and highest address of the range, as a 32-bit or 128-bit number. */
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
  /** Canonical spelling: `192.0.2.0/24`, `2001:db8::/32`. */
  readonly text: string;
}

/** Why a text is no range; reads on from the text itself: `"1.2.3.4/24" has host bits set …`. */
interface CidrFault {
  readonly reason: string;
}

/** Tells a fault from a range. */
export function isCidrFault(value: Cidr | CidrFault): value is CidrFault {
  return "reason" in value;
}

/** The range a CIDR text names. With `bareAddress` an address without `/` stands for itself alone. */
export function parseCidr(text: string, bareAddress = false): Cidr | CidrFault {
  const slash = text.indexOf("/");
  const address = slash < 0 ? text : text.slice(0, slash);
  const parsed = parseAddress(address);
  if (parsed === undefined) return { reason: "is not an address range such as 192.0.2.0/24 or 2001:db8::/32" };
  if (slash < 0 && !bareAddress) return { reason: `has no prefix length: write ${address}/${parsed.bits}` };
  const prefixText = slash < 0 ? String(parsed.writtenBits) : text.slice(slash + 1);
  const written = /^(0|[1-9]\d{0,2})$/.test(prefixText) ? Number(prefixText) : -1;
  if (written < 0 || written > parsed.writtenBits) {
    return { reason: `has a bad prefix length: expected 0 to ${parsed.writtenBits}` };
  }
  const prefix = written - (parsed.writtenBits - parsed.bits);
  if (prefix < 0) return { reason: "is an IPv4-mapped range wider than IPv4: expected /96 to /128" };
  const hostBits = BigInt(parsed.bits - prefix);
  const first = (parsed.value >> hostBits) << hostBits;
  const range = `${formatAddress(parsed.family, first)}/${prefix}`;
  if (first !== parsed.value) return { reason: `has host bits set: the range is ${range}` };
  return { family: parsed.family, first, last: first + (1n << hostBits) - 1n, prefix, text: range };
}

interface ParsedAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly bits: 32 | 128;
  /** Bits of the spelling: 128 for an IPv4-mapped address, whose prefix length counts from there. */
  readonly writtenBits: 32 | 128;
}

function parseAddress(text: string): ParsedAddress | undefined {
  const v4 = parseV4(text);
  if (v4 >= 0) return { family: 4, value: BigInt(v4), bits: 32, writtenBits: 32 };
  const groups = new Uint16Array(8);
  if (!parseV6(text, groups)) return undefined;
  const mapped = mappedV4(groups);
  if (mapped >= 0) return { family: 4, value: BigInt(mapped), bits: 32, writtenBits: 128 };
  let value = 0n;
  for (const group of groups) value = (value << 16n) | BigInt(group);
  return { family: 6, value, bits: 128, writtenBits: 128 };
}

function formatAddress(family: 4 | 6, value: bigint): string {
  return family === 4 ? formatV4(Number(value)) : formatV6(groupsOf(value));
}

/** The eight 16-bit groups of a 128-bit number. */
export function groupsOf(value: bigint): Uint16Array {
  const groups = new Uint16Array(8);
  for (let index = 0; index < 8; index++) groups[index] = Number((value >> BigInt(16 * (7 - index))) & 0xffffn);
  return groups;
}
