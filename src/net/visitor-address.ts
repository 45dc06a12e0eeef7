/**
 * Which addresses belong to one visitor's connection to the internet, and which are special by IANA's registries (IPv4 and IPv6
 * Special-Purpose Address Registry): loopback, private networks, carriers' own (100.64/10), link-local and so on. Behind such an address is a
 * gateway in front of the service, so everybody.
 */
import { parseV4 } from "./ipv4.js";

/**
 * Not globally reachable, and multicast. The networks for documentation (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32) are
 * left out on purpose: nobody comes from them, and examples want an address that counts as a visitor's.
 */
const specialV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
].map(([first, prefix]) => ({ first: parseV4(String(first)), size: 2 ** (32 - Number(prefix)) }));

/**
 * Takes canonical text; false for "" and for what is no address. Where verdictd may connect to is another question: see
 * `isConnectableAddress`.
 */
export function isVisitorAddress(ip: string): boolean {
  if (ip.includes(":")) return isPublicV6(ip);
  const value = parseV4(ip);
  return value >= 0 && !specialV4.some(({ first, size }) => value >= first && value < first + size);
}

/** Global unicast is 2000::/3; of it 2001::/23 is set apart for protocols, of which Teredo (2001::/32) has visitors. NAT64 stands for IPv4. */
function isPublicV6(ip: string): boolean {
  if (ip.startsWith("64:ff9b::")) return true;
  const [head = "", next = ""] = ip.split(":", 2);
  const first = Number.parseInt(head || "0", 16);
  const second = Number.parseInt(next || "0", 16);
  return first >= 0x2000 && first <= 0x3fff && !(first === 0x2001 && second > 0 && second < 0x200);
}
