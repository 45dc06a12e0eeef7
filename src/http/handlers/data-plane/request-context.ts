/** Values of a request context in the form that rules see; a text that is no such value counts as missing. */
import { canonicalHost } from "../../../contract/values/host.js";
import { boundedValue } from "../../../ingest/frame.js";

/** Returns 1 to 20 ASCII letters in capitals; undefined for anything that is no method. */
export function goodMethod(text: string): string | undefined {
  return /^[A-Za-z]{1,20}$/.test(text) ? text.toUpperCase() : undefined;
}

/** Returns a host in the one spelling of `canonicalHost`; undefined for an empty one. */
export function goodHost(text: string): string | undefined {
  return canonicalHost(boundedValue(text)) || undefined;
}
