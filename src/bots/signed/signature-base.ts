/**
 * Builds the signature base of a request (RFC 9421, section 2.5) from the components that a signature covers. Pure. Whatever can't be
 * built makes the signature invalid, except where the caller did not report that part of the request, or where verdictd does not implement it.
 */
import { type InnerList, type Item, isInnerList, serializeInnerList, serializeItem } from "structured-headers";
import { limits } from "../../limits.js";
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

/** The message with what was read of it: however many components ask, each field and the query are parsed once. */
export class ReadMessage {
  readonly message: SignedMessage;
  readonly #values = new Map<string, string | undefined>();
  readonly #dictionaries = new Map<string, ReturnType<typeof dictionary>>();
  readonly #encodedLines = new Map<string, string>();
  #parameters: Map<string, readonly string[]> | undefined;

  constructor(message: SignedMessage) {
    this.message = message;
  }

  value(name: string): string | undefined {
    if (!this.#values.has(name)) this.#values.set(name, fieldValue(this.message.headers, name));
    return this.#values.get(name);
  }

  /** `value`: that of the field. */
  dictionary(name: string, value: string): ReturnType<typeof dictionary> {
    const known = this.#dictionaries.get(name);
    if (known !== undefined) return known;
    const parsed = dictionary(value);
    this.#dictionaries.set(name, parsed);
    return parsed;
  }

  /** Each line as a byte sequence. */
  encodedLines(name: string): string {
    const known = this.#encodedLines.get(name);
    if (known !== undefined) return known;
    const lines = this.message.headers.filter(([each]) => each.length === name.length && each.toLowerCase() === name);
    const text = lines.map(([, line]) => `:${Buffer.from(line.trim(), "latin1").toString("base64")}:`).join(", ");
    this.#encodedLines.set(name, text);
    return text;
  }

  /** Values of the query's parameters of this name, which is encoded. */
  parameters(name: string): readonly string[] {
    this.#parameters ??= parametersOf(this.message.query);
    return this.#parameters.get(decodedName(name)) ?? [];
  }
}

function parametersOf(query: string): Map<string, readonly string[]> {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = parameters.get(name);
    // Of more than one the number does not matter.
    if (values === undefined) parameters.set(name, [value]);
    else if (values.length === 1) values.push(value);
  }
  return parameters;
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * The base; or `missing`: a component is not there or not allowed; or `unverifiable`: it is of the request and not told to us, it is of a kind that
 * verdictd does not implement, or there are more than it works on.
 */
type SignatureBase = { readonly base: string } | { readonly fault: "missing" | "unverifiable" };

/** A `Host` as `@authority` has it: lower case, without the default port of https. Undefined when it is none. */
export function canonicalAuthority(host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  const authority = host.trim().toLowerCase().replace(/:443$/, "");
  return authority === "" || /[\s/?#@]/.test(authority) ? undefined : authority;
}

/** Covers no component twice, as RFC 9421 asks. `params` is the value of `@signature-params`. */
export function signatureBase(read: ReadMessage, components: readonly Item[], params: string): SignatureBase {
  if (components.length > limits.signedComponentsMax) return { fault: "unverifiable" };
  const lines: string[] = [];
  const seen = new Set<string>();
  let isUnverifiable = false;
  for (const component of components) {
    if (typeof component[0] !== "string") return { fault: "missing" };
    const identifier = serializeItem(component);
    if (seen.has(identifier)) return { fault: "missing" };
    seen.add(identifier);
    const value = componentValue(read, component[0], component[1]);
    if (value === "unverifiable") isUnverifiable = true;
    else if (value === null || /[\r\n]/.test(value.text)) return { fault: "missing" };
    else lines.push(`${identifier}: ${value.text}`);
  }
  if (isUnverifiable) return { fault: "unverifiable" };
  lines.push(`"@signature-params": ${params}`);
  return { base: lines.join("\n") };
}

type ComponentValue = { readonly text: string } | "unverifiable" | null;

function componentValue(read: ReadMessage, name: string, params: Item[1]): ComponentValue {
  // Of responses, and of the signature itself: no request may cover them (sections 2.2.9, 2.3 and 2.4).
  if (params.has("req") || name === "@status" || name === "@signature-params") return null;
  if (name === "@query-param") return queryParam(read, params);
  if (name.startsWith("@")) {
    const known = Object.hasOwn(derived, name) ? derived[name] : undefined;
    if (known === undefined || params.size > 0) return "unverifiable";
    const text = known(read.message);
    return text === undefined ? "unverifiable" : { text };
  }
  // Names are lower case on the wire (section 2.1); any other would be a second spelling of a component.
  if (name !== name.toLowerCase()) return null;
  return field(read, name, params);
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
function queryParam(read: ReadMessage, params: Item[1]): ComponentValue {
  const name = params.get("name");
  if (typeof name !== "string") return null;
  if (params.size !== 1 || read.message.path === undefined) return "unverifiable";
  if (encoded(decodedName(name)) !== name) return null;
  const values = read.parameters(name);
  return values.length === 1 ? { text: encoded(values[0]!) } : null;
}

/** Percent-encoding of the URL standard's form set, a blank as `%20`. `encodeURIComponent` leaves four more characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A header field: whole, one member of a dictionary (`key`), or each line as bytes (`bs`). Other forms (`sf`, `tr`) are not implemented. */
function field(read: ReadMessage, name: string, params: Item[1]): ComponentValue {
  const value = read.value(name);
  if (value === undefined) return read.message.isPartial === true ? "unverifiable" : null;
  // A value as long as what is kept of one may have been longer.
  if (!name.startsWith("signature") && value.length >= limits.contextValueMax) return "unverifiable";
  if (params.size === 0) return { text: value };
  const key = params.get("key");
  if (params.size === 1 && typeof key === "string") {
    const member = read.dictionary(name, value)?.get(key);
    return member === undefined ? null : { text: serializeMember(member) };
  }
  return params.size === 1 && params.get("bs") === true ? { text: read.encodedLines(name) } : "unverifiable";
}

function serializeMember(member: Item | InnerList): string {
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}
