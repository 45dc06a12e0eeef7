/** Writes `dist/build.json`, what `verdictd --version` tells: the commit and the versions of the native parts. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BuildInfo } from "../../src/server/version.js";

/** Packages that bring compiled code. */
const nativePackages = ["lmdb", "msgpackr-extract", "uWebSockets.js", "uWebSockets.js-next"] as const;

/** Writes the file for the checkout at `root`. Throws when the lock file lacks a native package. */
export async function writeBuildInfo(root: string): Promise<void> {
  const { packages }: { packages: Record<string, { version: string }> } = JSON.parse(
    await readFile(join(root, "package-lock.json"), "utf8"),
  );
  const natives = Object.fromEntries(nativePackages.map((name) => [name, packages[`node_modules/${name}`]!.version]));
  const info: BuildInfo = { commit: await commitOf(root), natives };
  await mkdir(join(root, "dist"), { recursive: true });
  await writeFile(join(root, "dist/build.json"), `${JSON.stringify(info)}\n`);
}

async function commitOf(root: string): Promise<string | null> {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)("git", ["-C", root, ...args])).stdout.trim();
  try {
    const [commit, changes] = await Promise.all([git("rev-parse", "HEAD"), git("status", "--porcelain")]);
    return changes === "" ? commit : `${commit}-changed`;
  } catch {
    // A source archive without its repository, or a machine without git.
    return null;
  }
}
