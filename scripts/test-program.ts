/**
 * Bundles the program for `npm test`, which starts it some hundred times: bundles start in half the processor time that as many hundred
 * modules take. Laid out as in the executable. Run on a built checkout; writes below dist/program/ only.
 */
import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { root } from "./package/checkout.js";
import { bundleOptions, bundles, staticFiles, staticFolders } from "./package/program-tree.js";

const target = join(root, "dist/program");

/** What the entry imports: a module of its own, so that those who evaluate the entry again and again load the rest once. */
const shared = { "dist/src/cli/commands.js": "dist/src/commands.js" };

await rm(target, { recursive: true, force: true });
await build({
  ...bundleOptions,
  write: true,
  absWorkingDir: root,
  entryPoints: Object.fromEntries(
    Object.entries({ ...bundles, ...shared }).map(([entry, path]) => [path.replace(/\.js$/, ""), entry]),
  ),
  splitting: true,
  outdir: target,
  // Where `src/assets.ts` expects itself.
  chunkNames: "dist/src/[hash]",
});
for (const path of ["package.json", "dist/licenses.txt", ...staticFiles, ...staticFolders]) {
  await mkdir(dirname(join(target, path)), { recursive: true });
  await symlink(join(root, path), join(target, path));
}
