/**
 * Compiles the folders that are named, or all, into `dist`: each file by esbuild, which looks at no types, and the checks of bodies by typia, which
 * makes them from types. Plain JavaScript, since nothing is there yet that could compile it. What is type checked: `npm run build:types`.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const named = process.argv.slice(2);
const folders = named.length > 0 ? named : ["src", "workers", "bench", "test", "scripts"];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${path}`),
);

await build({
  entryPoints: files.filter((path) => /(?<!\.d)\.ts$/.test(path)),
  absWorkingDir: root,
  outdir: "dist",
  outbase: ".",
  format: "esm",
  platform: "node",
  target: "es2023",
  sourcemap: true,
  logLevel: "warning",
});
// What modules import as it is.
for (const path of files.filter((path) => /^src\/.*(?<!tsconfig)\.json$/.test(path))) {
  mkdirSync(dirname(join(root, "dist", path)), { recursive: true });
  copyFileSync(join(root, path), join(root, "dist", path));
}
const { status } = spawnSync(process.execPath, ["node_modules/ts-patch/bin/tspc.js", "-p", "src/contract"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
