/**
 * Writes what `verdictd` runs from in a checkout and in the npm package: a script for the program, one for each further thread, entries that load
 * them, and what V8 compiled of them. Reads the compiled modules.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { Script } from "node:vm";
import { build } from "esbuild";
import { tuneGarbageCollection } from "../../src/runtime/garbage-collection.js";
import { compiledName, loadScript, scriptSuffix, scriptText } from "../../src/runtime/load-script.js";
import { bundleFolder, changes, forScripts } from "./bundles.js";

/** The script of the program and of further HTTP threads, which are much the same. */
const programScript = "program";

/** Writes scripts and entries to `dist/program`; returns the paths of the modules in them. */
export async function writeScripts(root: string): Promise<string[]> {
  const folder = join(root, bundleFolder);
  const threads = (await readdir(join(root, "workers"))).map((file) => basename(file, ".ts"));
  const others = threads.filter((name) => name !== "http");
  const sources = {
    [programScript]:
      'export { runProgram } from "./dist/src/cli/program.js"; export const startThread = () => import("./dist/workers/http.js");',
    ...Object.fromEntries(others.map((name) => [name, `export * from "./dist/workers/${name}.js";`])),
  };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const inputs = await Promise.all(
    Object.entries(sources).map(([name, contents]) =>
      writeScript(root, contents, join(folder, `${name}${scriptSuffix}`)),
    ),
  );
  await writeScript(root, 'export * from "./dist/src/runtime/load-script.js";', join(folder, "load.cjs"));
  const loads = (name: string): string => `require("./load.cjs").${loadScript.name}(__dirname, "${name}")`;
  await Promise.all([
    ...others.map((name) => writeFile(join(folder, `${name}.cjs`), `module.exports = ${loads(name)};\n`)),
    writeFile(join(folder, "http.cjs"), `void ${loads(programScript)}.startThread();\n`),
    // The program may be started by its name: npm sets the bit only when it installs.
    writeFile(join(folder, "verdictd.js"), programEntry, { mode: 0o755 }),
  ]);
  return [...new Set(inputs.flat())];
}

const programEntry = `#!/usr/bin/env node
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { loadScript } = createRequire(import.meta.url)("./load.cjs");
await loadScript(fileURLToPath(new URL(".", import.meta.url)), "${programScript}").runProgram();
`;

/** Bundles the modules that `contents` names to one file; returns their paths. */
async function writeScript(root: string, contents: string, file: string): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    ...forScripts,
    absWorkingDir: root,
    stdin: { contents, resolveDir: root },
    plugins: [...changes],
  });
  // Only comments have such characters, and V8 keeps a text with one of them in twice the memory.
  await writeFile(
    file,
    outputFiles[0]!.text.replace(/(?:\/\/|\/\*|^\s*\*).*$/gm, (comment) => comment.replace(/[^\0-\x7f]/g, "?")),
  );
  return Object.keys(metafile.inputs);
}

/**
 * Puts beside the scripts what V8 compiled: of those that a start of `serve` runs, what it ran; of the others, their top. A machine on which
 * `serve` can't start compiles at each start, and so does a Node of another version. For a folder that has all the program's files.
 */
export async function writeCompiled(root: string): Promise<void> {
  const folder = join(root, bundleFolder);
  tuneGarbageCollection();
  for (const file of (await readdir(folder)).filter((file) => file.endsWith(scriptSuffix))) {
    const name = file.slice(0, -scriptSuffix.length);
    const script = new Script(scriptText(await readFile(join(folder, file), "utf8")));
    await writeFile(join(folder, compiledName(name)), script.createCachedData());
  }
  const recording = `${folder}-recording`;
  await rm(recording, { recursive: true, force: true });
  await mkdir(recording);
  try {
    const files = (await readdir(folder)).filter((name) => /\.c?js$/.test(name));
    await Promise.all(files.map((name) => copyFile(join(folder, name), join(recording, name))));
    await rename(join(recording, "load.cjs"), join(recording, "loading.cjs"));
    await writeFile(join(recording, "load.cjs"), recordingLoad);
    await serveOnce(recording);
    const made = (await readdir(recording)).filter((name) => name.endsWith(".compiled"));
    // Copied: what the program writes is its owner's alone.
    await Promise.all(made.map(async (name) => writeFile(join(folder, name), await readFile(join(recording, name)))));
  } catch (error) {
    console.warn(`serve did not start here, so its code is compiled in part only: ${String(error)}`);
  } finally {
    await rm(recording, { recursive: true, force: true });
  }
}

/** In place of `load.cjs`: writes what a thread has compiled once it waits, and what the process has when it ends. */
const recordingLoad = `const { isMainThread } = require("node:worker_threads");
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const loading = require("./loading.cjs");
exports.loadScript = (folder, name) =>
  loading.loadScript(folder, name, (script) => {
    const write = () => writeFileSync(join(folder, loading.compiledName(name)), script.createCachedData());
    if (isMainThread) process.on("exit", write);
    else setImmediate(write);
  });
`;

/** Starts `serve` of the folder on a store of its own, and stops it once it listens. Rejects when it ends before. */
async function serveOnce(folder: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "verdictd-build-"));
  const words = ["serve", "--data-dir", dataDir, "--port", "0", "--admin-port", "0", "--no-agent-fetch"];
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("VERDICTD_") && name !== "NODE_OPTIONS"),
  );
  const child = spawn(process.execPath, [join(folder, "verdictd.js"), ...words], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const ended = once(child, "close");
    let isUp = false;
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes('"msg":"listening"')) continue;
      isUp = true;
      child.kill("SIGTERM");
    }
    await ended;
    if (!isUp) throw new Error("it ended before it listened");
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
