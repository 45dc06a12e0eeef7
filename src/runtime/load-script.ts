/**
 * Loads the scripts that the program and its threads are bundled to, with what V8 has compiled of them where the build put that beside them.
 * The first thing that a process and each of its threads run.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { tuneGarbageCollection } from "./garbage-collection.js";

// V8 takes compiled code only under the flags that it was compiled with, and `serve` sets these.
if (isMainThread) tuneGarbageCollection();

/** The end of a script's file name. */
export const scriptSuffix = ".script.cjs";

const loaded = new Map<string, object>();

/**
 * What the script `name` of the folder exports; it runs once a thread. `onScript` gets what V8 made of it. Without compiled code, and with that of
 * another V8, it is compiled now.
 */
export function loadScript(folder: string, name: string, onScript?: (script: Script) => void): object {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const filename = join(folder, name + scriptSuffix);
  const module = { exports: {} };
  loaded.set(name, module.exports);
  const cachedData = compiledOf(folder, name);
  const script = new Script(scriptText(readFileSync(filename, "utf8")), {
    filename,
    ...(cachedData !== null && { cachedData }),
  });
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, folder);
  loaded.set(name, module.exports);
  onScript?.(script);
  return module.exports;
}

/** The text that is compiled: as Node wraps modules of CommonJS, so that lines keep their numbers. */
export function scriptText(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

/** The file of what this Node compiled. */
export function compiledName(name: string): string {
  return `${name}.${process.version}.compiled`;
}

function compiledOf(folder: string, name: string): Buffer | null {
  try {
    return readFileSync(join(folder, compiledName(name)));
  } catch {
    return null;
  }
}
