/**
 * `npm run package`: makes the executable of each machine that was named (`--arch x64,arm64`, default x64), the list of what is in
 * it and the checksums. Run on a built checkout; writes below dist/ and the build cache only.
 */
import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { billOfMaterials } from "./package/bill-of-materials.js";
import { makeExecutable } from "./package/executable.js";
import { programTree } from "./package/program-tree.js";
import { registryPackage } from "./package/registry-package.js";
import { type Arch, nodePackages } from "./package/target.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const dist = (name: string) => join(root, "dist", name);
const cache = join(root, "node_modules/.cache/verdictd-package");

async function makeFor(arch: Arch, version: string): Promise<string> {
  const nodeOf = async (each: Arch) => join(await registryPackage(nodePackages[each], cache), "bin/node");
  const name = `verdictd-linux-${arch}`;
  await makeExecutable(
    {
      version,
      files: await programTree(root, arch, cache),
      node: await nodeOf(arch),
      nodeHere: await nodeOf(process.arch as Arch),
      bootstrap: dist("scripts/package/bootstrap/main.js"),
      scratch: join(cache, `scratch-${arch}`),
    },
    dist(name),
  );
  console.log(`dist/${name}: ${(await stat(dist(name))).size} bytes`);
  return name;
}

async function writeChecksums(names: readonly string[]): Promise<void> {
  const lines = await Promise.all(
    names.map(async (name) => {
      const sum = createHash("sha256").update(await readFile(dist(name)));
      return `${sum.digest("hex")}  ${name}\n`;
    }),
  );
  await writeFile(dist("SHA256SUMS"), lines.join(""));
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { arch: { type: "string", default: "x64" } } });
  const archs = values.arch.split(",");
  const unknown = archs.find((arch) => !Object.hasOwn(nodePackages, arch));
  if (unknown !== undefined) throw new Error(`--arch: expected x64 or arm64, not "${unknown}"`);
  const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const names: string[] = [];
  for (const arch of archs as Arch[]) names.push(await makeFor(arch, version));
  const bill = billOfMaterials(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")), nodePackages.x64);
  await writeFile(dist("sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  await writeChecksums([...names, "sbom.cdx.json"]);
}

await main();
