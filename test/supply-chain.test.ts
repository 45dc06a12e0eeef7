/** What is installed: licences that may be shipped, no scripts that fetch anything at install time, checked sums. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== "");

/** Licences that ask for no more than a notice. */
const permissive =
  /^\(?(MIT|MIT-0|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0|CC-BY-3\.0|CC-BY-4\.0|PDDL-1\.0|Zlib|WTFPL)\b/;
/** Tools of tests alone, under licences that matter when code is shipped or changed: neither is. */
const toolsOnly = /^MPL-2\.0$/;

/** Those whose manifest is silent and whose licence file was read. */
const licenceFiles: Readonly<Record<string, string>> = { "node_modules/jsonc-simple-parser": "MIT" };

/** Data whose manifest refers to several licence files, of which the README's of the source is the sum. */
const dataLicences: Readonly<Record<string, string>> = {
  "SEE LICENSE IN ROUTEVIEWS-LICENSE and DBIP-LICENSE (CC-BY-4.0)": "CC-BY-4.0",
};

function licenceOf(path: string, { license: stated = licenceFiles[path] }: LockedPackage): string {
  const license = stated === undefined ? undefined : (dataLicences[stated] ?? stated);
  if (license !== undefined) return license;
  const manifest = join(root, path, "package.json");
  if (!existsSync(manifest)) return "not installed here";
  const read = (JSON.parse(readFileSync(manifest, "utf8")) as { license?: string | { type?: string } }).license;
  return typeof read === "string" ? read : (read?.type ?? "none stated");
}

t.test("every package that is shipped has a permissive licence, every tool a known one", async (t) => {
  for (const [path, locked] of packages) {
    const licence = licenceOf(path, locked);
    if (licence === "not installed here") continue;
    const isFine = permissive.test(licence) || (locked.dev === true && toolsOnly.test(licence));
    if (!isFine) t.fail(`${path}: ${licence}`);
  }
  t.ok(packages.length > 0);
});

t.test("no package that is shipped runs a script when it is installed that could fetch something", async (t) => {
  for (const [path, { hasInstallScript, dev }] of packages) {
    if (hasInstallScript !== true || dev === true) continue;
    const { scripts = {} } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    const run = ["preinstall", "install", "postinstall"].flatMap((name) => scripts[name] ?? []);
    const isLocal = run.every((script) => /^node-gyp-build(-optional-packages)?$/.test(script.trim()));
    t.ok(isLocal, `${path}: ${run.join("; ")}`);
  }
});

t.test("every package is locked by version and sum, for every system, and by no address", async (t) => {
  const loose = packages.filter(
    ([, { version, resolved, integrity = "" }]) =>
      version === undefined || resolved !== undefined || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
  );
  t.same(
    loose.map(([path]) => path),
    [],
  );
});

/** Encodes records through lmdb, which brings and loads one of its own. */
const byName = ["msgpackr"];

t.test("what is shipped depends on what it imports, and on nothing else", async (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const imported = new Set<string>();
  for (const folder of ["src", "workers"]) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue;
      for (const [, specifier] of readFileSync(join(root, folder, name), "utf8").matchAll(/ from "([^".][^"]*)"/g)) {
        // A file of a package is the package's.
        imported.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier!)![0]);
      }
    }
  }
  t.same(
    Object.keys(dependencies).filter((name) => !imported.has(name) && !byName.includes(name)),
    [],
  );
});
