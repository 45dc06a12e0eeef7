/**
 * The licence texts of what a build carries, for `verdictd licenses`: every package in it, and what is compiled into native parts.
 * Reads the installed packages; fails rather than leave one out.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Packages inside what browsers load. The build fails when others get in. */
export const browserPackages = [
  "node_modules/altcha-lib",
  "node_modules/ipaddr.js",
  "node_modules/preact",
  "node_modules/uplot",
] as const;

/** Packages without a licence file of their own, and where the text is: a package of the same authors that they are a part of. */
const textIn: readonly (readonly [pattern: RegExp, folder: string])[] = [
  [/^node_modules\/@lmdb\//, "node_modules/lmdb"],
  [/^node_modules\/@msgpackr-extract\//, "node_modules/msgpackr-extract"],
  // Of the same text as @opentelemetry/api has: the Apache License 2.0, which its manifest names.
  [/^node_modules\/uWebSockets\.js-next$/, "node_modules/@opentelemetry/api"],
  // By the author of lmdb, under the same licence, as its README says.
  [/^node_modules\/weak-lru-cache$/, "node_modules/lmdb"],
];

/** Texts beside a package's own: of what is compiled into its native part. */
const compiledIn: Readonly<Record<string, readonly string[]>> = {
  "node_modules/lmdb": [
    "dependencies/lmdb/libraries/liblmdb/COPYRIGHT",
    "dependencies/lmdb/libraries/liblmdb/LICENSE",
    "dependencies/lz4/lib/LICENSE",
  ],
};

/** What the files of a package do not say about its native part. */
const uwsRemark = [
  "The native part is uWebSockets.js, uWebSockets and uSockets by Alex Hultman and contributors, under the Apache License 2.0 (its text",
  "stands under @opentelemetry/api), linked with BoringSSL (https://boringssl.googlesource.com/boringssl/+/main/LICENSE).",
].join("\n");
const remarks: Readonly<Record<string, string>> = {
  "node_modules/uWebSockets.js": uwsRemark,
  "node_modules/uWebSockets.js-next": uwsRemark,
};

/** Data that a build carries, with its sources, licences and the attribution that they ask for. */
const carriedData: readonly (readonly [title: string, file: string])[] = [
  ["Network facts (country and autonomous system of an address)", "src/network/SOURCES.md"],
  ["Declared bots", "src/bots/declared/SOURCES.md"],
  ["Marks of agents", "src/bots/marks/SOURCES.md"],
];

const rule = "=".repeat(100);

/**
 * One text: verdictd's licence, then that of each package of `folders` (paths from `root`, as in the lock file), of the data, then of `others`
 * (title and file). Throws for a package without a text.
 */
export async function licenceTexts(
  root: string,
  folders: readonly string[],
  others: readonly (readonly [title: string, file: string])[] = [],
): Promise<string> {
  const parts = [`verdictd\n\n${await readFile(join(root, "LICENSE"), "utf8")}`];
  for (const folder of [...new Set(folders)].sort()) parts.push(await textOfPackage(root, folder));
  for (const [title, file] of carriedData) parts.push(`${title}\n\n${await readFile(join(root, file), "utf8")}`);
  for (const [title, file] of others) parts.push(`${title}\n\n${await readFile(file, "utf8")}`);
  return `${parts.map((part) => part.trim()).join(`\n\n${rule}\n`)}\n`;
}

async function textOfPackage(root: string, folder: string): Promise<string> {
  const holder = textIn.find(([pattern]) => pattern.test(folder))?.[1] ?? folder;
  const names = (await readdir(join(root, holder)))
    .filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name))
    .sort();
  if (names.length === 0) throw new Error(`${folder} has no licence text`);
  const files = [...names, ...(compiledIn[folder] ?? [])];
  const texts = await Promise.all(files.map(async (name) => (await readFile(join(root, holder, name), "utf8")).trim()));
  return [await titleOf(root, folder), ...(remarks[folder] === undefined ? [] : [remarks[folder]]), ...texts].join(
    "\n\n",
  );
}

/** Name and version; a package for another machine than this one is not installed and has its name only. */
async function titleOf(root: string, folder: string): Promise<string> {
  const manifest = join(root, folder, "package.json");
  if (!existsSync(manifest)) return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
  const { name, version }: { name: string; version: string } = JSON.parse(await readFile(manifest, "utf8"));
  return `${name} ${version}`;
}
