/**
 * Reads the fields of signed requests (RFC 9421, section 4, and the drafts' `Signature-Agent`). All of it is written by visitors: nothing
 * here throws, and the work is bounded by the characters that are kept.
 */
import {
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  parseItem,
  serializeInnerList,
} from "structured-headers";
import { limits } from "../../limits.js";
import { agentOrigin } from "./agents.js";

/** Header lines as they were received. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** One signature with `tag="web-bot-auth"`. */
export interface TaggedSignature {
  readonly label: string;
  /** The covered components in their order. */
  readonly components: readonly Item[];
  /** Value of `@signature-params`. */
  readonly params: string;
  /** Whole seconds since the epoch; undefined when it is missing or something else. */
  readonly created: number | undefined;
  readonly expires: number | undefined;
  readonly keyId: string | undefined;
  readonly nonce: string | undefined;
  /** Undefined when there is none; null when it is no text. */
  readonly algorithm: string | null | undefined;
  /** The signature itself; null when `Signature` has none of this label. */
  readonly bytes: Uint8Array | null;
}

/** `Signature-Agent`: origins of directories by the key of their member; the string form has one under "". */
export interface AgentField {
  readonly form: "string" | "dictionary";
  readonly origins: ReadonlyMap<string, string>;
}

const tag = "web-bot-auth";

/** The values of all lines of a field (lower-case name) as one, as RFC 9110 joins them; undefined when there is none. */
export function fieldValue(headers: HeaderLines, name: string): string | undefined {
  let joined: string | undefined;
  for (const [each, value] of headers) {
    if (each.length !== name.length || each.toLowerCase() !== name) continue;
    joined = joined === undefined ? value.trim() : `${joined}, ${value.trim()}`;
    if (joined.length > limits.signatureFieldMax) return joined.slice(0, limits.signatureFieldMax);
  }
  return joined;
}

/** Whether a `Signature-Input` may hold a signature of this tag: most requests are done with here. */
export function mayBeTagged(signatureInput: string): boolean {
  return signatureInput.includes(tag);
}

/** The signatures of the tag, in the order of the field; none when it is no dictionary, since then no tag can be read. 20 us for one. */
export function readSignatures(signatureInput: string, signature: string | undefined): TaggedSignature[] {
  const inputs = dictionary(signatureInput);
  const values = signature === undefined ? null : dictionary(signature);
  const found: TaggedSignature[] = [];
  for (const [label, member] of inputs ?? []) {
    if (!isInnerList(member) || member[1].get("tag") !== tag) continue;
    const read = readSignature(label, member, values?.get(label));
    if (read !== null) found.push(read);
  }
  return found;
}

function readSignature(label: string, member: InnerList, value: Item | InnerList | undefined): TaggedSignature | null {
  const [components, params] = member;
  const seconds = (name: string): number | undefined => {
    const time = params.get(name);
    return typeof time === "number" && Number.isInteger(time) ? time : undefined;
  };
  const text = (name: string): string | undefined => {
    const value = params.get(name);
    return typeof value === "string" ? value : undefined;
  };
  const bytes = value === undefined || isInnerList(value) ? undefined : value[0];
  let serialized: string;
  try {
    serialized = serializeInnerList(member);
  } catch {
    return null;
  }
  return {
    label,
    components,
    params: serialized,
    created: seconds("created"),
    expires: seconds("expires"),
    keyId: text("keyid"),
    nonce: text("nonce"),
    algorithm: params.has("alg") ? (text("alg") ?? null) : undefined,
    bytes: bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : null,
  };
}

/**
 * `Signature-Agent` in either form, with the members that name an https origin; others, and those of a `type` other than `directory`,
 * are left out as the draft says. Null when the field is in neither form.
 */
export function readAgentField(value: string): AgentField | null {
  const origins = new Map<string, string>();
  if (value.startsWith('"')) {
    const text = item(value)?.[0];
    if (typeof text !== "string") return null;
    const origin = agentOrigin(text);
    if (origin !== null) origins.set("", origin);
    return { form: "string", origins };
  }
  const members = dictionary(value);
  if (members === null) return null;
  for (const [key, member] of members) {
    if (isInnerList(member) || typeof member[0] !== "string") continue;
    const type = member[1].get("type");
    if (type !== undefined && String(type) !== "directory") continue;
    const origin = agentOrigin(member[0]);
    if (origin !== null) origins.set(key, origin);
  }
  return { form: "dictionary", origins };
}

/** A dictionary (RFC 9651), null when the text is none. */
export function dictionary(text: string): ReadonlyMap<string, Item | InnerList> | null {
  try {
    return parseDictionary(text);
  } catch {
    return null;
  }
}

function item(text: string): Item | null {
  try {
    return parseItem(text);
  } catch {
    return null;
  }
}
