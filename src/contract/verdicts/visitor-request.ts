/**
 * Computes the path that rules see from a visitor's request, for every caller that asks for its verdict. session-cookie.ts reads the session token.
 * Runs in the customer's backend, on edge runtimes and in the daemon; pure, without anything from Node.
 */
import { contextValueMax } from "../../limits.js";

/** Stands for a missing user agent, as in access logs. */
export const noUserAgent = "-";

/**
 * Returns the path that rules see for a request target. It is the same at every entrance (verdict read, forward-auth, middlewares, events), so no
 * spelling of a path evades a rule:
 *
 * - `http://host/path` loses scheme and host; query and fragment are cut;
 * - percent-encoded octets that form valid UTF-8 are decoded, except `/`, `\`, `%`, `?`, `#`, `;` and control characters, which stay (or become)
 *   encoded, in capitals; so does what is no valid UTF-8;
 * - `\` counts as `/`, as in the URL standard; `.` and `..` are resolved, empty segments dropped;
 * - kept: case, path parameters (`;x`), and whether there is a `/` at the end.
 *
 * At most `contextValueMax` UTF-16 units, cut after all that. Undefined for a target that is no path (`*`, `host:443`). Idempotent; never throws;
 * linear in the target's length.
 */
export function rulePath(target: string): string | undefined {
  if (plainPath.test(target)) return bounded(target);
  const end = target.search(/[?#]/);
  const slashed = (end === -1 ? target : target.slice(0, end)).replaceAll("\\", "/");
  const path = slashed.startsWith("/") ? slashed : afterAuthority(slashed);
  return path === undefined ? undefined : bounded(withoutDots(rulePathPart(path)));
}

/**
 * Returns a part of a path in the spelling of `rulePath`: octets decoded, control characters encoded. Segments, query and length are left as they are.
 */
export function rulePathPart(part: string): string {
  return decoded(unshown.test(part) ? part.replace(allUnshown, encodedUnshown) : part);
}

/** Returns a path in the form in which headers carry it: visible ASCII, of which `rulePath` makes the same path again. */
export function headerPath(path: string): string {
  return /^[!#-;=?-[\]_a-z|~]*$/.test(path) ? path : path.replace(/[^!#-;=?-[\]_a-z|~]/gu, encodedUnshown);
}

/** Most paths already have this form: nothing to decode, encode or resolve. */
const plainPath =
  /^\/(?:(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@|[\]-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@|[\]-]+)*\/?)?$/;

/** Control characters, and halves of surrogate pairs. */
const unshown = /[\p{Cc}\p{Cs}]/u;
const allUnshown = /[\p{Cc}\p{Cs}]/gu;

/** Half a surrogate pair can't be encoded. */
function encodedUnshown(character: string): string {
  return /^\p{Cs}$/u.test(character) ? "\uFFFD" : encodeURIComponent(character);
}

/** Returns the path of an absolute-form target, "/" if it has none. */
function afterAuthority(target: string): string | undefined {
  const authority = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*/.exec(target)?.[0];
  return authority === undefined ? undefined : target.slice(authority.length) || "/";
}

const percent = 0x25;

/**
 * One pass from the left, on a stack of UTF-16 units: what a decoded character completes (`%6%33` is `%63`) is decoded as well. So no `%XX` remains
 * but those of octets that stay encoded.
 */
function decoded(path: string): string {
  const first = path.indexOf("%");
  if (first === -1) return path;
  const units = new Uint16Array(path.length);
  let length = 0;
  for (let at = 0; at < path.length; at++) {
    units[length++] = path.charCodeAt(at);
    while (length >= 3 && units[length - 3] === percent) {
      const octet = octetBefore(units, length);
      if (octet < 0) break;
      if (octet >= 0x80) {
        length = takeOctet(units, length, octet);
        break;
      }
      if (staysEncoded(octet)) {
        writeOctet(units, length - 3, octet);
        break;
      }
      length -= 2;
      units[length - 1] = octet;
    }
  }
  return textOf(units, length);
}

/** The octet that the last three units encode, or -1. */
function octetBefore(units: Uint16Array, length: number): number {
  if (length < 3 || units[length - 3] !== percent) return -1;
  const high = hexValue(units[length - 2]!);
  const low = hexValue(units[length - 1]!);
  return high < 0 || low < 0 ? -1 : (high << 4) | low;
}

function hexValue(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Delimiters that would change what the path means, and control characters. */
function staysEncoded(octet: number): boolean {
  return octet < 0x20 || octet === 0x7f || delimiters.has(octet);
}

const delimiters: ReadonlySet<number> = new Set(Array.from("/\\%?#;", (each) => each.charCodeAt(0)));

function writeOctet(units: Uint16Array, at: number, octet: number): void {
  const hex = octet.toString(16).toUpperCase().padStart(2, "0");
  units[at + 1] = hex.charCodeAt(0);
  units[at + 2] = hex.charCodeAt(1);
}

/** Least code point of a UTF-8 sequence with so many continuation octets: lesser ones are overlong, and no UTF-8. */
const leastOf = [0, 0x80, 0x800, 0x10000];

/** Decodes the last octet with those before it if they form a character; returns the new length. */
function takeOctet(units: Uint16Array, length: number, octet: number): number {
  writeOctet(units, length - 3, octet);
  let point = 0;
  let each = octet;
  let start = length;
  for (let following = 0; following <= 3; following++) {
    start -= 3;
    if (each >= 0xc0) {
      const isLead = following > 0 && each < 0xf8 && following === (each >= 0xf0 ? 3 : each >= 0xe0 ? 2 : 1);
      point |= (each & (0x3f >> following)) << (6 * following);
      return isLead && isShown(point, leastOf[following]!) ? writePoint(units, start, point) : length;
    }
    point |= (each & 0x3f) << (6 * following);
    each = octetBefore(units, start);
    if (each < 0x80) return length;
  }
  return length;
}

/** Whether a code point is one that UTF-8 has, in its shortest form, and no control character. */
function isShown(point: number, least: number): boolean {
  return point >= least && point >= 0xa0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

function writePoint(units: Uint16Array, at: number, point: number): number {
  if (point < 0x10000) {
    units[at] = point;
    return at + 1;
  }
  units[at] = 0xd800 + ((point - 0x10000) >> 10);
  units[at + 1] = 0xdc00 + ((point - 0x10000) & 0x3ff);
  return at + 2;
}

const unitsAtOnce = 4096;

function textOf(units: Uint16Array, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += unitsAtOnce) {
    text += String.fromCharCode(...units.subarray(at, Math.min(at + unitsAtOnce, length)));
  }
  return text;
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  const isFolder = kept.length > 0 && /^\.{0,2}$/.test(segments.at(-1) ?? "");
  return `/${kept.join("/")}${isFolder ? "/" : ""}`;
}

/** Cuts no character or encoded octet in two. A cut that leaves only dots in the last segment removes them as well. */
function bounded(path: string): string {
  if (path.length <= contextValueMax) return path;
  const isPair = path.codePointAt(contextValueMax - 1)! > 0xffff;
  const cut = path.slice(0, isPair ? contextValueMax - 1 : contextValueMax);
  const octet = cut.lastIndexOf("%");
  const isOctetCut = octet >= contextValueMax - 2 && /^%[0-9A-F]{2}/.test(path.slice(octet, octet + 3));
  return (isOctetCut ? cut.slice(0, octet) : cut).replace(/\/\.{1,2}$/, "/");
}
