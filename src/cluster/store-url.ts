/** Parses the address of a cluster as operators write it: `valkey://user:password@host:port,host:port`. */
import { isIPv6 } from "node:net";
import type { ClusterTls } from "./cluster-tls.js";
import type { NodeAddress } from "./slots.js";

/** A parsed address. The password is for connections only; no message may contain it. */
export interface StoreUrl {
  /** The scheme as written; default: `valkey`, or `valkeys` with TLS. */
  readonly scheme?: string;
  readonly isTls: boolean;
  /** The first nodes to ask; the cluster names the others. */
  readonly seeds: readonly NodeAddress[];
  readonly user?: string;
  readonly password?: string;
  /** A file that holds the password, read at each connection: it may be rotated while the client runs. */
  readonly passwordFile?: string;
  /** The file of `ca`, read at each connection. */
  readonly caFile?: string;
  /** PEM of the authorities of its certificates; default: the system's. */
  readonly ca?: string;
  /** The client's certificate and key as PEM, and their files, read at each connection. */
  readonly own?: Required<Pick<ClusterTls, "certificate" | "key" | "certificateFile" | "keyFile">>;
}

const schemes: Readonly<Record<string, boolean>> = { valkey: false, redis: false, valkeys: true, rediss: true };
const defaultPort = 6379;
const seedsMax = 64;

/**
 * Returns the parts of a store's URL, or its fault in one line. `valkey` and `redis` mean the same; `valkeys` and `rediss` use TLS. The password is
 * the last part before the last `@`, percent-encoded where it has `%`, `/` or `,`. Faults quote nothing from the text except an IPv6 address, because
 * a mistyped URL may have its password anywhere.
 */
export function parseStoreUrl(text: string): StoreUrl | { readonly fault: string } {
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase() ?? "";
  const isTls = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (isTls === undefined) {
    return { fault: "must begin with valkey://, valkeys:// (TLS), redis:// or rediss:// (TLS)" };
  }
  const rest = text.slice(scheme.length + 3);
  const at = rest.lastIndexOf("@");
  const credentials = parseCredentials(at === -1 ? undefined : rest.slice(0, at));
  if ("fault" in credentials) return credentials;
  const [, hosts = "", path = ""] = /^([^/?#]*)(.*)$/s.exec(rest.slice(at + 1)) ?? [];
  if (hosts === "") return { fault: `must name a host behind ${scheme}://, such as ${scheme}://10.0.0.1:6379` };
  if (!["", "/", "/0"].includes(path)) return { fault: pathFault(hosts, path) };
  const seeds: NodeAddress[] = [];
  const names = hosts.split(",");
  if (names.length > seedsMax) return { fault: `names more than ${seedsMax} nodes; some three are enough` };
  for (const [index, name] of names.entries()) {
    const seed = parseSeed(name);
    if (typeof seed !== "string") return { fault: seed.fault(`host ${index + 1} of ${names.length}`) };
    seeds.push(seed);
  }
  return { scheme, isTls, seeds: [...new Set(seeds)], ...credentials };
}

function pathFault(hosts: string, path: string): string {
  if (path.startsWith("/") && hosts.endsWith(":")) return "must have its scheme once, in front of the first host";
  if (/^\/[^?#]/.test(path)) return "must not name a database behind its hosts: a cluster has only one";
  return "must end with the last host and port: there are no options behind ? or #";
}

/** Returns the URL without user and password, for logs. */
export function describeStoreUrl({ isTls, scheme = isTls ? "valkeys" : "valkey", seeds }: StoreUrl): string {
  return `${scheme}://${seeds.map(bracketed).join(",")}`;
}

function bracketed(address: NodeAddress): string {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon);
  return host.includes(":") ? `[${host}]${address.slice(colon)}` : address;
}

function parseCredentials(text: string | undefined): { user?: string; password?: string } | { fault: string } {
  if (text === undefined) return {};
  if (text === "" || text === ":") return { fault: "must have a user or a password before the @, or no @" };
  const colon = text.indexOf(":");
  try {
    const user = decodeURIComponent(colon === -1 ? text : text.slice(0, colon));
    const password = colon === -1 ? "" : decodeURIComponent(text.slice(colon + 1));
    return { ...(user === "" ? {} : { user }), ...(password === "" ? {} : { password }) };
  } catch {
    return { fault: "must have its user and password percent-encoded: write % as %25, / as %2F, @ as %40" };
  }
}

/** Returns the address, or the fault of this host. */
function parseSeed(text: string): NodeAddress | { fault(host: string): string } {
  if (text === "") return { fault: (host) => `must have a host in each place between its commas: ${host} is empty` };
  const bracketed = inBrackets(text);
  if (bracketed !== null) {
    return { fault: (host) => `must have IPv6 addresses in brackets: write ${bracketed} as ${host}` };
  }
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+))(?::(.*))?$/s.exec(text);
  if (parts === null) {
    return { fault: (host) => `must name hosts as HOST or HOST:PORT, IPv6 addresses in brackets: ${host} is none` };
  }
  const [, address, name, digits] = parts;
  const port = digits === undefined ? defaultPort : /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > 65_535) {
    return { fault: (host) => `must have ports from 1 to 65535: ${host} has another` };
  }
  return `${address ?? name}:${port}`;
}

/** Reads an IPv6 address that was written without brackets, with its port if it has one; `null` means that it is none, and may be a password. */
function inBrackets(text: string): string | null {
  const [, address = "", port] = /^(.*):(\d{1,5})$/s.exec(text) ?? [];
  if (isIPv6(address)) return `[${address}]:${port}`;
  return isIPv6(text) ? `[${text}]` : null;
}
