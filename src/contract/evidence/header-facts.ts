/**
 * The header lines that scoring uses, in one table: their names on the wire, their names in the code, and the order in which they travel to scoring
 * workers. Types and readers derive from it.
 */

const row = <const Name extends string, const Field extends string>(name: Name, field: Field) => ({ name, field });

/** Header lines of a session's batches. Names are in lower case. */
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

/** Header lines of a visitor's request that is judged alone: the batches' come first. */
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

/** Values of a batch's header lines; "" for one that did not come. */
export type HeaderFacts = { readonly [Field in FieldsOf<typeof batchHeaders>]: string };
/** The same for a judged request. */
export type JudgedHeaderFacts = { readonly [Field in FieldsOf<typeof judgedHeaders>]: string };

/** The values of a request without any of these lines. */
export const noHeaders = Object.fromEntries(batchHeaders.map(({ field }) => [field, ""])) as HeaderFacts;

/** Facts of one ingest request that are not in the client's events. Header values are cut to 512 characters. */
export interface RequestFacts extends HeaderFacts {
  /** Server clock when the batch arrived, ms since the epoch. */
  readonly nowMs: number;
  /** Visitor's address in canonical text: the socket's, or from `X-Forwarded-For` behind a trusted proxy. */
  readonly ip: string;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Template of the facts, copied for each request: V8 copies an object of fixed shape in 30 ns, and takes 2 µs to add two fields to one of thirteen.
 * Parsed, because an object that is built field by field has no fixed shape.
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

/** Returns header facts with `value` of each position in the table. */
export function headerFactsOf(value: (position: number) => string): HeaderFacts {
  const facts: Writable<RequestFacts> = { ...blankFacts };
  for (let position = 0; position < fields.length; position++) facts[fields[position]!] = value(position);
  return facts;
}

/** Returns the facts of a request with these lines. */
export function requestFactsOf(headers: HeaderFacts, nowMs: number, ip: string): RequestFacts {
  const facts = { ...headers } as Writable<RequestFacts>;
  facts.nowMs = nowMs;
  facts.ip = ip;
  return facts;
}
