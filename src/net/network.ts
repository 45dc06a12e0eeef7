/**
 * The network of an address: the one place where addresses are cut. Whoever counts, shares or bounds by network does it by the text from here, so
 * that two spellings of an address are never two networks.
 */
import { formatV4, formatV6, mappedV4, parseV4, parseV6 } from "./address-text.js";

const groups = new Uint16Array(8);

/**
 * Canonical CIDR text of the network of these sizes in bits that the address lies in: `192.0.2.0/24`, `2001:db8::/48`. Takes any spelling; an
 * IPv4-mapped address is IPv4. "" for no address.
 */
export function networkOf(address: string, v4Bits: number, v6Bits: number): string {
  let v4 = parseV4(address);
  if (v4 < 0) {
    if (!parseV6(address, groups)) return "";
    v4 = mappedV4(groups);
    if (v4 < 0) return `${formatV6(cut(v6Bits))}/${v6Bits}`;
  }
  return `${formatV4(v4 - (v4 % 2 ** (32 - v4Bits)))}/${v4Bits}`;
}

/** What is large enough to be one operator's, and small enough to be one of his: the /24 of IPv4, the /48 of IPv6. "" for no address. */
export function operatorNetwork(address: string): string {
  return networkOf(address, 24, 48);
}

/**
 * What one subscriber is given: whoever has one of these addresses has them all, so that bounds by address are bounds by this. The /64 of IPv6, the
 * address itself of IPv4. Text that is no address comes back as it is.
 */
export function subscriberNetwork(address: string): string {
  const v4 = parseV4(address);
  if (v4 >= 0 || !parseV6(address, groups)) return address;
  const mapped = mappedV4(groups);
  if (mapped >= 0) return formatV4(mapped);
  // NAT64 writes IPv4 addresses so (RFC 6052): each is somebody else's.
  if (groups[0] === 0x64 && groups[1] === 0xff9b) return formatV6(groups);
  return `${formatV6(cut(64))}/64`;
}

/** `groups`, without what lies behind `bits`. */
function cut(bits: number): Uint16Array {
  groups.fill(0, Math.ceil(bits / 16));
  if (bits % 16 !== 0) groups[bits >> 4]! &= 0xffff << (16 - (bits % 16));
  return groups;
}
