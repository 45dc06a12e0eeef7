/**
 * Parts that most user agents share, each of which a session record stores as one byte: a browser's hundred bytes become five to twenty.
 * Pure functions of the text; where the bytes stand is said in session-record.ts.
 */

/**
 * Stored as a byte from 1 on: its position here, and one. Append only, since stored records hold positions, with a schema of its own, since an
 * older build keeps the byte; at most 31, since characters from a space on stand for themselves. Frozen parts of Chromium, Firefox and Safari;
 * a browser's version, and what a device adds, lies between them.
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

/** Of parts that begin alike the longest is taken. */
const anyPiece = new RegExp(
  pieces
    .toSorted((one, other) => other.length - one.length)
    .map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|"),
  "g",
);
const characterOf = new Map<string, string>(pieces.map((piece, index) => [piece, String.fromCharCode(1 + index)]));
const ownCharactersFrom = 0x20;

/** The text with its known parts as one character each; the text itself where it has none, or could be taken for a packed one. 0.6 us. */
export function packUserAgent(text: string): string {
  if (indexOfControl(text, 0) !== -1) return text;
  return text.replace(anyPiece, (piece) => characterOf.get(piece)!);
}

/** The text that `packUserAgent` was given. A character that stands for no part, as damage would leave one, is kept. 0.1 us. */
export function unpackUserAgent(text: string): string {
  let whole = "";
  let from = 0;
  for (let at = indexOfControl(text, 0); at !== -1; at = indexOfControl(text, from)) {
    whole += text.slice(from, at) + (pieces[text.charCodeAt(at) - 1] ?? text.charAt(at));
    from = at + 1;
  }
  return from === 0 ? text : whole + text.slice(from);
}

/** Of the first control character from there on; -1: there is none. */
function indexOfControl(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text.charCodeAt(at) < ownCharactersFrom) return at;
  return -1;
}
