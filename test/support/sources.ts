/** The sources as tests read them that hold something about every file. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Every source file in these folders: its path from the root, and its text. */
export function* sourcesIn(folders: readonly string[]): Generator<readonly [path: string, text: string]> {
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(name)) continue;
      const path = join(folder, name);
      yield [path, readFileSync(join(root, path), "utf8")];
    }
  }
}

/** A file's statements, without comments: reading these as well takes the parser twice the time. */
export function parsed(path: string, text: string): ts.SourceFile {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(path, text, options);
}

/** Whether a statement declares what it exports; one that only passes names on does not. */
export function isExported(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}
