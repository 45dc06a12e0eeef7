/** Addresses within a site or a machine, which an operator may allow for receivers of his own. */
import ipaddr from "ipaddr.js";

const ranges: readonly string[] = ["loopback", "private", "uniqueLocal"];

/** Whether the text is a loopback or private address. Link-local ones, where clouds have their metadata, are not. */
export function isPrivateAddress(text: string): boolean {
  return ipaddr.isValid(text) && ranges.includes(ipaddr.process(text).range());
}
