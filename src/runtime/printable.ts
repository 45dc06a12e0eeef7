/**
 * Text of others on its way to a terminal or a log: characters that a terminal obeys, or that make a line read otherwise than it is
 * written, become escapes. Knows no command and no format but that of JSON.
 */

/**
 * C0, DEL and C1 controls, line and paragraph separators, controls of the writing direction (Unicode's Bidi_Control), halves of a surrogate
 * pair, and the byte order mark.
 */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\ufeff]/gu;
const unprintableButLineBreaks = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\ufeff]/gu;

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Whether something of the text would be escaped in a line of its own. */
export function isPrintable(text: string): boolean {
  return text.search(unprintable) < 0;
}

/** The text as part of one line: also its line breaks are escapes, such as `\u000a`. */
export function printableLine(text: string): string {
  return text.replace(unprintable, escapeOf);
}

/**
 * A text of several lines. The same of JSON, or of double-quoted YAML, is JSON or YAML of the same value: there such a character can only be
 * part of a string.
 */
export function printableText(text: string): string {
  return text.replace(unprintableButLineBreaks, escapeOf);
}

/** A value as JSON without any such character. */
export function printableJson(value: unknown): string {
  return printableText(JSON.stringify(value));
}
