/** Brings packages of the registry into a folder of the build cache, checked against the hash that is known beforehand. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export interface RegistryPackage {
  readonly name: string;
  readonly version: string;
  /** As in a lock file: `sha512-…`. */
  readonly integrity: string;
}

const run = promisify(execFile);

/** The folder of the unpacked package, fetched when the cache lacks it. Throws when the hash is another. */
export async function registryPackage({ name, version, integrity }: RegistryPackage, cache: string): Promise<string> {
  const folder = join(cache, `${name.replace("/", "+")}-${version}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", partial, `${name}@${version}`]);
    const [{ filename }]: [{ filename: string }] = JSON.parse(stdout);
    const tarball = join(partial, filename);
    const found = `sha512-${createHash("sha512")
      .update(await readFile(tarball))
      .digest("base64")}`;
    if (found !== integrity) throw new Error(`${name}@${version} is ${found}, expected ${integrity}`);
    await run("tar", ["-xzf", tarball, "-C", partial, "--strip-components=1"]);
    await rm(tarball);
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return folder;
}
