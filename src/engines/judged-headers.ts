/** Reads the header lines of a judged request: values by the table, and evidence from order and case if both are the visitor's own. */
import { type JudgedHeaderFacts, judgedHeaders } from "../contract/evidence/header-facts.js";
import type { HttpVersion, JudgedRequest } from "../contract/verdicts/judged-request.js";

/** What is read from a request's header lines; "" for a line that did not come. */
interface JudgedLines {
  readonly values: JudgedHeaderFacts;
  /** User-Agent, Accept, Accept-Language and Accept-Encoding in the order in which they came, as `uale`; undefined if proxies may have changed it. */
  readonly order: string | undefined;
  /** Whether the names of all lines, including Host, are in lower case; undefined as `order`. */
  readonly isLowerCase: boolean | undefined;
}

type Field = keyof JudgedHeaderFacts;
const fields = judgedHeaders.map(({ field }) => field);
/** Parsed, because V8 copies an object of fixed shape faster than one that is built field by field. */
const noValues: JudgedHeaderFacts = JSON.parse(JSON.stringify(Object.fromEntries(fields.map((field) => [field, ""]))));

/** Letters of the lines with an order that is checked. */
const letters: { readonly [Each in Field]?: string } = {
  userAgent: "u",
  accept: "a",
  acceptLanguage: "l",
  acceptEncoding: "e",
};

/**
 * Headers that proxies and load balancers add: if one of them is present, order and case may not be the visitor's. X-Forwarded-Proto may come from
 * the backend itself.
 */
const addedByProxies = [
  "via",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-server",
  "x-real-ip",
  "x-request-id",
  "x-envoy-expected-rq-timeout-ms",
  "x-amzn-trace-id",
  "x-amz-cf-id",
  "x-cloud-trace-context",
  "x-azure-ref",
  "cf-ray",
  "cdn-loop",
  "fastly-client-ip",
  "true-client-ip",
  "proxy-connection",
];

/** What a header's name stands for: a field, or a proxy's addition. */
const known = new Map<string, Field | "proxy">(addedByProxies.map((name) => [name, "proxy"]));
for (const { name, field } of judgedHeaders) known.set(name, field);

/** The first non-empty line of a name counts. About a microsecond for a browser's 15. */
export function judgedLinesOf({ headers, isAsReceived, httpVersion }: JudgedRequest): JudgedLines {
  const values: { -readonly [Each in Field]: string } = { ...noValues };
  let order = "";
  let isOrderKnown = isAsReceived;
  let isLowerCase = true;
  let isSorted = true;
  let before = "";
  for (let index = 0; index < headers.length; index++) {
    const [name, value] = headers[index]!;
    const lower = name.toLowerCase();
    if (lower !== name) isLowerCase = false;
    // Most clients send Host first, and most proxies put it first.
    if (index > 1 && lower < before) isSorted = false;
    const isPlacedByBrave = before === "sec-gpc";
    before = lower;
    const what = known.get(lower);
    if (what === undefined) continue;
    if (what === "proxy") isOrderKnown = false;
    if (what === "proxy" || values[what] !== "" || value === "") continue;
    values[what] = value;
    // Brave writes its languages anew, behind Sec-GPC (captures of versions 117 and 127): their place says nothing of the network code.
    if (!isPlacedByBrave) order += letters[what] ?? "";
  }
  if (isSorted || !isPossible(isLowerCase, httpVersion) || isTranslated(isLowerCase, values)) isOrderKnown = false;
  return {
    values,
    order: isOrderKnown ? order : undefined,
    isLowerCase: isOrderKnown ? isLowerCase : undefined,
  };
}

/** From HTTP/2 on, names are in lower case on the wire (RFC 9113 section 8.2.1): a proxy wrote the capitals. */
function isPossible(isLowerCase: boolean, version: HttpVersion | undefined): boolean {
  return isLowerCase || (version !== "2" && version !== "3");
}

/** Load balancers write all names of HTTP/1.1 in lower case and drop Connection (HAProxy); programs do only one of these. */
function isTranslated(isLowerCase: boolean, { host, connection }: JudgedHeaderFacts): boolean {
  return isLowerCase && host !== "" && connection === "";
}
