/**
 * Bundles the program, and writes the licences of what is in its bundles and in what browsers load. Run once the modules are compiled; writes
 * below dist/ only.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleFolder, bundlesOf, packagesOf } from "./package/bundles.js";
import { browserPackages, licenceTexts } from "./package/licences.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const { files, inputs } = await bundlesOf(root);
// Names of bundles change with what is in them.
await rm(join(root, bundleFolder), { recursive: true, force: true });
await mkdir(join(root, bundleFolder), { recursive: true });
await Promise.all(files.map(({ path, bytes }) => writeFile(join(root, path), bytes)));
const packages = [...browserPackages, ...packagesOf(inputs)];
await writeFile(join(root, "dist/licenses.txt"), await licenceTexts(root, packages));
