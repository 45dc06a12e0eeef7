/**
 * `npm run package`: makes the executable of each machine that was named (`--arch x64,arm64`, default x64), the two packages for npm, the list of
 * what is in the executables and the checksums. With `--node-folder` it only fetches the Node that is carried and prints where its program lies. Run on a
 * built checkout; writes below dist/ and the build cache only.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { billOfMaterials } from "./package/bill-of-materials.js";
import { executableOf, nodeFolder, root } from "./package/checkout.js";
import { type Arch, nodePackages } from "./package/target.js";

const dist = (name: string) => join(root, "dist", name);

async function writeChecksums(names: readonly string[]): Promise<void> {
  const lines = await Promise.all(
    names.map(async (name) => {
      const sum = createHash("sha256").update(await readFile(dist(name)));
      return `${sum.digest("hex")}  ${name}\n`;
    }),
  );
  await writeFile(dist("SHA256SUMS"), lines.join(""));
}

/** Packs what was built, server and client, under names with the version. */
async function packages(): Promise<string[]> {
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", join(root, "dist")];
  const { stdout } = await promisify(execFile)("npm", words, { cwd: root });
  const [{ filename, version }]: [{ filename: string; version: string }] = JSON.parse(stdout);
  const client = `verdictd-client-${version}.tgz`;
  await copyFile(dist("verdictd-client.tgz"), dist(client));
  return [filename, client];
}

async function make(archs: readonly Arch[]): Promise<void> {
  const names: string[] = [];
  const carried: string[] = [];
  for (const arch of archs) {
    const name = `verdictd-linux-${arch}`;
    carried.push(...(await executableOf(arch, dist(name))));
    names.push(name);
    console.log(`dist/${name}: ${(await stat(dist(name))).size} bytes`);
  }
  const bill = billOfMaterials(
    JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")),
    carried,
    archs.map((arch) => nodePackages[arch]),
  );
  await writeFile(dist("sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  await writeChecksums([...names, ...(await packages()), "sbom.cdx.json"]);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { arch: { type: "string", default: "x64" }, "node-folder": { type: "boolean", default: false } },
  });
  if (values["node-folder"]) {
    console.log(join(await nodeFolder(process.arch as Arch), "bin"));
    return;
  }
  const archs = values.arch.split(",");
  const unknown = archs.find((arch) => !Object.hasOwn(nodePackages, arch));
  if (unknown !== undefined) throw new Error(`--arch: expected x64 or arm64, not "${unknown}"`);
  await make(archs as Arch[]);
}

await main();
