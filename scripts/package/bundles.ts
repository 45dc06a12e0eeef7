/**
 * Bundles the program and the entries of its threads: what `verdictd` runs from. As scripts in a checkout and in the npm package (`scripts.ts`), as
 * modules in the executable, whose Node keeps what it compiled of them. A bundle starts in half of the processor time that its some hundred
 * modules take. Reads the compiled modules.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { F } from "../../src/engines/session-features.js";

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
  define: { "import.meta.bundle": '"modules"' },
  // Packages in CommonJS ask for it.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
} as const satisfies BuildOptions;

/** How scripts are bundled. Licences are in `dist/licenses.txt`. */
export const forScripts = {
  ...forNode,
  external,
  format: "cjs",
  minifySyntax: true,
  legalComments: "none",
  define: { "import.meta.bundle": '"scripts"', "import.meta.url": "scriptUrl" },
  banner: { js: 'const scriptUrl = require("node:url").pathToFileURL(__filename).href;' },
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

const filledList = "Array.from({length:t}).fill(void 0)";

/**
 * Lists that grow, in place of those that lru-cache fills for all entries that a cache may have: two for each of some 25 caches of 10,000 entries, which
 * took 5 % of a start's processor time.
 */
const growingCaches: Plugin = {
  name: "growing-caches",
  setup({ onLoad }) {
    onLoad({ filter: /\/lru-cache\/dist\/[\w/]+\/index\.min\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (text.split(filledList).length !== 3) throw new Error(`${path} fills its lists otherwise than it did`);
      return { contents: text.replaceAll(filledList, "[]") };
    });
  },
};

/** What is changed in modules on their way into a bundle. */
export const changes: readonly Plugin[] = [positionsOfFeatures, growingCaches];

function positionOf(use: string, name: string): string {
  const position: number | undefined = (F as Readonly<Record<string, number>>)[name];
  if (position === undefined) throw new Error(`${use}: there is no such feature`);
  return String(position);
}

/** The bundles of a checkout. */
interface Bundles {
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
        plugins: [...plugins, ...changes],
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

/** Folders of the packages that these files are of, as the lock file names them; none for files of verdictd's own. */
export function packagesOf(paths: readonly string[]): string[] {
  return [
    ...new Set(paths.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.slice(0, 1) ?? [])),
  ];
}
