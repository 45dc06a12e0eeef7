/** Where alerts may be sent: checks the URL of a channel, and the addresses that its host has at the time. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { limits } from "../limits.js";
import { isConnectableAddress, isPrivateAddress } from "../net/connectable-address.js";

const unresolved = "the URL's host could not be resolved";

/** Returns the URL, or why alerts can't be sent to it: a clause of its own. Asks no name server. */
export function receiverUrl(text: string, arePrivateAllowed: boolean): URL | { readonly fault: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { fault: "the URL is not valid" };
  }
  if (url.username !== "" || url.password !== "")
    return { fault: "the URL has a user or a password: a channel signs its deliveries instead" };
  if (url.port === "0") return { fault: "the URL has the port 0" };
  if (url.hash !== "") return { fault: "the URL has a fragment" };
  if (url.protocol !== "https:" && !(url.protocol === "http:" && arePrivateAllowed)) {
    return { fault: "the URL must begin with https://" };
  }
  const address = addressOf(url);
  if (address !== null) {
    const fault = addressFault(address, url.protocol, arePrivateAllowed);
    if (fault !== null) return { fault };
  }
  return url;
}

/** Why alerts are not sent to an address by this protocol; null if they are. */
export function addressFault(address: string, protocol: string, arePrivateAllowed: boolean): string | null {
  if (isPrivateAddress(address))
    return arePrivateAllowed
      ? null
      : "the URL is at a private or loopback address, which only --alert-private-addresses allows";
  if (!isConnectableAddress(address)) return "the URL is at an address that is not of the public internet";
  return protocol === "https:" ? null : "the URL must begin with https://, except at a private or loopback address";
}

/**
 * The address of one that alerts may be sent to, or why there is none. Every address that the name has must be allowed. Name servers are waited for until
 * `signal` is aborted. Never rejects.
 */
export async function resolveReceiver(
  url: URL,
  arePrivateAllowed: boolean,
  signal: AbortSignal = AbortSignal.timeout(limits.alertSendMs),
): Promise<
  { readonly address: string; readonly family: 4 | 6 } | { readonly fault: string; readonly isUnknown?: true }
> {
  const literal = addressOf(url);
  let found: readonly { readonly address: string; readonly family: number }[];
  try {
    found = literal === null ? await addressesOf(url.hostname, signal) : [{ address: literal, family: isIP(literal) }];
  } catch {
    const fault = signal.aborted ? "the URL's host could not be resolved in time" : unresolved;
    return { fault, isUnknown: true };
  }
  for (const { address } of found) {
    const fault = addressFault(address, url.protocol, arePrivateAllowed);
    if (fault !== null) return { fault };
  }
  const [first] = found;
  if (first === undefined) return { fault: unresolved, isUnknown: true };
  return { address: first.address, family: first.family === 6 ? 6 : 4 };
}

/** Rejects where there is none, and when the signal is aborted. */
async function addressesOf(host: string, signal: AbortSignal) {
  signal.throwIfAborted();
  const inTime = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([lookup(host, { all: true }), inTime]);
}

/** The address that the URL names itself; null where it names a host. */
function addressOf({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? null : bare;
}
