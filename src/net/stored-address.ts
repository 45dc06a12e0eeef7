/** What of a visitor's address a session keeps: all of it, its network, or nothing. Scoring of the batch itself sees all of it. */
import type { IpStorage } from "../contract/configuration/scoring-worker.js";
import { operatorNetwork } from "./network.js";

/** The address as it is stored. `truncated`: its network (/24, /48) as an address with zeros behind it. Takes canonical text; "" for what is none. */
export function storedAddress(ip: string, storage: IpStorage): string {
  if (storage === "full") return ip;
  if (storage === "none") return "";
  const network = operatorNetwork(ip);
  return network.slice(0, network.indexOf("/"));
}
