/** Whether anybody may have a name right below a domain, by the public suffix list. The only file that knows the package. */
import { getPublicSuffix } from "tldts";

/** Suffixes of registries (`co.uk`) and of hosters whose customers get names (`github.io`, `compute.amazonaws.com`). Lower case. */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true, validateHostname: false }) === domain;
}
