/**
 * Builds the signature base of a request (RFC 9421, section 2.5) from the components that a signature covers. Pure. Whatever can't be
 * built makes the signature invalid, except where the caller did not report that part of the request.
 */
import { type InnerList, type Item, isInnerList, serializeInnerList, serializeItem } from "structured-headers";
import { limits } from "../limits.js";
import { dictionary, fieldValue, type HeaderLines } from "./signature-fields.js";

/** What a base is built from. Undefined: not known. */
export interface SignedMessage {
  readonly headers: HeaderLines;
  /** Whether a field that is not among them may not have been told; otherwise it is missing. */
  readonly isPartial?: boolean;
  readonly method: string | undefined;
  /** As `canonicalAuthority` returns it. */
  readonly authority: string | undefined;
  /** Without the query. */
  readonly path: string | undefined;
  /** With its `?`; "" when there is none. */
  readonly query: string;
}

/** The base; or `missing`: a component is not there or not allowed; or `unreported`: it is of the request, and not told to us. */
export type SignatureBase = { readonly base: string } | { readonly fault: "missing" | "unreported" };

/** A `Host` as `@authority` has it: lower case, without the default port of https. Undefined when it is none. */
export function canonicalAuthority(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  const authority = host.trim().toLowerCase().replace(/:443$/, "");
  return authority === "" || /[\s/?#@]/.test(authority) ? undefined : authority;
}

/** Covers no component twice, as RFC 9421 asks. `params` is the value of `@signature-params`. */
export function signatureBase(message: SignedMessage, components: readonly Item[], params: string): SignatureBase {
  if (components.length > limits.signedComponentsMax) return { fault: "missing" };
  const lines: string[] = [];
  const seen = new Set<string>();
  let isUnreported = false;
  for (const component of components) {
    if (typeof component[0] !== "string") return { fault: "missing" };
    const identifier = serializeItem(component);
    if (seen.has(identifier)) return { fault: "missing" };
    seen.add(identifier);
    const value = componentValue(message, component[0], component[1]);
    if (value === "unreported") isUnreported = true;
    else if (value === null || /[\r\n]/.test(value.text)) return { fault: "missing" };
    else lines.push(`${identifier}: ${value.text}`);
  }
  if (isUnreported) return { fault: "unreported" };
  lines.push(`"@signature-params": ${params}`);
  return { base: lines.join("\n") };
}

type ComponentValue = { readonly text: string } | "unreported" | null;

function componentValue(message: SignedMessage, name: string, params: Item[1]): ComponentValue {
  if (name === "@query-param") return queryParam(message, params);
  if (name.startsWith("@")) {
    if (params.size > 0) return null;
    const known = derived[name];
    if (known === undefined) return null;
    const text = known(message);
    return text === undefined ? "unreported" : { text };
  }
  // Names are lower case on the wire (section 2.1); any other would be a second spelling of a component.
  if (name !== name.toLowerCase()) return null;
  return field(message, name, params);
}

/** Components derived from the request (section 2.2); undefined when what they are made of is not known. */
const derived: Readonly<Record<string, (message: SignedMessage) => string | undefined>> = {
  "@method": ({ method }) => method,
  "@authority": ({ authority }) => authority,
  "@scheme": () => "https",
  "@target-uri": ({ authority, path, query }) =>
    authority === undefined || path === undefined ? undefined : `https://${authority}${path}${query}`,
  "@request-target": ({ path, query }) => (path === undefined ? undefined : path + query),
  "@path": ({ path }) => path,
  "@query": ({ query, path }) => (path === undefined ? undefined : query || "?"),
};

/** `"@query-param";name="…"`: exactly one parameter of that name, both percent-encoded anew (section 2.2.8). */
function queryParam({ query, path }: SignedMessage, params: Item[1]): ComponentValue {
  const name = params.get("name");
  if (typeof name !== "string" || params.size !== 1) return null;
  if (path === undefined) return "unreported";
  const values = [...new URLSearchParams(query)].filter(([each]) => encoded(each) === name);
  return values.length === 1 ? { text: encoded(values[0]![1]) } : null;
}

/** Percent-encoding of the URL standard's form set, a blank as `%20`. `encodeURIComponent` leaves four more characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A header field: whole, one member of a dictionary (`key`), or each line as bytes (`bs`). */
function field({ headers, isPartial }: SignedMessage, name: string, params: Item[1]): ComponentValue {
  const value = fieldValue(headers, name);
  if (value === undefined) return isPartial === true ? "unreported" : null;
  // A value as long as what is kept of one may have been longer.
  if (!name.startsWith("signature") && value.length >= limits.contextValueMax) return "unreported";
  if (params.size === 0) return { text: value };
  if (params.size > 1) return null;
  const key = params.get("key");
  if (typeof key === "string") {
    const member = dictionary(value)?.get(key);
    return member === undefined ? null : { text: serializeMember(member) };
  }
  if (params.get("bs") === true) {
    const lines = headers.filter(([each]) => each.toLowerCase() === name);
    return { text: lines.map(([, line]) => `:${Buffer.from(line.trim(), "latin1").toString("base64")}:`).join(", ") };
  }
  return null;
}

function serializeMember(member: Item | InnerList): string {
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}
