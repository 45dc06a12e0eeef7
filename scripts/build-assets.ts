/**
 * Builds what browsers load: checks the types of the SDK and the demo page, bundles both, copies the demo's static files.
 * Fails when the SDK is over its size budget. Run after the daemon's sources are compiled; writes below dist/ only.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const source = (...path: string[]) => join(root, "src", ...path);
const target = (...path: string[]) => join(root, "dist", ...path);

/** Bytes of the script tag's bundle, gzipped at level 9. BotD alone is 6.6 KB. */
const sdkGzipBytesMax = 8 * 1024;

/** Names of the SDK's own interfaces, shortened in its bundles. None is a name of the DOM that it uses, of the wire or of its options. */
const internalNames = /^(listen|later|release|record|wake|onDrain|flush|isBusy|nudge|leave|cookieAttributes)$/;

const common: BuildOptions = {
  bundle: true,
  minify: true,
  target: ["es2020"],
  legalComments: "none",
  logLevel: "warning",
};

/** Checks types; for the SDK this also writes the npm entry's declarations. */
async function compile(project: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  try {
    await promisify(execFile)(process.execPath, [compiler, "-p", project]);
  } catch (error) {
    throw new Error(`types of ${project}:\n${(error as { stdout?: string }).stdout ?? error}`);
  }
}

async function bundle(): Promise<void> {
  await Promise.all([
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
    build({ ...common, entryPoints: [source("demo/demo.ts")], outfile: target("demo/demo.js"), format: "iife" }),
  ]);
  await mkdir(target("demo"), { recursive: true });
  await Promise.all(["index.html", "demo.css"].map((name) => copyFile(source("demo", name), target("demo", name))));
}

async function checkBudget(): Promise<void> {
  const bytes = gzipSync(await readFile(target("sdk/sdk.js")), { level: 9 }).length;
  if (bytes > sdkGzipBytesMax) {
    throw new Error(`dist/sdk/sdk.js is ${bytes} bytes gzipped, ${bytes - sdkGzipBytesMax} over its budget`);
  }
  console.log(`sdk.js: ${bytes} of ${sdkGzipBytesMax} bytes gzipped`);
}

try {
  await Promise.all([compile(source("sdk")), compile(source("demo")), compile(source("middleware")), bundle()]);
  await checkBudget();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
