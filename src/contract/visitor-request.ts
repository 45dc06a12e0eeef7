/**
 * Computes the path that rules see from a visitor's request, for every caller that asks for its verdict. session-cookie.ts reads the session token.
 * Runs in the customer's backend, on edge runtimes and in the daemon; pure, without anything from Node.
 */
import { contextValueMax } from "../limits.js";

/** Stands for a missing user agent, as in access logs. */
export const noUserAgent = "-";

/**
 * Returns the path that rules see for a request target. It is the same at every entrance (verdict read, forward-auth, middlewares, events), so no
 * spelling of a path evades a rule:
 *
 * - `http://host/path` loses scheme and host; query and fragment are cut;
 * - percent-encoded unreserved characters are decoded, the others stay encoded, in capitals (RFC 3986 section 6.2.2); what a URL can't hold as it
 *   is (spaces, quotes, characters outside ASCII) is encoded as browsers do;
 * - `\` counts as `/`, as in the URL standard; `.` and `..` are resolved, empty segments dropped;
 * - kept: case, path parameters (`;x`), `%2F` and `%5C`, and whether there is a `/` at the end.
 *
 * At most `contextValueMax` visible ASCII characters, cut after all that. Undefined for a target that is no path (`*`, `host:443`).
 * Idempotent; never throws; linear in the target's length.
 */
export function rulePath(target: string): string | undefined {
  if (plainPath.test(target)) return bounded(target);
  const end = target.search(/[?#]/);
  const slashed = (end === -1 ? target : target.slice(0, end)).replaceAll("\\", "/");
  const path = slashed.startsWith("/") ? slashed : afterAuthority(slashed);
  return path === undefined ? undefined : bounded(withoutDots(encoded(decoded(path))));
}

/** Most paths already have this form: nothing to decode, encode or resolve. */
const plainPath =
  /^\/(?:(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@|[\]-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@|[\]-]+)*\/?)?$/;

/** Returns the path of an absolute-form target, "/" if it has none. */
function afterAuthority(target: string): string | undefined {
  const authority = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*/.exec(target)?.[0];
  return authority === undefined ? undefined : target.slice(authority.length) || "/";
}

/** Collapses from the left: what a decoded character completes (`%6%33` is `%63`) is decoded as well, in one pass. */
function decoded(path: string): string {
  if (!path.includes("%")) return path;
  const kept: string[] = [];
  for (const character of path) {
    kept.push(character);
    while (kept.length >= 3 && kept[kept.length - 3] === "%") {
      const hex = `${kept[kept.length - 2]}${kept[kept.length - 1]}`;
      if (!/^[0-9A-Fa-f]{2}$/.test(hex)) break;
      const octet = String.fromCharCode(Number.parseInt(hex, 16));
      const isUnreserved = /[A-Za-z0-9._~-]/.test(octet);
      kept.splice(-3, 3, ...(isUnreserved ? [octet] : ["%", ...hex.toUpperCase()]));
      if (!isUnreserved) break;
    }
  }
  return kept.join("");
}

function encoded(path: string): string {
  return path.replace(
    /[\uD800-\uDBFF][\uDC00-\uDFFF]|[^\x21-\x7e]|["<>^`{}]/g,
    // Half a surrogate pair can't be encoded.
    (character) => (/^[\uD800-\uDFFF]$/.test(character) ? "%EF%BF%BD" : encodeURIComponent(character)),
  );
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  const isFolder = kept.length > 0 && /^\.{0,2}$/.test(segments.at(-1) ?? "");
  return `/${kept.join("/")}${isFolder ? "/" : ""}`;
}

/** A cut that leaves only dots in the last segment removes them as well. */
function bounded(path: string): string {
  return path.length <= contextValueMax ? path : path.slice(0, contextValueMax).replace(/\/\.{1,2}$/, "/");
}
