/** What is installed is what the program starts, and what users of the package import. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { build } from "esbuild";
import t from "tap";
import { bundleFolder, external } from "../../scripts/package/bundles.js";
import { tuneGarbageCollection } from "../../src/runtime/garbage-collection.js";
import { compiledName, scriptText } from "../../src/runtime/load-script.js";
import { program } from "../support/process.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

t.test("every thread's entry is bundled beside the program", async (t) => {
  const entries = readdirSync(join(root, "workers")).map((file) => file.replace(/\.ts$/, ".cjs"));
  t.ok(entries.length > 0);
  for (const entry of entries) t.ok(existsSync(join(dirname(program), entry)), entry);
});

t.test("V8 takes what the build compiled of each script", async (t) => {
  tuneGarbageCollection();
  const folder = dirname(program);
  const names = readdirSync(folder).flatMap((file) => /^(.+)\.script\.cjs$/.exec(file)?.[1] ?? []);
  t.same(names.sort(), ["cluster-scoring", "network-facts", "program", "scoring"]);
  for (const name of names) {
    const cachedData = readFileSync(join(folder, compiledName(name)));
    const script = new Script(scriptText(readFileSync(join(folder, `${name}.script.cjs`), "utf8")), { cachedData });
    t.equal(script.cachedDataRejected, false, name);
  }
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

t.test(
  "where uWebSockets.js can't be loaded, serve says so and ends, though its other threads are starting",
  async (t) => {
    // Not below the checkout, whose packages would be found.
    const folder = mkdtempSync(join(tmpdir(), "verdictd-parts-"));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(dirname(program), join(folder, bundleFolder), { recursive: true });
    mkdirSync(join(folder, "node_modules"));
    const beside = readdirSync(join(root, "dist")).map((name) => `dist/${name}`);
    const packages = external.filter((name) => name !== "uWebSockets.js").map((name) => `node_modules/${name}`);
    for (const path of ["package.json", ...packages, ...beside.filter((path) => path !== bundleFolder)])
      symlinkSync(join(root, path), join(folder, path));
    const words = [
      "serve",
      "--data-dir",
      join(folder, "store"),
      "--port",
      "0",
      "--admin-port",
      "0",
      "--no-agent-fetch",
    ];
    const { NODE_OPTIONS: _, ...env } = process.env;
    const done = spawnSync(process.execPath, [join(folder, bundleFolder, "verdictd.js"), ...words], {
      encoding: "utf8",
      env,
      timeout: 30_000,
    });
    t.match(done.stderr, /^uWebSockets\.js can't be loaded by Node/);
    t.equal(done.status, 1);
  },
);
