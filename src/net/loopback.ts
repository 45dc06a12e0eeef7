/** Whether a host name or address means this machine only. */

/** `localhost` and names below it (RFC 6761), 127.0.0.0/8, `::1` with or without brackets. A port is no part of it. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}
