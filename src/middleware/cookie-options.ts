/** The options of the middlewares for the visitor's cookie, which are those of the SDK: checked, and put together. */
import {
  cookieDomainForm,
  cookieNameForm,
  cookiePathForm,
  type PageCookie,
  sessionCookieName,
} from "../contract/sessions/session-cookie.js";

/** How the pages' own SDK keeps its cookie, where that is not the default: the middleware's cookie and the challenge page's are kept alike. */
export interface CookieOptions {
  /** Default `service_session`. */
  readonly cookieName?: string | undefined;
  /** Default the host alone. */
  readonly cookieDomain?: string | undefined;
  /** Default `/`. */
  readonly cookiePath?: string | undefined;
  /** Default `Lax`. `None`, for pages framed by other sites, adds `Secure` and `Partitioned`. */
  readonly cookieSameSite?: "Lax" | "Strict" | "None" | undefined;
  /** Seconds; default 86400. */
  readonly cookieMaxAge?: number | undefined;
}

/** Throws a `TypeError` on a bad option. */
export function checkedCookie({
  cookieName = sessionCookieName,
  cookieDomain = "",
  cookiePath,
  cookieSameSite,
  cookieMaxAge,
}: CookieOptions): PageCookie {
  if (!cookieNameForm.test(cookieName)) throw new TypeError("cookieName: expected the name of a cookie");
  if (cookieDomain !== "" && !cookieDomainForm.test(cookieDomain))
    throw new TypeError("cookieDomain: expected a domain");
  if (cookiePath !== undefined && !cookiePathForm.test(cookiePath))
    throw new TypeError('cookiePath: expected a path that begins with "/"');
  if (cookieSameSite !== undefined && !["Lax", "Strict", "None"].includes(cookieSameSite)) {
    throw new TypeError("cookieSameSite: expected Lax, Strict or None");
  }
  if (cookieMaxAge !== undefined && !(Number.isInteger(cookieMaxAge) && cookieMaxAge >= 1))
    throw new TypeError("cookieMaxAge: expected whole seconds");
  return { name: cookieName, domain: cookieDomain, path: cookiePath, sameSite: cookieSameSite, maxAge: cookieMaxAge };
}
