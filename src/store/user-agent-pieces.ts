/**
 * Parts that most user agents share, each of which a session record stores as one byte: a browser's hundred bytes become five to twenty.
 * Pure functions of the text; where the bytes stand is said in session-record.ts.
 */
import { limits } from "../limits.js";

/**
 * Stored as a byte from 1 on: its position here, and one. Append only, since stored records hold positions, and at most 31: characters from a
 * space on stand for themselves. A longer part comes before one that it contains. Frozen parts of Chromium, Firefox and Safari; a
 * browser's version, and what a device adds, lies between them.
 */
const pieces = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/",
  " like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/",
  ") AppleWebKit/605.1.15 (KHTML, like Gecko) Version/",
  " like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ",
  ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  ") AppleWebKit/537.36 (KHTML, like Gecko) ",
  "Mozilla/5.0 (iPhone; CPU iPhone OS ",
  "Mozilla/5.0 (iPad; CPU OS ",
  "Mozilla/5.0 (Linux; Android ",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X ",
  "Mozilla/5.0 (X11; Linux x86_64; rv:",
  "Mozilla/5.0 (X11; ",
  "Mozilla/5.0 (compatible; ",
  "Mozilla/5.0 (",
  ") Gecko/20100101 Firefox/",
  ".0.0.0 Mobile Safari/537.36",
  ".0.0.0 Safari/537.36",
  " Mobile Safari/537.36",
  " Mobile/15E148 Safari/604.1",
  " Safari/605.1.15",
  " Safari/604.1",
  " Safari/537.36",
  ".0.0.0",
] as const;

const firstOwnCharacter = 0x20;

/** Few user agents make up most traffic. A memo starts over when it is full: half a megabyte at most. */
const memoMax = 500;
const packedTexts = new Map<string, string>();
const unpackedTexts = new Map<string, string>();

/** Returns the value. The memo has copies: what is cut out of a text keeps all of that text in memory. */
function remember(memo: Map<string, string>, text: string, value: string): string {
  if (memo.size >= memoMax) memo.clear();
  memo.set(Buffer.from(text).toString(), Buffer.from(value).toString());
  return value;
}

/**
 * The text with its known parts as one character each; the text itself where it has none, could be taken for a packed one, or is longer
 * than any that a session keeps.
 */
export function packUserAgent(text: string): string {
  if (text.length > limits.contextValueMax) return text;
  return packedTexts.get(text) ?? remember(packedTexts, text, packed(text));
}

function packed(text: string): string {
  if (hasControlCharacters(text)) return text;
  let rest = text;
  for (const [index, piece] of pieces.entries()) rest = rest.replace(piece, String.fromCharCode(1 + index));
  return rest;
}

/** The text that `packUserAgent` was given. A character that stands for no part, as damage would leave one, is kept. */
export function unpackUserAgent(text: string): string {
  return unpackedTexts.get(text) ?? remember(unpackedTexts, text, unpacked(text));
}

function unpacked(text: string): string {
  let whole = "";
  for (const character of text) whole += pieces[character.charCodeAt(0) - 1] ?? character;
  return whole;
}

function hasControlCharacters(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < firstOwnCharacter) return true;
  return false;
}
