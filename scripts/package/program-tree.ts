/**
 * The files that the executable carries: the bundles, the packages that can't be bundled
 * (native parts, Piscina's own worker) cut down to what they load, and the static files. Laid out as in a checkout.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { bundleFolder, bundlesOf, external, forNode, packagesOf } from "./bundles.js";
import { browserPackages, licenceTexts } from "./licences.js";
import { type RegistryPackage, registryPackage } from "./registry-package.js";
import { type Arch, nodeAbi } from "./target.js";

interface ProgramTree {
  /** Ordered by path. */
  readonly files: readonly TreeFile[];
  /** Folders of the packages whose code is in it, as the lock file names them. */
  readonly packages: readonly string[];
}

export interface TreeFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** The release for hosts with a newer glibc, loaded by `src/http/uws.ts`. It names its native part only at run time. */
const newerUwsFolder = "node_modules/uWebSockets.js-next";
const newerUws = ["package.json", "uws.js"].map((name) => `${newerUwsFolder}/${name}`);

const staticFiles = [
  "dist/build.json",
  "dist/network/facts.bin",
  "dist/sdk/challenge.js",
  "dist/sdk/challenge.js.br",
  "dist/sdk/challenge.js.gz",
  "dist/sdk/sdk-agents.js",
  "dist/sdk/sdk-probes.js",
  "dist/sdk/sdk-probes.js.br",
  "dist/sdk/sdk-probes.js.gz",
  "dist/sdk/sdk.js",
  "dist/sdk/sdk.js.br",
  "dist/sdk/sdk.js.gz",
  "dist/src/bots/marks/catalogue.json",
  "dist/src/bots/declared/catalogue.json",
  "dist/src/bots/signed/agents.json",
  "dist/src/bots/verified/catalogue.json",
  "dist/src/bots/verified/ua-claims.json",
  "dist/verdictd-client.tgz",
  "LICENSE",
];

/** Carried whole, but for what only developers read. */
const staticFolders = ["dist/clients", "dist/console", "dist/demo", "dist/docs", "dist/recipes"];

/**
 * `root` is a built checkout, `cache` keeps packages for other machines than this one, `nodeLicence` is the file that comes with the
 * Node that is carried. `plugins` may put other modules in the place of the compiled ones.
 */
export async function programTree(
  root: string,
  arch: Arch,
  cache: string,
  nodeLicence: string,
  plugins: readonly Plugin[] = [],
): Promise<ProgramTree> {
  const read = async (path: string): Promise<TreeFile> => ({ path, bytes: await readFile(join(root, path)) });
  const { name, version }: { name: string; version: string } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  const bundles = await bundlesOf(root, plugins);
  const loaded = await loadedFiles(root);
  const natives = await nativeFiles(root, arch, cache);
  const modules = [...bundles.inputs, ...loaded, ...natives.map(({ path }) => path)];
  const packages = [...new Set([...packagesOf(modules), ...browserPackages])].sort();
  const files = [
    ...bundles.files,
    ...(await Promise.all([...staticFiles, ...loaded].map(read))),
    ...(await filesBelow(root, staticFolders)),
    ...natives,
    {
      path: "dist/licenses.txt",
      bytes: Buffer.from(await licenceTexts(root, packages, [["Node.js", nodeLicence]])),
    },
    { path: "package.json", bytes: Buffer.from(`${JSON.stringify({ name, version, type: "module" })}\n`) },
    { path: "start.cjs", bytes: Buffer.from(`import("./${bundleFolder}/verdictd.js");\n`) },
  ];
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), packages };
}

/** Paths of the modules that the external packages load, and of what describes these packages. */
async function loadedFiles(root: string): Promise<string[]> {
  const traced = [...external, "./node_modules/piscina/dist/worker.js"];
  const { metafile } = await build({
    ...forNode,
    stdin: { contents: traced.map((name) => `import ${JSON.stringify(name)};`).join("\n"), resolveDir: root },
    external: ["@napi-rs/nice"],
    loader: { ".node": "empty" },
    format: "esm",
    absWorkingDir: root,
    outdir: root,
  });
  const modules = Object.keys(metafile.inputs).filter((path) => path.startsWith("node_modules/"));
  return [...modules, ...packagesOf(modules).map((folder) => `${folder}/package.json`)];
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
  const ofUws = [uws, ...newerUws, `${newerUwsFolder}/uws_linux_${arch}_${nodeAbi}.node`];
  const uwsFiles = await Promise.all(ofUws.map(async (path) => ({ path, bytes: await readFile(join(root, path)) })));
  return [...uwsFiles, ...platformFiles.flat()];
}

async function filesBelow(root: string, folders: readonly string[]): Promise<TreeFile[]> {
  const entries = await Promise.all(
    folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = entries.flat().filter((entry) => entry.isFile() && !/\.(map|d\.ts)$/.test(entry.name));
  return Promise.all(
    paths.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(root, path), bytes: await readFile(path) };
    }),
  );
}
