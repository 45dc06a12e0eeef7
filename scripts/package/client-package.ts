/**
 * Makes the package `verdictd-client`: what a backend and a page import, as ES modules and as CommonJS, with declarations for both and no
 * dependency. `dist/client-package` is its folder, `dist/verdictd-client.tgz` the packed file, which a running server gives out.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type BuildOptions, build, type Metafile } from "esbuild";
import ts from "typescript";
import { tarball } from "./tarball.js";

/** By name: the module below `src`, and the one that is bundled, below `dist`. The first is also the package's own name. */
const entries = {
  client: { source: "client/client.ts", module: "src/client/client.js" },
  express: { source: "middleware/express.ts", module: "src/middleware/express.js" },
  fastify: { source: "middleware/fastify.ts", module: "src/middleware/fastify.js" },
  fetch: { source: "middleware/fetch.ts", module: "src/middleware/fetch.js" },
  browser: { source: "sdk/browser.ts", module: "sdk/browser.js" },
} as const;

type Name = keyof typeof entries;
const names = Object.keys(entries) as Name[];

/** Packages that declarations name: whoever uses the middleware has the framework. Not said of Hono, whose lack is no error there. */
const namedInTypes = { express: ["@types/express", ">=4"], fastify: ["fastify", ">=4"], hono: null } as const;

/** Fields of verdictd's own manifest that say where it comes from: a registry compares them with what has built the package. */
const origin = ["author", "bugs", "funding", "homepage", "repository"] as const;

/** Makes the folder and the file anew. Throws when the package would need another one, or a part of Node. */
export async function buildClientPackage(root: string): Promise<void> {
  const target = join(root, "dist/client-package");
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await Promise.all([
    bundle(root, target),
    declarations(join(root, "src"), join(target, "types")),
    manifest(root, target),
    copyFile(join(root, "LICENSE"), join(target, "LICENSE")),
    copyFile(join(root, "src/client/README.md"), join(target, "README.md")),
  ]);
  await writeFile(join(root, "dist/verdictd-client.tgz"), await tarball(target));
}

/** ES modules share what they have in common; each CommonJS module stands alone. */
async function bundle(root: string, target: string): Promise<void> {
  const common: BuildOptions = {
    entryPoints: Object.fromEntries(names.map((name) => [name, join(root, "dist", entries[name].module)])),
    bundle: true,
    // Nothing of Node resolves: the client runs on edge runtimes too.
    platform: "neutral",
    target: ["es2022"],
    // Puts constants in their places, without which the server's table of limits would come along.
    minifySyntax: true,
    legalComments: "none",
    metafile: true,
    absWorkingDir: root,
    logLevel: "error",
  };
  const made = await Promise.all([
    build({ ...common, format: "esm", splitting: true, outdir: join(target, "esm"), chunkNames: "shared-[hash]" }),
    build({ ...common, format: "cjs", outdir: join(target, "cjs"), outExtension: { ".js": ".cjs" } }),
  ]);
  for (const { metafile } of made) checkInputs(metafile!);
}

function checkInputs({ inputs }: Metafile): void {
  const foreign = Object.keys(inputs).find((path) => !/^dist\/(src|sdk)\//.test(path));
  if (foreign !== undefined) throw new Error(`verdictd-client has no dependencies, and ${foreign} is one`);
}

/** Those of the entries and of what they name, each twice: for ES modules and for CommonJS. */
async function declarations(source: string, target: string): Promise<void> {
  const seen = new Set<string>();
  const waiting = names.map((name) => join(source, entries[name].source));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = declarationsOf(path, await readFile(path, "utf8"));
    for (const specifier of specifiersOf(text)) {
      if (specifier.startsWith(".")) waiting.push(join(dirname(path), specifier.replace(/\.js$/, ".ts")));
      else if (!(specifier in namedInTypes))
        throw new Error(`${path}: declarations of verdictd-client name ${specifier}`);
    }
    const file = join(target, relative(source, path)).slice(0, -".ts".length);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.d.ts`, text);
    await writeFile(`${file}.d.cts`, text.replace(/(from |import\()"(\.[^"]+)\.js"/g, '$1"$2.cjs"'));
  }
}

/** Of one module, by itself and unchecked: the build checks types elsewhere. Throws where a type is not written out. */
function declarationsOf(fileName: string, text: string): string {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    isolatedDeclarations: true,
  };
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, { fileName, compilerOptions });
  const [fault] = diagnostics;
  if (fault !== undefined) throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(fault.messageText, "\n")}`);
  // Bounds that validators are compiled from say nothing to TypeScript.
  return outputText.replace(/^import type \{ tags \} from "typia";\n/m, "").replace(/ & tags\.\w+<[^<>]*>/g, "");
}

function specifiersOf(text: string): string[] {
  return [...text.matchAll(/(?:from |import\(|declare module )"([^"]+)"/g)].map(([, specifier]) => specifier!);
}

async function manifest(root: string, target: string): Promise<void> {
  const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Record<string, unknown>;
  const peers = Object.values(namedInTypes).filter((each) => each !== null);
  const form = {
    name: "verdictd-client",
    version: own["version"],
    description: "Client, middlewares and browser module of verdictd, self-hosted bot detection. No dependencies.",
    keywords: ["bot-detection", "middleware", "express", "fastify", "hono", "next"],
    license: own["license"],
    ...Object.fromEntries(origin.flatMap((name) => (name in own ? [[name, own[name]]] : []))),
    type: "module",
    sideEffects: false,
    engines: own["engines"],
    files: ["cjs", "esm", "types"],
    exports: { ".": conditions("client"), ...Object.fromEntries(names.map((name) => [`./${name}`, conditions(name)])) },
    main: "./cjs/client.cjs",
    types: typesOf("client", "cts"),
    // For `moduleResolution: node10`, which does not read exports.
    typesVersions: { "*": Object.fromEntries(names.map((name) => [name, [typesOf(name, "cts")]])) },
    // Without these, strict package managers hide the types from the declarations.
    peerDependencies: Object.fromEntries(peers),
    peerDependenciesMeta: Object.fromEntries(peers.map(([name]) => [name, { optional: true }])),
  };
  await writeFile(join(target, "package.json"), `${JSON.stringify(form, null, 2)}\n`);
}

function conditions(name: Name) {
  return {
    import: { types: typesOf(name, "ts"), default: `./esm/${name}.js` },
    require: { types: typesOf(name, "cts"), default: `./cjs/${name}.cjs` },
  };
}

function typesOf(name: Name, extension: "ts" | "cts"): string {
  return `./types/${entries[name].source.slice(0, -".ts".length)}.d.${extension}`;
}
