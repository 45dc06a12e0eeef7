/**
 * Bundles the program and the entries of its threads: what `verdictd` runs from, in a checkout, in the npm package and in the executable. A bundle
 * starts in half of the processor time that its some hundred modules take. Reads the compiled modules.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { F } from "../../src/engines/session-features.js";
import { browserPackages, licenceTexts } from "./licences.js";

/** The folder of the bundles, relative to the checkout. One folder below `dist`, where `src/assets.ts` expects itself. */
export const bundleFolder = "dist/program";

/** Packages that look for files beside themselves, so they stay files. */
export const external = ["lmdb", "msgpackr", "piscina", "uWebSockets.js"];

/** How code for Node is bundled: for the oldest that `engines` names. */
export const forNode = {
  bundle: true,
  write: false,
  platform: "node",
  target: "node20",
  logLevel: "error",
  metafile: true,
} as const satisfies BuildOptions;

/** The names of functions and lines stay: a stack in a log is read as it is, without a source map that each start would have to load. */
const options = {
  ...forNode,
  external,
  format: "esm",
  splitting: true,
  chunkNames: "[hash]",
  minifySyntax: true,
  legalComments: "eof",
  define: { "import.meta.isBundle": "true" },
  // Packages in CommonJS ask for it.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
} as const satisfies BuildOptions;

/**
 * Numbers in place of `F.steps` and the like: to V8 `F` is a variable in a bundle, and each name in it a look-up. Takes a fifth off folding, by the
 * bench `recorded`.
 */
const positionsOfFeatures: Plugin = {
  name: "positions-of-features",
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/src\/engines\/[\w-]+\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const isImported = /^import \{[^}]*\bF\b[^}]*\} from "\.\/session-features\.js";$/m.test(text);
      return isImported ? { contents: text.replace(/(?<![\w.$])F\.(\w+)\b/g, positionOf) } : null;
    });
  },
};

function positionOf(use: string, name: string): string {
  const position: number | undefined = (F as Readonly<Record<string, number>>)[name];
  if (position === undefined) throw new Error(`${use}: there is no such feature`);
  return String(position);
}

/** The bundles of a checkout. */
export interface Bundles {
  /** `path` is relative to the checkout. */
  readonly files: readonly { readonly path: string; readonly bytes: Buffer }[];
  /** Paths of the modules in them. */
  readonly inputs: readonly string[];
}

/**
 * The entries by the names of their bundles: the program, what it imports (a module of its own, so that those who evaluate the program again and
 * again load the rest once), and each file of `workers`. Those of one group share chunks; what a thread starts with alone is one file.
 */
async function groupsOf(root: string): Promise<Record<string, string>[]> {
  const workers = (await readdir(join(root, "workers"))).map((file) => basename(file, ".ts"));
  const entryOf = (name: string) => ({ [name]: `dist/workers/${name}.js` });
  const program = { verdictd: "dist/src/cli/main.js", commands: "dist/src/cli/commands.js", ...entryOf("http") };
  return [program, ...workers.filter((name) => name !== "http").map(entryOf)];
}

/** Bundles the compiled modules of the checkout `root`. `plugins` may put others in their places. */
export async function bundlesOf(root: string, plugins: readonly Plugin[] = []): Promise<Bundles> {
  const made = await Promise.all(
    (await groupsOf(root)).map((entryPoints) =>
      build({
        ...options,
        absWorkingDir: root,
        plugins: [...plugins, positionsOfFeatures],
        entryPoints,
        outdir: join(root, bundleFolder),
      }),
    ),
  );
  const files = made.flatMap(({ outputFiles }) => outputFiles);
  return {
    files: files.map(({ path, contents }) => ({ path: relative(root, path), bytes: Buffer.from(contents) })),
    inputs: [...new Set(made.flatMap(({ metafile }) => Object.keys(metafile.inputs)))],
  };
}

/** Writes the bundles, and the licences of what is in them and in what browsers load. */
export async function writeBundles(root: string): Promise<void> {
  const { files, inputs } = await bundlesOf(root);
  // Names of bundles change with what is in them.
  await rm(join(root, bundleFolder), { recursive: true, force: true });
  await mkdir(join(root, bundleFolder), { recursive: true });
  // The program may be started by its name: npm sets the bit only when it installs.
  const mode = (path: string): number => (basename(path) === "verdictd.js" ? 0o755 : 0o644);
  await Promise.all(files.map(({ path, bytes }) => writeFile(join(root, path), bytes, { mode: mode(path) })));
  const packages = [...browserPackages, ...packagesOf(inputs)];
  await writeFile(join(root, "dist/licenses.txt"), await licenceTexts(root, packages));
}

/** Folders of the packages that these files are of, as the lock file names them; none for files of verdictd's own. */
export function packagesOf(paths: readonly string[]): string[] {
  return [
    ...new Set(paths.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.slice(0, 1) ?? [])),
  ];
}
