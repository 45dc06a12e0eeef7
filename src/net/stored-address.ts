/** What of a visitor's address a session keeps: all of it, its network, or nothing. Scoring of the batch itself sees all of it. */
import type { IpStorage } from "../contract/scoring-worker.js";

/**
 * The address as it is stored. `truncated`: the /24 network of IPv4, the /48 of IPv6, as an address with zeros behind it. Takes
 * canonical text, as `clientIp` gives it; "" for what is none.
 */
export function storedAddress(ip: string, storage: IpStorage): string {
  if (storage === "full") return ip;
  if (storage === "none" || ip === "") return "";
  if (!ip.includes(":")) return ip.slice(0, ip.lastIndexOf(".") + 1).concat("0");
  const [head = "", tail] = ip.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  while (groups.length + behind.length < 8) groups.push("0");
  return `${[...groups, ...behind].slice(0, 3).join(":")}::`.replace(/(:0)+::$/, "::").replace(/^0::$/, "::");
}
