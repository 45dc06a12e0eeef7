/** The network that an address is counted in: large enough to be one operator's, small enough to be one of his. */
import { formatV4, formatV6, parseV4, parseV6 } from "./address-text.js";

const groups = new Uint16Array(8);

/** The /24 of an IPv4 address, the /48 of an IPv6 one, with its length; "" for no address. Takes canonical text. */
export function networkText(ip: string): string {
  const v4 = parseV4(ip);
  if (v4 >= 0) return `${formatV4(v4 & ~255)}/24`;
  if (!parseV6(ip, groups)) return "";
  groups.fill(0, 3);
  return `${formatV6(groups)}/48`;
}
