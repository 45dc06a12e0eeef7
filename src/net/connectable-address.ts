/**
 * Which addresses are on the public internet: the only ones that verdictd connects to for a name that somebody else chose; and which are within a site or a
 * machine, which an operator may allow for receivers of his own.
 */
import ipaddr from "ipaddr.js";

/**
 * Whether the text is a global unicast address. Private, loopback, link-local, shared, documentation, multicast and translated ones
 * (IPv4 inside of IPv6 too) are not. Which addresses are one visitor's is another question: see `isVisitorAddress`.
 */
export function isConnectableAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  // Of IPv6 only 2000::/3 is given out (RFC 4291, section 2.4).
  return address.kind() === "ipv4" || ((address as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000;
}

const privateRanges: readonly string[] = ["loopback", "private", "uniqueLocal"];

/** Whether the text is a loopback or private address. Link-local ones, where clouds have their metadata, are not. */
export function isPrivateAddress(text: string): boolean {
  return ipaddr.isValid(text) && privateRanges.includes(ipaddr.process(text).range());
}
