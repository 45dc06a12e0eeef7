/**
 * Where a visitor's request carries the session token: the names of cookie and header, and reading them. Runs in the customer's backend, on
 * edge runtimes and in the daemon; pure, and nothing of Node.
 */
import { wellFormedToken } from "./session-token.js";

/** The cookie in which the SDK keeps the token, unless it is told another name. */
export const sessionCookieName = "service_session";
/** The header for pages without cookies; lower case. */
export const sessionHeaderName = "x-service-session";

/**
 * The session token a request carries, or null. The header wins, since a page sends it on purpose; what is malformed counts as
 * absent, and of several headers (joined with commas) or cookies of the name the first well-formed one counts.
 */
export function sessionTokenOf(
  header: string | null | undefined,
  cookies: string | null | undefined,
  cookieName: string = sessionCookieName,
): string | null {
  for (const sent of header?.split(",") ?? []) if (wellFormedToken.test(sent.trim())) return sent.trim();
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
