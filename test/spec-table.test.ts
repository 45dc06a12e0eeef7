/** Holds `spec-table.ts` to the tests: each row names a test that exists, and no section of the specification is left out. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { specTable } from "./spec-table.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Whether the source has this string; `…` in a name is a placeholder of a template. */
function isTestOf(source: string, name: string): boolean {
  const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "\\$\\{[^}]+\\}");
  return new RegExp(`(["'\`])${pattern}\\1`).test(source);
}

t.test("every statement names a test that exists", async (t) => {
  const sources = new Map<string, string>();
  for (const [section, statement, file, name] of specTable) {
    const path = join(root, file);
    if (!sources.has(file)) sources.set(file, existsSync(path) ? readFileSync(path, "utf8") : "");
    const source = sources.get(file)!;
    t.ok(isTestOf(source, name), `${section} "${statement}": ${file} has no test "${name}"`);
  }
});

t.test("every section that states something has rows, and no statement stands twice", async (t) => {
  const sections = new Set(specTable.map(([section]) => section.split(" ")[0]));
  for (const section of "1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 3.1 3.2 4 4.1 4.2 4.3 5 6 7 8 9".split(" ")) {
    t.ok(sections.has(section), section);
  }
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
