/** The software bill of materials (CycloneDX 1.6) of the executables, from the lock file. No time and no random number in it. */
import { browserPackages } from "./licences.js";
import type { RegistryPackage } from "./registry-package.js";

/** A row of `packages` in a lock file of version 3. */
interface LockedPackage {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly name: string;
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface Component {
  readonly type: "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
}

/**
 * The packages at `folders` (whose code is in an executable; named as in the lock file) and each Node that is carried. Throws for a
 * folder that the lock file does not know.
 */
export function billOfMaterials(lock: LockFile, folders: readonly string[], nodes: readonly RegistryPackage[]) {
  const paths = [...new Set(folders)].sort();
  const unknown = paths.find((path) => lock.packages[path] === undefined);
  if (unknown !== undefined) throw new Error(`${unknown} is not in the lock file`);
  const components = new Map(paths.map((path) => [path, libraryAt(path, lock.packages[path]!)]));
  const root = `pkg:npm/${lock.name}@${lock.version}`;
  const refs = (path: string): string[] =>
    dependenciesOf(lock, path)
      .flatMap((found) => components.get(found)?.["bom-ref"] ?? [])
      .sort();
  const runtimes = nodes.map(
    ({ name, version, integrity }): Component => ({
      ...described(name, version, integrity),
      type: "platform",
      licenses: [{ license: { id: "MIT" } }],
    }),
  );
  // What browsers load is bundled, not installed, so no package asks for it.
  const bundled = browserPackages.flatMap((path) => components.get(path)?.["bom-ref"] ?? []);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": root, name: lock.name, version: lock.version, purl: root },
    },
    components: [...distinct([...components.values()]), ...runtimes],
    dependencies: [
      { ref: root, dependsOn: [...refs(""), ...bundled, ...runtimes.map((each) => each["bom-ref"])] },
      ...distinct([...components].map(([path, component]) => ({ "bom-ref": component["bom-ref"], path }))).map(
        ({ "bom-ref": ref, path }) => ({ ref, dependsOn: refs(path) }),
      ),
    ],
  };
}

function libraryAt(path: string, locked: LockedPackage): Component {
  const name = locked.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  const license = locked.license === undefined ? {} : { licenses: [{ license: { id: locked.license } }] };
  return { type: "library", ...described(name, locked.version, locked.integrity), ...license };
}

function described(name: string, version: string, integrity: string | undefined): Omit<Component, "type"> {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const hashes = integrity?.startsWith("sha512-")
    ? { hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }] as const }
    : {};
  return { "bom-ref": purl, name, version, purl, ...hashes };
}

/** Where the lock file puts what the package at `path` depends on: beside it, or in a folder above. */
function dependenciesOf(lock: LockFile, path: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = lock.packages[path]!;
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  return names.flatMap((name) => {
    for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1))) {
      const found = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
      if (found in lock.packages) return [found];
      if (from === "") return [];
    }
  });
}

/** The same version of a package may lie in several folders; it is listed once. */
function distinct<T extends { readonly "bom-ref": string }>(all: readonly T[]): T[] {
  return [...new Map(all.map((each) => [each["bom-ref"], each])).values()];
}
