/**
 * How a visitor's request is read by whoever asks for its verdict: the session token it carries and the path that rules see. Runs
 * in the customer's backend, on edge runtimes and in the daemon; pure, and nothing of Node.
 */
import { wellFormedToken } from "./session-token.js";

/** The cookie in which the SDK keeps the token, unless it is told another name. */
export const sessionCookieName = "service_session";
/** The header for pages without cookies; lower case. */
export const sessionHeaderName = "x-service-session";

/**
 * The session token a request carries, or null. The header wins, since a page sends it on purpose; what is malformed counts as
 * absent, and of several cookies of the name the first well-formed one counts.
 */
export function sessionTokenOf(
  header: string | null | undefined,
  cookies: string | null | undefined,
  cookieName: string = sessionCookieName,
): string | null {
  if (header && wellFormedToken.test(header)) return header;
  if (!cookies) return null;
  for (const pair of cookies.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || pair.slice(0, equals).trim() !== cookieName) continue;
    const value = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (wellFormedToken.test(value)) return value;
  }
  return null;
}

/**
 * The path that rules see of a request target: without query and fragment, dot segments resolved, and percent-encoded unreserved
 * characters decoded (RFC 3986 section 6.2.2), so that `/lo%67in` can't pass by a rule for `/login`. Undefined for a target that
 * is no path. Never throws.
 */
export function rulePath(target: string): string | undefined {
  if (!target.startsWith("/")) return undefined;
  const bare = target.replace(/[?#].*$/s, "");
  const decoded = bare.replace(/%([0-9A-Fa-f]{2})/g, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded;
  });
  if (!/\/\.\.?(?:\/|$)/.test(decoded)) return decoded;
  const kept: string[] = [];
  const segments = decoded.split("/").slice(1);
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  const last = segments.at(-1);
  if (last === "." || last === "..") kept.push("");
  return `/${kept.join("/")}`;
}
