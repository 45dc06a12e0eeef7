/**
 * Reads and writes IP addresses as text, strictly: four decimal parts without leading zeros, or RFC 4291 text for IPv6; no
 * zone. The first step of every lookup, so it allocates nothing on the IPv4 path. It knows nothing of ranges or of DNS.
 */
import { parseV4 } from "./ipv4.js";

export { parseV4 };

const DOT = 46;
const COLON = 58;

/**
 * Reads IPv6 text into eight 16-bit groups; false when it is not an IPv6 address (`groups` is then undefined in content).
 * Takes the full form that uWebSockets.js prints, `::`, and a dotted IPv4 tail.
 */
export function parseV6(text: string, groups: Uint16Array): boolean {
  const length = text.length;
  if (length < 2 || length > 45) return false;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false;
    gap = 0;
    at = 2;
  }
  while (at < length) {
    if (count === 8) return false;
    const start = at;
    let value = 0;
    for (let digit = hexDigit(text, at); digit >= 0 && at - start < 5; digit = hexDigit(text, at)) {
      value = value * 16 + digit;
      at++;
    }
    if (at < length && text.charCodeAt(at) === DOT) {
      const tail = count <= 6 ? parseV4(text.slice(start)) : -1;
      if (tail < 0) return false;
      groups[count++] = tail >>> 16;
      groups[count++] = tail;
      break;
    }
    if (at === start || at - start > 4) return false;
    groups[count++] = value;
    if (at === length) break;
    if (text.charCodeAt(at) !== COLON) return false;
    at++;
    if (at === length) return false;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    }
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  groups.copyWithin(8 - (count - gap), gap, count);
  groups.fill(0, gap, 8 - (count - gap));
  return true;
}

/** The value of one hexadecimal digit, or -1 (also beyond the end). */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** The IPv4 address inside an IPv4-mapped IPv6 one (`::ffff:0:0/96`), or -1. */
export function mappedV4(groups: Uint16Array): number {
  for (let index = 0; index < 5; index++) if (groups[index] !== 0) return -1;
  return groups[5] === 0xffff ? groups[6]! * 65_536 + groups[7]! : -1;
}

/** Dotted decimal of an address as a number from 0 to 2^32 - 1. */
export function formatV4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** Text of RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
export function formatV6(groups: Uint16Array): string {
  let runStart = -1;
  let runLength = 1;
  for (let index = 0; index < 8; index++) {
    let end = index;
    while (end < 8 && groups[end] === 0) end++;
    if (end - index > runLength) {
      runStart = index;
      runLength = end - index;
    }
    if (end > index) index = end;
  }
  let text = "";
  for (let index = 0; index < 8; index++) {
    if (index === runStart) {
      text += "::";
      index += runLength - 1;
    } else {
      if (text !== "" && !text.endsWith(":")) text += ":";
      text += groups[index]!.toString(16);
    }
  }
  return text;
}

/**
 * The one spelling of an address used everywhere in verdictd: IPv4 dotted, IPv4-mapped IPv6 as IPv4, IPv6 by RFC 5952.
 * "" when the text is no address. Canonical IPv4 comes back as it is; IPv6 costs about 0.3 µs.
 */
export function canonicalAddress(text: string): string {
  if (parseV4(text) >= 0) return text;
  const groups = new Uint16Array(8);
  if (!parseV6(text, groups)) return "";
  const v4 = mappedV4(groups);
  return v4 >= 0 ? formatV4(v4) : formatV6(groups);
}

/** The name that a PTR query asks for: `4.3.2.1.in-addr.arpa`, or the nibbles below `ip6.arpa`. "" when the text is no address. */
export function reverseName(ip: string): string {
  const canonical = canonicalAddress(ip);
  if (canonical === "") return "";
  if (parseV4(canonical) >= 0) return `${canonical.split(".").reverse().join(".")}.in-addr.arpa`;
  const groups = new Uint16Array(8);
  parseV6(canonical, groups);
  const nibbles = Array.from(groups, (group) => group.toString(16).padStart(4, "0")).join("");
  return `${[...nibbles].reverse().join(".")}.ip6.arpa`;
}
