/**
 * Address ranges from which no crawler of the public internet comes (the IANA special-purpose registries, RFC 6890). Whoever is behind a
 * proxy that is not trusted seems to come from one of them, so a catalogue must not hold them. Ranges for documentation are left
 * out: nobody comes from there, and examples use them.
 */
import { type Cidr, isCidrFault, parseCidr } from "./cidr.js";

const special: readonly Cidr[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
  // Of IPv6 only 2000::/3 is given out, and within it Teredo and 6to4 hold IPv4 addresses of anybody's.
  "::/3",
  "2001::/32",
  "2002::/16",
  "4000::/2",
  "8000::/1",
].map((text) => {
  const cidr = parseCidr(text);
  if (isCidrFault(cidr)) throw new Error(`${text} ${cidr.reason}`);
  return cidr;
});

/** The special range that this one overlaps, as text; null for none. */
export function specialRange({ family, first, last }: Cidr): string | null {
  return special.find((each) => each.family === family && first <= each.last && last >= each.first)?.text ?? null;
}
