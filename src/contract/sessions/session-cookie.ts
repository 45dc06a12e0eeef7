/**
 * Reads the session token from a visitor's request, and names the cookie and header that carry it. Runs in the customer's backend, on edge runtimes
 * and in the daemon; pure, without anything from Node.
 */

/** The cookie in which the SDK keeps the token, by default. */
export const sessionCookieName = "service_session";
/** The header for pages without cookies; lower case. */
export const sessionHeaderName = "x-service-session";
/** A token that may be asked for; only `decodeSessionToken` (session-token.ts) says whether it can be one of ours. */
export const wellFormedToken: RegExp = /^sess_[A-Za-z0-9_-]{1,128}$/;

/**
 * Returns the session token of a request, or null. The header wins, because a page sends it on purpose. Malformed values count as absent; of several
 * headers (joined with commas) or cookies of the name, the first well-formed one counts.
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

/** The form of a name that a cookie may have. */
export const cookieNameForm: RegExp = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** The form of a domain that a cookie may be for. */
export const cookieDomainForm: RegExp = /^\.?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/i;
/** The form of a path that a cookie may be for. */
export const cookiePathForm: RegExp = /^\/[!-:<-~]{0,1000}$/;

/** How a token is put into the visitor's cookie, as the SDK of the site's pages does it. */
interface SessionCookie {
  readonly name: string;
  /** "": this host alone. */
  readonly domain: string;
  /** Default `/`. */
  readonly path?: string | undefined;
  /** Default `Lax`; `None` wants `Secure`, and is kept for each site that frames the page. */
  readonly sameSite?: "Lax" | "Strict" | "None" | undefined;
  /** Seconds; default a day. */
  readonly maxAge?: number | undefined;
  /** Whether the visitor came by https. */
  readonly isSecure: boolean;
}

/** The same cookie as a page's SDK keeps it. */
export type PageCookie = Omit<SessionCookie, "isSecure">;

/** Returns the value of `Set-Cookie`, with the attributes that the SDK gives the cookie. What is no domain is left out. */
export function setCookieValue(
  token: string,
  { name, domain, path = "/", sameSite = "Lax", maxAge = 86_400, isSecure }: SessionCookie,
): string {
  const isFramed = sameSite === "None";
  return (
    `${name}=${token}; Path=${path}; Max-Age=${maxAge}; SameSite=${sameSite}` +
    (cookieDomainForm.test(domain) ? `; Domain=${domain}` : "") +
    (isSecure || isFramed ? "; Secure" : "") +
    (isFramed ? "; Partitioned" : "")
  );
}
