/** Holds that functions, constants, classes and types are exported only for other files, and all but types for other files than tests. */
import { dirname, join, normalize } from "node:path";
import t from "tap";
import ts from "typescript";
import { isExported, parsed, sourcesIn } from "./support/sources.js";

/** What the package's users import (package.json names these), what threads start with and what browsers load. */
const entries: readonly string[] = [
  "src/client/client.ts",
  "src/middleware/express.ts",
  "src/middleware/fastify.ts",
  "src/middleware/fetch.ts",
  "src/sdk/browser.ts",
  "src/sdk/challenge/main.ts",
  "workers/cluster-scoring.ts",
  "workers/scoring.ts",
];

/** What only tests import, and why it is no detail of its file. */
const reasons: Readonly<Record<string, string>> = {
  "src/alerting/receiver-address.ts addressFault": "addresses are held against it without a name server",
  "src/cluster-store/permissions.ts storeAclRules": "the documentation and the examples of deployments state the rules",
  "src/cluster/resp-parser.ts defaultBounds": "tests lower one bound at a time",
  "src/config/config.ts camelCase": "every flag's name in code is held against its name on the command line",
  "src/contract/verdicts/verdict.ts loggedInPolicies": "each policy is held against the specification's table",
  "src/control-plane/accounts/projects.ts defaultBotSettings": "projects of tests begin with them",
  "src/engines/path-corners.ts cornerHashesPerBatchMax": "a test fills a batch",
  "src/engines/score.ts firedDetections": "each detection is tested with evidence of its own",
  "src/ingest/start-ticket.ts checkTicket": "what tickets state is tested without sessions",
  "src/middleware/challenge-page.ts challengeStyle": "the page's policy has to permit it",
  "src/net/network.ts networkOf": "the networks of each size are held against another library",
  "src/network/fact-source.ts emptySource": "packed facts of no address are a case of their own",
  "src/rules/fields.ts requestFieldNames": "held against the fields that lack a value without a request",
  "src/runtime/log.ts scrubbed": "what it takes out of texts is tested case by case",
  "src/bots/signed/jwks.ts agentKey": "verifies the vectors of the standard",
  "src/bots/signed/jwks.ts testKeyThumbprints": "must be those of the standard's keys",
  "src/store/audit-bound.ts surplusChanges": "logs that are full are made of a hundred changes",
  "src/verdict/resolve.ts softenedAction": "all policies and actions are tested",
};

interface File {
  readonly exports: readonly string[];
  /** Interfaces and types. Tests may need what a caller never has to name. */
  readonly types: readonly string[];
  /** File and name; `*` is every name of the file. */
  readonly imports: readonly (readonly [file: string, name: string])[];
}

/** What a file exports, and what it takes from files of the project. */
function read(path: string, text: string): File {
  const source = parsed(path, text);
  const exports: string[] = [];
  const types: string[] = [];
  const imports: [string, string][] = [];
  for (const statement of source.statements) {
    if (isExported(statement)) exports.push(...valuesOf(statement, source));
    if (isExported(statement) && (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)))
      types.push(statement.name.text);
    const from = (statement as ts.ImportDeclaration | ts.ExportDeclaration).moduleSpecifier;
    if (from === undefined || !ts.isStringLiteral(from)) continue;
    for (const name of takenBy(statement)) imports.push([target(path, from.text), name]);
  }
  // Imports at run time, and modules a thread or a page starts with: by their address.
  for (const [, address] of text.matchAll(/(?:\bimport\(|new URL\()\s*["'](\.[^"']+)["']/g)) {
    imports.push([target(path, address!), "*"]);
  }
  return { exports: [...new Set(exports)], types, imports };
}

function valuesOf(statement: ts.Statement, source: ts.SourceFile): string[] {
  if (ts.isVariableStatement(statement)) {
    const { declarations } = statement.declarationList;
    return declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : name.elements.map((element) => element.getText(source)),
    );
  }
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement)) {
    const isDefault = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
    return [isDefault ? "default" : (statement.name?.text ?? "default")];
  }
  return ts.isExportAssignment(statement) ? ["default"] : [];
}

/** Names that an import or a passing on takes from its file. */
function takenBy(statement: ts.Statement): string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause } = statement;
    return exportClause !== undefined && ts.isNamedExports(exportClause) ? exportClause.elements.map(taken) : ["*"];
  }
  if (!ts.isImportDeclaration(statement)) return [];
  const bindings = statement.importClause?.namedBindings;
  const names = statement.importClause?.name === undefined ? [] : ["default"];
  if (bindings === undefined) return names;
  return ts.isNamedImports(bindings) ? [...names, ...bindings.elements.map(taken)] : ["*"];
}

function taken({ propertyName, name }: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (propertyName ?? name).text;
}

/** The file an address means, without its ending. */
function target(path: string, address: string): string {
  return address.startsWith(".") ? bare(normalize(join(dirname(path), address))) : address;
}

function bare(path: string): string {
  return path.replace(/\.[jt]sx?$/, "");
}

/** Exports that none of the files takes which `counts` names, as `file name`. */
function unused(
  files: ReadonlyMap<string, File>,
  counts: (path: string) => boolean,
  kind: "exports" | "types" = "exports",
): string[] {
  const used = new Set([...files].flatMap(([path, { imports }]) => (counts(path) ? imports : [])).map(String));
  return [...files].flatMap(([path, { [kind]: names }]) => {
    if (entries.includes(path) || used.has(`${bare(path)},*`)) return [];
    return names.filter((name) => !used.has(`${bare(path)},${name}`)).map((name) => `${path} ${name}`);
  });
}

t.test("what is exported is imported by another file, or says why tests do", async (t) => {
  const files = new Map<string, File>();
  for (const [path, text] of sourcesIn(["src", "workers", "scripts", "bench", "test"]))
    files.set(path, read(path, text));
  const count = [...files.values()].reduce((sum, { exports }) => sum + exports.length, 0);
  t.ok(count > 1000, `${count} exports were looked at`);
  const ofTests = unused(files, (path) => !path.startsWith("test/")).filter((each) => /^(src|workers)\//.test(each));
  t.same(ofTests.sort(), Object.keys(reasons).sort(), "drop `export` or what is exported, or give the reason");
  t.same(
    unused(files, () => true),
    [],
    "not even tests import these",
  );
  t.same(
    unused(files, () => true, "types"),
    [],
    "no file imports these types",
  );
});

t.test("what no file imports is found", async (t) => {
  const given = `export const { kept, dropped } = given();
export function called(): void {}
export function called2(): void {}
export class Made {}
export interface Typed {}
export type Named = 1;
export default 1;
`;
  const taking = `import one, { called as mine, type Made, type Typed } from "./given.js";
export { kept } from "./given.js";
import "./other.js";
`;
  const files = new Map([
    ["src/a/given.ts", read("src/a/given.ts", given)],
    ["src/a/taking.tsx", read("src/a/taking.tsx", taking)],
    ["test/given.test.ts", read("test/given.test.ts", `import { called2 } from "../src/a/given.js";`)],
  ]);
  t.same(
    unused(files, () => true),
    ["src/a/given.ts dropped"],
  );
  t.same(
    unused(files, (path) => path.startsWith("src/")),
    ["src/a/given.ts dropped", "src/a/given.ts called2"],
  );
  t.same(
    unused(files, () => true, "types"),
    ["src/a/given.ts Named"],
  );
  files.set("bench/all.ts", read("bench/all.ts", `const all = await import("../src/a/given.js");`));
  t.same(
    unused(files, () => true),
    [],
  );
});
