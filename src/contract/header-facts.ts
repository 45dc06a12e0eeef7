/**
 * The header lines that scoring looks at, in one table: their names on the wire, what the code calls them, and their order, in which they
 * travel to scoring workers. Types and readers derive from it.
 */

const row = <const Name extends string, const Field extends string>(name: Name, field: Field) => ({ name, field });

/** Those of a session's batches. Names are in lower case. */
export const batchHeaders = [
  row("user-agent", "userAgent"),
  row("accept-language", "acceptLanguage"),
  row("accept", "accept"),
  row("accept-encoding", "acceptEncoding"),
  row("origin", "origin"),
  row("referer", "referer"),
  row("sec-ch-ua", "secChUa"),
  row("sec-ch-ua-mobile", "secChUaMobile"),
  row("sec-ch-ua-platform", "secChUaPlatform"),
  row("sec-fetch-site", "secFetchSite"),
  row("sec-fetch-mode", "secFetchMode"),
  row("sec-fetch-dest", "secFetchDest"),
  row("content-type", "contentType"),
] as const;

/** Those of a visitor's request that is judged by itself: the batches' first. */
export const judgedHeaders = [
  ...batchHeaders,
  row("sec-fetch-user", "secFetchUser"),
  row("upgrade-insecure-requests", "upgradeInsecureRequests"),
  row("connection", "connection"),
  row("x-requested-with", "xRequestedWith"),
  row("x-forwarded-proto", "xForwardedProto"),
  row("host", "host"),
] as const;

type FieldsOf<Table extends readonly { readonly field: string }[]> = Table[number]["field"];

/** What the header lines of a batch come to; "" for one that did not come. */
export type HeaderFacts = { readonly [Field in FieldsOf<typeof batchHeaders>]: string };
/** The same of a judged request. */
export type JudgedHeaderFacts = { readonly [Field in FieldsOf<typeof judgedHeaders>]: string };

/** Facts of which each field is what `value` says. */
export function headerFactsOf(value: (position: number) => string): HeaderFacts {
  return Object.fromEntries(batchHeaders.map(({ field }, position) => [field, value(position)])) as HeaderFacts;
}

/** Those of a request without any of them. */
export const noHeaders: HeaderFacts = headerFactsOf(() => "");
