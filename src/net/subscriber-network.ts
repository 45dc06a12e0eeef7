/** What one subscriber is given of addresses: whoever has one of them has them all, so that bounds by address are bounds by this. */

/** Groups of an IPv6 address that name its /64. */
const networkGroups = 4;

/** The /64 of an IPv6 address, the address itself of any other text. Takes any spelling, with or without `::`. */
export function subscriberNetwork(ip: string): string {
  // NAT64 writes IPv4 addresses so: each is somebody else's.
  if (!ip.includes(":") || ip.includes(".") || ip.startsWith("64:ff9b::")) return ip;
  const [head = "", tail = ""] = ip.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === "" ? [] : tail.split(":");
  while (groups.length + behind.length < 2 * networkGroups) groups.push("0");
  const network = [...groups, ...behind]
    .slice(0, networkGroups)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
