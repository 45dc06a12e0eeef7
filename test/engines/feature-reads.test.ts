/** Holds that nothing is stored of a session which nothing reads: a feature field is there for evidence, or for the folding of another. */
import t from "tap";
import ts from "typescript";
import { countFields, factFields, textFields } from "../../src/engines/feature-fields.js";
import { parsed, sourcesIn } from "../support/sources.js";

/** The field that `F.name` or `T.name` is the position of; null for any other node. */
function fieldOf(node: ts.Node): string | null {
  if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return null;
  return ["F", "T"].includes(node.expression.text) ? node.name.text : null;
}

/** The field that an assignment writes; null for any other node. */
function writtenBy(node: ts.Node): string | null {
  if (!ts.isBinaryExpression(node)) return null;
  const kind = node.operatorToken.kind;
  if (kind < ts.SyntaxKind.FirstAssignment || kind > ts.SyntaxKind.LastAssignment) return null;
  const target = ts.isNonNullExpression(node.left) ? node.left.expression : node.left;
  return ts.isElementAccessExpression(target) ? fieldOf(target.argumentExpression) : null;
}

/** The fields that a file reads. Not a read: what is assigned, also from its own former value; a setter's position; a list of sums to halve. */
function readsIn(path: string, text: string): Set<string> {
  const found = new Set<string>();
  const isFolding = path.includes("/fold-");
  const visit = (node: ts.Node, writing: readonly string[]): void => {
    const field = fieldOf(node);
    if (field !== null && !writing.includes(field)) found.add(field);
    if (isFolding && ts.isArrayLiteralExpression(node) && node.elements.some((each) => fieldOf(each) !== null)) return;
    const written = writtenBy(node);
    const inner = written === null ? writing : [...writing, written];
    const isSetter = ts.isCallExpression(node) && /^set(Text|Number|Flag|Names)$/.test(node.expression.getText(source));
    ts.forEachChild(node, (child) => {
      if (isSetter && child === node.arguments[1] && fieldOf(child) !== null) return;
      visit(child, inner);
    });
  };
  const source = parsed(path, text);
  visit(source, []);
  return found;
}

t.test("all feature fields are read: what nothing reads is not stored", async (t) => {
  const read = new Set<string>();
  for (const [path, text] of sourcesIn(["src", "workers", "scripts"])) {
    for (const field of readsIn(path, text)) read.add(field);
  }
  const names = [...countFields, ...factFields, ...textFields].map(({ name }) => name);
  // The numbered fields of a group are reached from its first one.
  const isRead = (name: string): boolean => read.has(name) || read.has(name.replace(/\d$/, "0"));
  t.same(
    names.filter((name) => !isRead(name)),
    [],
  );
});

t.test("what only writes a field does not count as reading it", async (t) => {
  const text = `
    n[F.counted]! += 1;
    n[F.most] = Math.max(n[F.most]!, n[F.source]!);
    setText(features, T.told, payload.told);
    setNumber(n, F.kept, n[F.other]);
    halve(n, [F.halved]);
  `;
  t.same([...readsIn("src/engines/fold-x.ts", text)].sort(), ["other", "source"]);
  t.same([...readsIn("src/engines/evidence.ts", "const facts = [F.cpu, n[F.memory]];")].sort(), ["cpu", "memory"]);
});
