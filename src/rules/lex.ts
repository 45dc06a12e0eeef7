/**
 * First stage: turns source text into tokens. It knows only characters, no fields, types or grammar. A piece of text that is no token ends the list
 * with a `bad` token; the parser then reports the first mistake in the order of the text.
 */
import { shown } from "./fault.js";

/** What a token is. Fields, operators in letters and connectives are all `word`; `end` or `bad` comes last. */
type TokenKind = "word" | "integer" | "string" | "symbol" | "end" | "bad";

/** A piece of the source and its position. */
export interface Token {
  readonly kind: TokenKind;
  /** The token as written; a string includes its quotes. For `bad`: what was found. */
  readonly text: string;
  /** A string's content without escapes; for `bad` what was expected; otherwise the text. */
  readonly value: string;
  /** Offset in the source, in UTF-16 units. */
  readonly offset: number;
}

const blanks = /[ \t\r\n]*/y;
const wordToken = /[A-Za-z_][A-Za-z0-9_]*/y;
const integerToken = /-?[0-9]+/y;
const symbolToken = /==|!=|<=|>=|[<>(){},]/y;
/** Characters that may not follow a number: `30AND`, `1.5` and `0x1F` are one bad token, not two good ones. */
const numberTail = /[A-Za-z0-9_.]+/y;
const loneSurrogate = /\p{Surrogate}/u;

function matchAt(pattern: RegExp, source: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0] ?? "";
}

function bad(offset: number, expected: string, found: string): Token {
  return { kind: "bad", text: found, value: expected, offset };
}

function characterAt(source: string, offset: number): string {
  return String.fromCodePoint(source.codePointAt(offset)!);
}

function lexString(source: string, start: number): Token {
  let value = "";
  for (let at = start + 1; at < source.length; at++) {
    const character = source[at]!;
    if (character === '"') {
      if (loneSurrogate.test(value)) return bad(start, "well-formed Unicode", "a string with an unpaired surrogate");
      return { kind: "string", text: source.slice(start, at + 1), value, offset: start };
    }
    if (character === "\n" || character === "\r") break;
    if (character === "\\") {
      at++;
      const escaped = source[at];
      if (escaped === undefined) break;
      if (escaped !== '"' && escaped !== "\\") {
        return bad(at - 1, 'the escape \\" or \\\\', shown(`\\${characterAt(source, at)}`));
      }
      value += escaped;
    } else value += character;
  }
  return bad(start, 'a string that ends with " on its line', shown(source.slice(start)));
}

function lexInteger(source: string, offset: number, text: string): Token {
  const whole = text + matchAt(numberTail, source, offset + text.length);
  if (whole !== text) return bad(offset, "an integer", shown(whole));
  if (/^-?0[0-9]/.test(text)) return bad(offset, "an integer without leading zeros", shown(text));
  return { kind: "integer", text, value: text, offset };
}

/** What the author probably meant by a character that starts no token, from the habits of other languages. */
function expectedInstead(source: string, offset: number): string {
  switch (source[offset]) {
    case "=":
      return '"=="';
    case "!":
      return '"!=" or NOT';
    case "&":
      return "AND";
    case "|":
      return "OR";
    case "'":
      return 'a string in double quotes (")';
    default:
      return "a field, an operator, a literal or a parenthesis";
  }
}

function lexToken(source: string, offset: number): Token {
  if (offset === source.length) return { kind: "end", text: "", value: "", offset };
  if (source[offset] === '"') return lexString(source, offset);
  const integer = matchAt(integerToken, source, offset);
  if (integer !== "") return lexInteger(source, offset, integer);
  const word = matchAt(wordToken, source, offset);
  if (word !== "") return { kind: "word", text: word, value: word, offset };
  const symbol = matchAt(symbolToken, source, offset);
  if (symbol !== "") return { kind: "symbol", text: symbol, value: symbol, offset };
  return bad(offset, expectedInstead(source, offset), shown(characterAt(source, offset)));
}

/** Returns the tokens in order; the last one, and only it, is `end` or `bad`. Time and memory are linear in the source; never throws. */
export function lex(source: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  for (;;) {
    offset += matchAt(blanks, source, offset).length;
    const token = lexToken(source, offset);
    tokens.push(token);
    if (token.kind === "end" || token.kind === "bad") return tokens;
    offset += token.text.length;
  }
}
