/** The host of a URL at which a server that listens on an address can be opened. */

/** IPv6 in brackets (RFC 3986, 3.2.2); loopback for addresses that stand for all of a machine. */
export function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
