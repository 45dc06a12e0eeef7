/**
 * Holds that every export of the sources says what it is, in a docstring right above it, beside the comment that opens its file; and that its
 * name stands for nothing else.
 */
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

/** Names that several files may export, and why. */
const sharedNames = new Map([
  [
    "commitFrame",
    "one task, of the scoring threads of a host and of those of a cluster: the pool calls it by this name",
  ],
  ["escapeHtml", "the same thing: the middleware's package takes nothing from the pages of `/docs`"],
  ["verdictd", "what the user of each framework imports from the framework's own entry point"],
]);

/** Names that more than one file declares and exports, with these files. */
function ambiguous(exportsByFile: ReadonlyMap<string, readonly Export[]>): Map<string, string[]> {
  const filesByName = new Map<string, string[]>();
  for (const [file, exports] of exportsByFile) {
    // A type and a value, or several signatures, may have one name in one file.
    for (const name of new Set(exports.map(({ name }) => name))) {
      filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
    }
  }
  return new Map([...filesByName].filter(([, files]) => files.length > 1));
}

const exportsByFile = new Map(
  Array.from(sourcesIn(["src", "workers"]), ([file, text]) => [file, exportsOf(file, text)] as const),
);

t.test("every export of src/ and workers/ has a docstring", async (t) => {
  const missing = [...exportsByFile].flatMap(([file, exports]) =>
    undocumented(exports).map((where) => `${file}:${where}`),
  );
  const count = [...exportsByFile.values()].flat().length;
  t.ok(count > 1000, `${count} exports were looked at`);
  t.same(missing, []);
});

t.test("an exported name of src/ and workers/ stands for one thing", async (t) => {
  const found = ambiguous(exportsByFile);
  t.same(
    [...found].filter(([name]) => !sharedNames.has(name)),
    [],
    "rename one of them after what sets it apart",
  );
  t.same(
    [...sharedNames.keys()].filter((name) => !found.has(name)),
    [],
    "every exception is still needed",
  );
});

t.test("a name that two files export is found", async (t) => {
  const exportsOfText = (text: string): Export[] => exportsOf("sample.ts", text);
  const sample = new Map([
    ["a.ts", exportsOfText("export type Kind = 1; export const Kind = 1; export const own = 1;")],
    ["b.ts", exportsOfText('export function Kind() {}\nexport { own } from "./a.js"; const hidden = 1;')],
    ["c.ts", exportsOfText("export class Other {} const hidden = 2;")],
  ]);
  t.same([...ambiguous(sample)], [["Kind", ["a.ts", "b.ts"]]]);
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

t.test("every limit has a comment of its own: its unit, and why it is as large", async (t) => {
  const [path, text] = [...sourcesIn(["src"])].find(([name]) => name === "src/limits.ts")!;
  const source = parsed(path, text);
  const rows: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      for (const row of node.properties) {
        const comments = ts.getLeadingCommentRanges(text, row.pos) ?? [];
        if (!text.startsWith("/**", comments.at(-1)?.pos)) rows.push(row.getText(source));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  t.same(rows, []);
});
