/** The version of this build: its commit, Node and native parts. Read from files beside the code; serving does not use it. */
import { existsSync } from "node:fs";
import { assetPath, readAsset } from "../assets.js";
import { currentSchema } from "../store/upgrades.js";

/** The content of `build.json`, which the build writes. */
export interface BuildInfo {
  /** Hash of the commit, with `-changed` behind it for a tree that had changes; null when it was not built in a repository. */
  readonly commit: string | null;
  /** Versions of the packages with native parts, by name. */
  readonly natives: Readonly<Record<string, string>>;
}

/** The version of verdictd itself, as in `package.json`. */
export function programVersion(): string {
  const { version }: { version: string } = JSON.parse(readAsset("../package.json").toString("utf8"));
  return version;
}

/** The lines of `verdictd --version`. */
export function versionText(): string {
  const { commit, natives } = buildInfo();
  return [
    `verdictd ${programVersion()}`,
    `commit ${commit ?? "unknown"}`,
    `store schema ${currentSchema.version}`,
    `node ${process.versions.node} (ABI ${process.versions.modules}, ${process.platform}-${process.arch})`,
    ...Object.entries(natives).map(([name, version]) => `${name} ${version}`),
  ].join("\n");
}

/** Sources that were only compiled lack this file; every other command works without it. */
function buildInfo(): BuildInfo {
  if (!existsSync(assetPath("build.json"))) return { commit: null, natives: {} };
  return JSON.parse(readAsset("build.json").toString("utf8"));
}
