/** Where alerts may be sent: checks the URL of a channel, and the addresses that its host has at the time. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { limits } from "../limits.js";
import { isConnectableAddress, isPrivateAddress } from "../net/connectable-address.js";

/** Returns the URL, or why it is none that alerts can be sent to. Asks no name server. */
export function receiverUrl(text: string, arePrivateAllowed: boolean): URL | { readonly fault: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { fault: "is not a URL" };
  }
  if (url.username !== "" || url.password !== "")
    return { fault: "has a user or a password: a channel is signed instead" };
  if (url.port === "0") return { fault: "has the port 0" };
  if (url.hash !== "") return { fault: "has a fragment" };
  if (url.protocol !== "https:" && !(url.protocol === "http:" && arePrivateAllowed)) {
    return { fault: "must begin with https://" };
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
    return arePrivateAllowed ? null : "is at a private or loopback address: --alert-private-addresses allows these";
  if (!isConnectableAddress(address)) return "is at no address of the internet";
  return protocol === "https:" ? null : "must begin with https://, except at a private or loopback address";
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
    const fault = signal.aborted
      ? "has a host that no name server told of in time"
      : "has a host that no address is known of";
    return { fault, isUnknown: true };
  }
  for (const { address } of found) {
    const fault = addressFault(address, url.protocol, arePrivateAllowed);
    if (fault !== null) return { fault };
  }
  const [first] = found;
  if (first === undefined) return { fault: "has a host that no address is known of", isUnknown: true };
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
