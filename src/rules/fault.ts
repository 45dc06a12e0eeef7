/** A fault in a rule's source, as a value: where, what was expected there, and what was found. */

/** The text of a fault shows at most this many characters of the source, to keep messages readable and bounded. */
const shownMax = 40;

/** A likely correction of the source: `text` replaces everything between two offsets. */
export interface RuleFix {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The first fault of a source. A value, never thrown: `isRuleFault` recognises it. */
export class RuleFault {
  /** For people: position, expectation and finding in one line. */
  readonly message: string;
  /** From 1. CR LF is one line end. */
  readonly line: number;
  /** From 1, in characters (code points) of the line. */
  readonly column: number;
  readonly expected: string;
  readonly found: string;
  /** null if no correction is likely. */
  readonly fix: RuleFix | null;

  constructor(source: string, offset: number, expected: string, found: string, fix: RuleFix | null = null) {
    const lines = source.slice(0, offset).split(/\r\n|\r|\n/);
    this.line = lines.length;
    this.column = [...lines.at(-1)!].length + 1;
    this.expected = expected;
    this.found = found;
    this.fix = fix;
    this.message = `line ${this.line}, column ${this.column}: expected ${expected}, found ${found}`;
  }
}

/** Tells a fault from a result. */
export function isRuleFault(outcome: object): outcome is RuleFault {
  return outcome instanceof RuleFault;
}

/** Characters that a reader could not see or tell apart: controls, half surrogates, and blanks other than the space. */
const invisible = /[\p{C}\p{Z}]/u;

function codePointName(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Returns a piece of source for a message: in backquotes, cut, with names for invisible characters. */
export function shown(text: string): string {
  const characters = [...text.slice(0, 2 * shownMax + 2)];
  const visible = characters
    .slice(0, shownMax)
    .map((character) => (character !== " " && invisible.test(character) ? codePointName(character) : character));
  return `\`${visible.join("")}${characters.length > shownMax ? "…" : ""}\``;
}
