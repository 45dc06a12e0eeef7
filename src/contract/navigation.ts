/** Which requests load a page that a visitor sees: only these are given a session token. Pure; runs in the customer's backend too. */

/** Whether a request with these headers (by lower-case name; "" or undefined for none) loads a page and is not made ahead of need. */
export function isNavigation(header: (name: string) => string | undefined): boolean {
  for (const name of purposeNames) if (/prefetch|prerender|preview/i.test(header(name) ?? "")) return false;
  const dest = header("sec-fetch-dest") ?? "";
  if (dest !== "" || header("sec-fetch-mode") || header("sec-fetch-site")) return dest === "document";
  return /text\/html/i.test(header("accept") ?? "");
}

/** Headers that a browser loads ahead of need with; the last two are of old ones. */
const purposeNames = ["sec-purpose", "purpose", "x-purpose", "x-moz"];
