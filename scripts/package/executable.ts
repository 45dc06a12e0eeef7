/** Makes the executable: Node's binary with the bootstrap and the packed program inside (a "single executable application"). */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";
import type { Manifest } from "./bootstrap/cache-folder.js";
import type { TreeFile } from "./program-tree.js";

/** The one function that is used of `postject`, which comes without types. */
interface Postject {
  inject(file: string, resource: string, data: Buffer, options: { readonly sentinelFuse: string }): Promise<void>;
}

interface ExecutableParts {
  readonly version: string;
  readonly files: readonly TreeFile[];
  /** Node's binary for the machine that is built for. */
  readonly node: string;
  /** Node's binary of the same version that runs here. */
  readonly nodeHere: string;
  /** Compiled bootstrap. */
  readonly bootstrap: string;
  /** A folder for what is made on the way; emptied, and removed at the end. */
  readonly scratch: string;
}

/** Writes the executable to `target`. The same parts give the same bytes: nothing here depends on time, place or chance. */
export async function makeExecutable(parts: ExecutableParts, target: string): Promise<void> {
  const { scratch } = parts;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  await Promise.all([
    build({
      entryPoints: [parts.bootstrap],
      outfile: join(scratch, "bootstrap.cjs"),
      bundle: true,
      platform: "node",
      target: "node22",
      format: "cjs",
      logLevel: "error",
    }),
    writeFile(join(scratch, "manifest"), manifestOf(parts)),
    writeFile(join(scratch, "contents"), compressed(Buffer.concat(parts.files.map(({ bytes }) => bytes)))),
    writeFile(join(scratch, "sea.json"), JSON.stringify(seaConfig)),
  ]);
  // Run in the folder: the blob keeps the name of its main file as it was given.
  await promisify(execFile)(parts.nodeHere, ["--experimental-sea-config", "sea.json"], { cwd: scratch });
  const partial = join(scratch, "executable");
  await copyFile(parts.node, partial);
  const { inject } = createRequire(import.meta.url)("postject") as Postject;
  await inject(partial, "NODE_SEA_BLOB", await readFile(join(scratch, "blob")), {
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
  });
  await chmod(partial, 0o755);
  await mkdir(dirname(target), { recursive: true });
  await move(partial, target);
  await rm(scratch, { recursive: true });
}

/** Nobody sees half a file, as long as both lie on one file system. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await copyFile(from, to);
  }
}

const seaConfig = {
  main: "bootstrap.cjs",
  output: "blob",
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache: false,
  assets: { manifest: "manifest", contents: "contents" },
};

function manifestOf({ version, files }: ExecutableParts): string {
  const manifest: Manifest = {
    version,
    files: files.map(({ path, bytes }) => ({
      path,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    })),
  };
  return JSON.stringify(manifest);
}

function compressed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 10,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
