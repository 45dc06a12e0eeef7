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
  row("range", "range"),
  row("x-requested-with", "xRequestedWith"),
  row("x-forwarded-proto", "xForwardedProto"),
  row("host", "host"),
] as const;

type FieldsOf<Table extends readonly { readonly field: string }[]> = Table[number]["field"];

/** What the header lines of a batch come to; "" for one that did not come. */
export type HeaderFacts = { readonly [Field in FieldsOf<typeof batchHeaders>]: string };
/** The same of a judged request. */
export type JudgedHeaderFacts = { readonly [Field in FieldsOf<typeof judgedHeaders>]: string };

/** Those of a request without any of them. */
export const noHeaders = Object.fromEntries(batchHeaders.map(({ field }) => [field, ""])) as HeaderFacts;

/** Facts of one ingest request that the client does not put in its events. Header values are cut to 512 characters. */
export interface RequestFacts extends HeaderFacts {
  /** Server clock when the batch arrived, ms since the epoch. */
  readonly nowMs: number;
  /** Visitor's address in canonical text: the socket's, or from `X-Forwarded-For` behind a trusted proxy. */
  readonly ip: string;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Facts before they are filled in. All of them are copies of this one, for V8 copies an object of fixed shape in 30 ns, and takes 2 µs to
 * add two fields to one of thirteen. Parsed, because an object that is put together field by field has no fixed shape.
 */
const blankFacts: RequestFacts = JSON.parse(JSON.stringify({ ...noHeaders, nowMs: 0.5, ip: "" }));

const fields = batchHeaders.map(({ field }) => field);

/** Whether the lines say the same. */
export function isSameHeaders(one: HeaderFacts, other: HeaderFacts): boolean {
  for (let position = 0; position < fields.length; position++) {
    if (one[fields[position]!] !== other[fields[position]!]) return false;
  }
  return true;
}

/** Header facts of which each field is what `value` says for its position in the table. */
export function headerFactsOf(value: (position: number) => string): HeaderFacts {
  const facts: Writable<RequestFacts> = { ...blankFacts };
  for (let position = 0; position < fields.length; position++) facts[fields[position]!] = value(position);
  return facts;
}

/** Facts of a request with these lines. */
export function requestFactsOf(headers: HeaderFacts, nowMs: number, ip: string): RequestFacts {
  const facts = { ...headers } as Writable<RequestFacts>;
  facts.nowMs = nowMs;
  facts.ip = ip;
  return facts;
}
