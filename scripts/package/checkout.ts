/** Makes the executable of a built checkout for one kind of machine: brings its parts together, here and from the registry. */
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { makeExecutable } from "./executable.js";
import { programTree } from "./program-tree.js";
import { registryPackage } from "./registry-package.js";
import { type Arch, nodePackages } from "./target.js";

/** This checkout. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Packages for other machines, and what is made on the way. */
const cache = join(root, "node_modules/.cache/verdictd-package");

/** The folder of the Node that the executable for this kind of machine carries, fetched when it is not here. */
export function nodeFolder(arch: Arch): Promise<string> {
  return registryPackage(nodePackages[arch], cache);
}

/**
 * Writes the executable to `target`; returns the folders of the packages in it, as the lock file names them. `plugins` may put other
 * modules in the place of the compiled ones.
 */
export async function executableOf(
  arch: Arch,
  target: string,
  plugins?: readonly Plugin[],
): Promise<readonly string[]> {
  const node = await nodeFolder(arch);
  const { files, packages } = await programTree(root, arch, cache, join(node, "LICENSE"), plugins);
  await makeExecutable(
    {
      version: await ownVersion(),
      files,
      node: join(node, "bin/node"),
      nodeHere: join(await nodeFolder(process.arch as Arch), "bin/node"),
      bootstrap: join(root, "dist/scripts/package/bootstrap/main.js"),
      scratch: join(cache, `scratch-${arch}-${process.pid}`),
    },
    target,
  );
  return packages;
}

async function ownVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return version;
}
