/** Holds `spec-table.ts` to the tests: each row names a test that exists, and no section of the specification is left out. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import ts from "typescript";
import { specTable } from "./spec-table.js";
import { parsed } from "./support/sources.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** What a file says of its tests: each text, and whether what it names does anything. */
interface NamedTest {
  /** `…` for what a template fills in. */
  readonly name: string;
  readonly isEmpty: boolean;
}

function namedIn(path: string, text: string): NamedTest[] {
  const found: NamedTest[] = [];
  const visit = (node: ts.Node, parents: readonly ts.Node[]): void => {
    const name = nameOf(node);
    if (name !== undefined) found.push({ name, isEmpty: isEmptyTest(parents) });
    ts.forEachChild(node, (child) => visit(child, [node, ...parents]));
  };
  visit(parsed(path, text), []);
  return found;
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
}

/** Whether the text names a call or a case whose function calls nothing: `parents` of the text, the nearest first. */
function isEmptyTest(parents: readonly ts.Node[]): boolean {
  const named = parents.find(
    (each) => ts.isCallExpression(each) || ts.isObjectLiteralExpression(each) || ts.isArrayLiteralExpression(each),
  );
  if (named === undefined) return false;
  const parts: ts.Node[] = [];
  ts.forEachChild(named, (part) => void parts.push(ts.isPropertyAssignment(part) ? part.initializer : part));
  const bodies = parts.filter((part) => ts.isFunctionLike(part));
  return bodies.length > 0 && !bodies.some(callsSomething);
}

function callsSomething(node: ts.Node): boolean {
  return ts.isCallExpression(node) || ts.forEachChild(node, callsSomething) === true;
}

t.test("every statement names a test that exists and does something", async (t) => {
  const tests = new Map<string, readonly NamedTest[]>();
  for (const [section, statement, file, name] of specTable) {
    const path = join(root, file);
    if (!tests.has(file)) tests.set(file, existsSync(path) ? namedIn(file, readFileSync(path, "utf8")) : []);
    const named = tests.get(file)!.filter((each) => each.name === name);
    t.ok(named.length > 0, `${section} "${statement}": ${file} has no test "${name}"`);
    t.notOk(
      named.some(({ isEmpty }) => isEmpty),
      `${section} "${statement}": the test "${name}" of ${file} does nothing`,
    );
  }
});

t.test("every section that states something has rows, and no statement stands twice", async (t) => {
  const sections = new Set(specTable.map(([section]) => section.split(" ")[0]));
  for (const section of "1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 3.1 3.2 4 4.1 4.2 4.3 5 6 7 8 9".split(" ")) {
    t.ok(sections.has(section), section);
  }
  for (const section of ["agents 1", "agents 2", "agents 3"])
    t.ok(
      specTable.some((row) => row[0] === section),
      section,
    );
  for (let section = 1; section <= 7; section++) {
    t.ok(
      specTable.some((row) => row[0] === `requests ${section}`),
      `requests ${section}`,
    );
  }
  const statements = specTable.map(([section, statement]) => `${section}: ${statement}`);
  t.same(
    statements.filter((each, index) => statements.indexOf(each) !== index),
    [],
  );
});

t.test("a test without a body is found", async (t) => {
  const text = `t.test("full", async (t) => { t.ok(1); });
t.test("empty", async (t) => {});
t.test(\`of \${x}\`, { skip: true }, () => { const held = 1; });
const cases = [{ name: "case", run: async (t) => t.ok(1) }, { name: "no case", run() {} }];`;
  t.same(
    namedIn("given.ts", text).map(({ name, isEmpty }) => [name, isEmpty]),
    [
      ["full", false],
      ["empty", true],
      ["of …", true],
      ["case", false],
      ["no case", true],
    ],
  );
});
