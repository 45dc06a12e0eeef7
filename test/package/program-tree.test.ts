/** What is installed is what the program starts, and what users of the package import. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import t from "tap";
import { program } from "../support/process.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

t.test("every thread's entry is bundled beside the program", async (t) => {
  const entries = readdirSync(join(root, "workers")).map((file) => file.replace(/\.ts$/, ".js"));
  t.ok(entries.length > 0);
  for (const entry of entries) t.ok(existsSync(join(dirname(program), entry)), entry);
});

t.test("the package holds all modules that its exports load", async (t) => {
  const { exports, files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, { import: string }>;
    files: string[];
  };
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.values(exports).map((each) => each.import),
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    outdir: root,
  });
  const loaded = Object.keys(metafile.inputs);
  t.ok(loaded.includes("dist/src/client/client.js"));
  const isPacked = (path: string) => files.some((name) => path === name || path.startsWith(`${name}/`));
  t.same(
    loaded.filter((path) => !isPacked(path)),
    [],
    "add them to `files` of package.json",
  );
});
