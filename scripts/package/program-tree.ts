/**
 * The files that the executable carries: bundles of the program and of its worker entries, the packages that can't be bundled
 * (native parts, Piscina's own worker) cut down to what they load, and the static files. Laid out as in a checkout.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { type RegistryPackage, registryPackage } from "./registry-package.js";
import { type Arch, nodeAbi } from "./target.js";

export interface TreeFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Packages that look for files beside themselves, so they stay files. */
const external = ["lmdb", "msgpackr", "piscina", "uWebSockets.js"];

/** Bundles by the compiled entry they come from. Each lies one folder below `dist`, where `src/assets.ts` expects itself. */
const bundles = {
  "dist/src/cli/main.js": "dist/src/verdictd.js",
  "dist/workers/http.js": "dist/workers/http.js",
  "dist/workers/scoring.js": "dist/workers/scoring.js",
} as const;

const staticFiles = [
  "dist/build.json",
  "dist/demo/demo.css",
  "dist/demo/demo.js",
  "dist/demo/index.html",
  "dist/sdk/sdk.js",
  "dist/src/verified-bots/catalogue.json",
  "dist/src/verified-bots/ua-claims.json",
  "LICENSE",
];

/** Folders that later parts of the build may have made; carried whole when they are there. */
const staticFolders = ["dist/console", "dist/docs"];

const common = {
  bundle: true,
  write: false,
  platform: "node",
  target: "node22",
  logLevel: "error",
} as const satisfies BuildOptions;

/** All files, ordered by path. `root` is a built checkout, `cache` keeps packages for other machines than this one. */
export async function programTree(root: string, arch: Arch, cache: string): Promise<TreeFile[]> {
  const read = async (path: string): Promise<TreeFile> => ({ path, bytes: await readFile(join(root, path)) });
  const { name, version }: { name: string; version: string } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  const files = await Promise.all([
    ...Object.entries(bundles).map(([entry, path]) => bundled(root, entry, path)),
    ...staticFiles.map(read),
    ...(await loadedFiles(root)).map(read),
  ]);
  files.push(
    ...(await filesBelow(root, staticFolders)),
    ...(await nativeFiles(root, arch, cache)),
    { path: "package.json", bytes: Buffer.from(`${JSON.stringify({ name, version, type: "module" })}\n`) },
    { path: "start.cjs", bytes: Buffer.from('import("./dist/src/verdictd.js");\n') },
  );
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** One entry and all it imports, as one module. */
async function bundled(root: string, entry: string, path: string): Promise<TreeFile> {
  const result = await build({
    ...common,
    entryPoints: [join(root, entry)],
    external,
    format: "esm",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "eof",
    // Packages in CommonJS ask for these three.
    banner: {
      js: [
        'import { createRequire as requireFrom } from "node:module";',
        "const require = requireFrom(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;",
      ].join("\n"),
    },
  });
  return { path, bytes: Buffer.from(result.outputFiles[0]!.contents) };
}

/** Paths of the modules that the external packages load, and of what describes these packages. */
async function loadedFiles(root: string): Promise<string[]> {
  const traced = [...external, "./node_modules/piscina/dist/worker.js"];
  const { metafile } = await build({
    ...common,
    stdin: { contents: traced.map((name) => `import ${JSON.stringify(name)};`).join("\n"), resolveDir: root },
    external: ["@napi-rs/nice"],
    loader: { ".node": "empty" },
    format: "esm",
    metafile: true,
    absWorkingDir: root,
    outdir: root,
  });
  const modules = Object.keys(metafile.inputs).filter((path) => path.startsWith("node_modules/"));
  const packages = new Set(modules.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)![0]));
  return [...modules, ...[...packages].map((folder) => `${folder}/package.json`)];
}

/** The native parts for the machine, for the Node that is carried. */
async function nativeFiles(root: string, arch: Arch, cache: string): Promise<TreeFile[]> {
  const uws = `node_modules/uWebSockets.js/dist/bin/uws_linux_${arch}_${nodeAbi}.node`;
  const lock: { packages: Record<string, RegistryPackage> } = JSON.parse(
    await readFile(join(root, "package-lock.json"), "utf8"),
  );
  const fromPlatformPackage = async (name: string, binary: string): Promise<TreeFile[]> => {
    const { version, integrity } = lock.packages[`node_modules/${name}`]!;
    const folder = await registryPackage({ name, version, integrity }, cache);
    return Promise.all(
      ["index.js", "package.json", binary].map(async (file) => ({
        path: `node_modules/${name}/${file}`,
        bytes: await readFile(join(folder, file)),
      })),
    );
  };
  const platformFiles = await Promise.all([
    fromPlatformPackage(`@lmdb/lmdb-linux-${arch}`, `node.abi${nodeAbi}.glibc.node`),
    fromPlatformPackage(`@msgpackr-extract/msgpackr-extract-linux-${arch}`, "node.napi.glibc.node"),
  ]);
  return [{ path: uws, bytes: await readFile(join(root, uws)) }, ...platformFiles.flat()];
}

async function filesBelow(root: string, folders: readonly string[]): Promise<TreeFile[]> {
  const entries = await Promise.all(
    folders
      .filter((folder) => existsSync(join(root, folder)))
      .map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = entries.flat().filter((entry) => entry.isFile() && !/\.(map|d\.ts)$/.test(entry.name));
  return Promise.all(
    paths.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(root, path), bytes: await readFile(path) };
    }),
  );
}
