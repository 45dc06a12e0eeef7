/**
 * Writes what the build is, bundles the program, and builds what browsers load: bundles the SDK, the demo page and the console, copies the static
 * files, renders the documentation. Fails when the SDK or the console is over its size budget. Run after the daemon's sources are compiled; writes
 * below dist/ only. The types of what browsers load are checked by `npm run build:types`, beside this in `npm run build`.
 */
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";
import { minify } from "terser";
import { buildDocs } from "./build-docs.js";
import { buildNetworkFacts } from "./build-network-facts.js";
import { writeBuildInfo } from "./package/build-info.js";
import { buildClientPackage } from "./package/client-package.js";
import { buildClients } from "./package/clients.js";
import { browserPackages } from "./package/licences.js";
import { writeProgram } from "./package/program.js";
import { writeCompiled } from "./package/scripts.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const source = (...path: string[]) => join(root, "src", ...path);
const target = (...path: string[]) => join(root, "dist", ...path);

/** Bytes of the script tag's bundle, gzipped at level 9. BotD alone is 6.6 KB. */
const sdkGzipBytesMax = 8 * 1024;

/** Bytes of what a page loads once the SDK has reported, from a cache on all pages but the first. */
const probesGzipBytesMax = 4 * 1024;
/** The looking; the marks, which the server adds, have a budget of their own. */
const agentsGzipBytesMax = 3100;

/** Bytes of what a challenge loads beside it. */
const challengeGzipBytesMax = 6 * 1024;

/** Bytes of all that the console loads beside data, each file gzipped at level 9. */
const consoleGzipBytesMax = 150 * 1024;

/** Names of the SDK's own interfaces, shortened in its bundles. None is a name of the DOM that it uses, of the wire or of its options. */
const internalNames =
  /^(listen|later|release|record|wake|onDrain|flush|isBusy|nudge|leave|cookieAttributes|base|read|write|send|take|prepare|sendAgain|input|kind|at|settled|report)$/;

const common: BuildOptions = {
  bundle: true,
  minify: true,
  target: ["es2020"],
  legalComments: "none",
  metafile: true,
  absWorkingDir: root,
  logLevel: "warning",
};

/** Makes what browsers load. Throws when it holds a package that `browserPackages` lacks: its licence would be missing. */
async function bundle(): Promise<void> {
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: [source("sdk/script.ts")],
      outfile: target("sdk/sdk.js"),
      format: "iife",
      mangleProps: internalNames,
    }),
    build({
      ...common,
      entryPoints: [source("sdk/browser.ts")],
      outfile: target("sdk/browser.js"),
      format: "esm",
      mangleProps: internalNames,
    }),
    build({
      ...common,
      entryPoints: [source("sdk/probes/main.ts")],
      outfile: target("sdk/sdk-probes.js"),
      format: "esm",
    }),
    build({
      ...common,
      entryPoints: [source("sdk/agents/main.ts")],
      outfile: target("sdk/sdk-agents.js"),
      format: "esm",
    }),
    build({
      ...common,
      entryPoints: [source("sdk/challenge/main.ts")],
      outfile: target("sdk/challenge.js"),
      format: "esm",
    }),
    build({
      ...common,
      entryPoints: [source("console/console.tsx"), source("console/console.css")],
      outdir: target("console"),
      format: "iife",
      // Today's browsers: an operator has one.
      target: ["es2022"],
      jsx: "automatic",
      jsxImportSource: "preact",
    }),
    build({
      ...common,
      entryPoints: [source("demo/demo.ts"), source("demo/demo.css")],
      outdir: target("demo"),
      format: "iife",
    }),
  ]);
  for (const path of results.flatMap(({ metafile }) => Object.keys(metafile!.inputs))) {
    const isKnown = browserPackages.some((folder) => path.startsWith(`${folder}/`));
    if (path.includes("node_modules/") && !isKnown) throw new Error(`${path}: add it to browserPackages`);
  }
  await Promise.all(["demo", "console"].map((name) => mkdir(target(name), { recursive: true })));
  await Promise.all(
    ["demo", "console"].map((name) => copyFile(source(name, "index.html"), target(name, "index.html"))),
  );
}

/**
 * Makes what pages load 3 % smaller in gzip than esbuild does: terser gives the variables of every function the same few names. Functions stay where
 * they are: one that is moved to where it is called is made anew at each call.
 */
async function shrinkSdk(): Promise<void> {
  const names = ["sdk.js", "browser.js", "sdk-probes.js", "sdk-agents.js", "challenge.js"];
  const ecma = 2020;
  const compress = { ecma, passes: 3, inline: 0, reduce_funcs: false } as const;
  await Promise.all(
    names.map(async (name) => {
      const file = target("sdk", name);
      const { code } = await minify(await readFile(file, "utf8"), { ecma, module: name !== "sdk.js", compress });
      await writeFile(file, code!);
    }),
  );
}

/** Puts compressed forms beside the files that are served as they are; one that is no smaller is left out. */
async function compressFiles(): Promise<void> {
  const names = ["console", "demo", "docs"].map(async (folder) =>
    (await readdir(target(folder))).filter((name) => /\.(js|css)$/.test(name)).map((name) => `${folder}/${name}`),
  );
  await Promise.all(
    [
      "sdk/sdk.js",
      "sdk/sdk-probes.js",
      "sdk/challenge.js",
      "console/index.html",
      ...(await Promise.all(names)).flat(),
    ].map(compressFile),
  );
}

async function compressFile(name: string): Promise<void> {
  const plain = await readFile(target(name));
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const forms = { ".br": brotliCompressSync(plain, best), ".gz": gzipSync(plain, { level: 9 }) };
  for (const [suffix, bytes] of Object.entries(forms)) {
    if (bytes.length < plain.length) await writeFile(target(name + suffix), bytes);
    else await rm(target(name + suffix), { force: true });
  }
}

/**
 * Takes the import of typia out of what it compiled: the code uses parts of it that are imported by their own names, while the whole loads a
 * hundred modules in every thread.
 */
async function leaveOutTypia(): Promise<void> {
  const file = target("src/contract/validators.js");
  const code = await readFile(file, "utf8");
  await writeFile(file, code.replace(/^import typia from "typia";$/m, ""));
}

async function checkBudget(name: string, files: readonly string[], bytesMax: number): Promise<void> {
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(target(file)), { level: 9 }).length),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > bytesMax) throw new Error(`${name} is ${bytes} bytes gzipped, ${bytes - bytesMax} over its budget`);
  console.log(`${name}: ${bytes} of ${bytesMax} bytes gzipped`);
}

try {
  await leaveOutTypia();
  await writeBuildInfo(root);
  await buildNetworkFacts(root);
  await Promise.all([bundle(), writeProgram(root)]);
  await shrinkSdk();
  await Promise.all([buildClientPackage(root), buildClients(root)]);
  await cp(source("middleware/recipes"), target("recipes"), { recursive: true });
  await buildDocs(root);
  const ofDocs = [source("docs/docs.css"), source("docs/site/docs.ts")];
  await build({ ...common, entryPoints: ofDocs, outdir: target("docs"), entryNames: "[name]", format: "iife" });
  await compressFiles();
  // Last: it starts the program, which reads all of these.
  await writeCompiled(root);
  await checkBudget("sdk.js", ["sdk/sdk.js"], sdkGzipBytesMax);
  await checkBudget("sdk-probes.js", ["sdk/sdk-probes.js"], probesGzipBytesMax);
  await checkBudget("sdk-agents.js", ["sdk/sdk-agents.js"], agentsGzipBytesMax);
  await checkBudget("challenge.js", ["sdk/challenge.js"], challengeGzipBytesMax);
  const consoleFiles = ["index.html", "console.js", "console.css"].map((name) => `console/${name}`);
  await checkBudget("console", consoleFiles, consoleGzipBytesMax);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
