/** Which requests load a page that a visitor sees: only these are given a session token. Pure; runs in the customer's backend too. */

/** Whether a request with these headers (by lower-case name; "" or undefined for none) loads a page and is not made ahead of need. */
export function isNavigation(header: (name: string) => string | undefined): boolean {
  for (const name of purposeNames) if (aheadOfNeed.test(header(name) ?? "")) return false;
  const dest = header("sec-fetch-dest") ?? "";
  if (dest !== "" || header("sec-fetch-mode") || header("sec-fetch-site")) return dest === "document";
  return /text\/html/i.test(header("accept") ?? "");
}

/** The same of header lines in any letter case; the first of a name that is not empty counts. One walk. */
export function isNavigationOf(lines: readonly (readonly [name: string, value: string])[]): boolean {
  let dest = "";
  let accept = "";
  let isMetadata = false;
  for (const [name, value] of lines) {
    const { length } = name;
    if (value === "" || length < 5 || length > 14) continue;
    if (length !== 6 && length !== 14 && length !== 11 && length !== 7 && length !== 9 && length !== 5) continue;
    const lower = name.toLowerCase();
    if (lower === "accept") accept ||= value;
    else if (lower === "sec-fetch-dest") dest ||= value;
    else if (lower === "sec-fetch-mode" || lower === "sec-fetch-site") isMetadata = true;
    else if (purposeNames.includes(lower) && aheadOfNeed.test(value)) return false;
  }
  return dest !== "" || isMetadata ? dest === "document" : /text\/html/i.test(accept);
}

const aheadOfNeed = /prefetch|prerender|preview/i;

/** Headers that a browser loads ahead of need with; the last two are of old ones. */
const purposeNames = ["sec-purpose", "purpose", "x-purpose", "x-moz"];

/** All headers that the two functions read. */
export const navigationNames: readonly string[] = [
  ...purposeNames,
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "accept",
];
