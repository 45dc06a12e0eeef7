/** Holds the threat table of `.github/SECURITY.md` to the tests, and to the attack areas that were found open once. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const text = readFileSync(join(root, ".github/SECURITY.md"), "utf8");

/** What was found open. A new one is added here with its row. */
const areas = [
  "memory",
  "buffered answers",
  "bodies in flight",
  "rule cost",
  "recorded blocks",
  "roles and abilities",
  "tenants",
  "guessing",
  "credentials in the wrong place",
  "other sites",
  "proxy recipes",
  "paths",
  "verified",
  "dns proof",
  "strangers",
  "path-reuse index",
  "framing",
  "native binaries",
  "terminal output",
  "file modes",
  "supply chain",
  "stored fields",
  "times",
  "configuration",
];

function section(title: string): string {
  const from = text.indexOf(`\n## ${title}\n`);
  if (from === -1) throw new Error(`SECURITY.md has no section "${title}"`);
  const to = text.indexOf("\n## ", from + 1);
  return text.slice(from, to === -1 ? undefined : to);
}

const rows = section("Threats")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));
const isOpenSection = text.includes("\n## Found, and not closed yet\n");
const open = isOpenSection
  ? [...section("Found, and not closed yet").matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, area]) => area!)
  : [];

t.test("each claim names a test that exists", async (t) => {
  t.ok(rows.length > 20);
  for (const [area, attack, claim, named, ...rest] of rows) {
    t.same(rest, [], `${attack}: four cells`);
    t.ok(area && attack && claim, `${area}: attack and claim are there`);
    const [, file = "", name = ""] = /^`(test\/[\w./-]+\.ts)` "([^"]+)"$/.exec(named ?? "") ?? [];
    const path = join(root, file);
    if (file === "" || !existsSync(path)) t.fail(`${attack}: no test file in ${named}`);
    else t.ok(readFileSync(path, "utf8").includes(`"${name}"`), `${file} has a test "${name}"`);
  }
});

t.test("every area that was found open has a row, or is said to be open still, and never both", async (t) => {
  const closed = new Set(rows.map(([area]) => area));
  for (const area of areas) t.not(closed.has(area), open.includes(area), area);
  t.same(
    open.filter((area) => !areas.includes(area)),
    [],
    "what is open is an area of the list",
  );
});
