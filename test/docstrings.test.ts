/** Holds that every export of the sources says what it is: a docstring right above it, beside the comment that opens its file. */
import t from "tap";
import ts from "typescript";
import { isExported, parsed, sourcesIn } from "./support/sources.js";

interface Export {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly hasDocstring: boolean;
}

/** Declarations that a file exports; names that it only passes on are documented where they are declared. */
function exportsOf(file: string, text: string): Export[] {
  const source = parsed(file, text);
  return source.statements.filter(isExported).flatMap((statement) => {
    const start = statement.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const hasDocstring = isDocumented(text, statement.pos, start);
    return namesOf(statement, source).map((name) => ({ name, line, hasDocstring }));
  });
}

/** A comment with an empty line below it is about the file, or about nothing. */
function isDocumented(text: string, from: number, start: number): boolean {
  const comments = ts.getLeadingCommentRanges(text, from) ?? [];
  return comments.some(({ pos, end }) => text.startsWith("/**", pos) && !/\n\s*\n/.test(text.slice(end, start)));
}

function namesOf(statement: ts.Statement, source: ts.SourceFile): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText(source));
  }
  const { name } = statement as ts.DeclarationStatement;
  return [name?.getText(source) ?? "default"];
}

/** Where exports lack a docstring, as `line name`; one docstring is enough for all signatures of a function. */
function undocumented(exports: readonly Export[]): string[] {
  const documented = new Set(exports.filter(({ hasDocstring }) => hasDocstring).map(({ name }) => name));
  return exports.filter(({ name }) => !documented.has(name)).map(({ name, line }) => `${line} ${name}`);
}

t.test("every export of src/ and workers/ has a docstring", async (t) => {
  let count = 0;
  const missing: string[] = [];
  for (const [file, text] of sourcesIn(["src", "workers"])) {
    const exports = exportsOf(file, text);
    count += exports.length;
    missing.push(...undocumented(exports).map((where) => `${file}:${where}`));
  }
  t.ok(count > 1000, `${count} exports were looked at`);
  t.same(missing, []);
});

t.test("what has no docstring right above it is found", async (t) => {
  const text = `/** What the file is for. */

export interface Bare {}
/** Says what it gives. */
export function told(): void;
export function told(value?: string): void {}
// Says why, and not what.
export const first = 1,
  second = 2;
/**
 * Says what it holds.
 */
export class Told {}
/** About nothing. */

export default class {}
function hidden(): void {}
export { hidden as shown };
export * from "./elsewhere.js";
/** Says which. */
export type Choice = "a" | "b";
`;
  t.same(undocumented(exportsOf("sample.ts", text)), ["3 Bare", "8 first", "8 second", "16 default"]);
});
