/** What the executable runs first: unpacks the program it carries, when that is not done yet, and hands over to it. */
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAsset, getRawAsset } from "node:sea";
import { brotliDecompressSync } from "node:zlib";
import { readCacheFlag } from "./cache-flag.js";
import { CacheFailure, cacheFolders, unpack } from "./cache-folder.js";
import { removeOldCaches } from "./old-caches.js";

function start(): void {
  const flag = readCacheFlag(process.argv.slice(2), process.env);
  if (flag === null) {
    fail("--cache-dir: a value is missing", 2);
    return;
  }
  const uid = process.getuid!();
  const archive = {
    manifest: getAsset("manifest", "utf8"),
    contents: () => brotliDecompressSync(new Uint8Array(getRawAsset("contents") as ArrayBuffer)),
  };
  try {
    const { folder, hasWritten } = unpack(archive, cacheFolders(flag.folder, process.env, uid, tmpdir()), uid);
    // Nothing is new in the cache otherwise, so nothing can be too much.
    if (hasWritten) removeOldCaches(folder, uid);
    process.argv.splice(2, Number.POSITIVE_INFINITY, ...flag.rest);
    keepCompiled(join(folder, "compiled"));
    nodeModule.createRequire(join(folder, "package.json"))("./start.cjs");
  } catch (error) {
    if (!(error instanceof CacheFailure)) throw error;
    fail(`verdictd: ${error.message}`, 1);
  }
}

/**
 * Has Node keep what V8 compiles in a folder beside the program, where this user alone may write; where nothing can be written, each start
 * compiles anew. Our types are those of Node 20, which can't.
 */
function keepCompiled(folder: string): void {
  const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown };
  enableCompileCache?.(folder);
}

function fail(message: string, exitCode: number): void {
  console.error(message);
  process.exitCode = exitCode;
}

start();
