/** Writes the program as it runs in a checkout and in the npm package, and the licences of what is in it and in what browsers load. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packagesOf } from "./bundles.js";
import { browserPackages, licenceTexts } from "./licences.js";
import { writeScripts } from "./scripts.js";

/** Writes below `dist` of the checkout `root`. */
export async function writeProgram(root: string): Promise<void> {
  const packages = [...browserPackages, ...packagesOf(await writeScripts(root))];
  await writeFile(join(root, "dist/licenses.txt"), await licenceTexts(root, packages));
}
