/**
 * Prints the test files that `npm run test:cluster` runs on clusters instead of one host: all that start a server or open its store, but those
 * that are named here with a reason. Run on a built checkout.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./package/checkout.js";

const tests = join(root, "dist/test");

/** Who imports one of these runs on what `TEST_STORE` says. */
const stores = ["support/process.js", "support/test-store.js"].map((file) => join(tests, file));

/** Folders (they end with "/") and files below `test`, without `.test.ts`, that run on one host only. */
export const leftOut: Readonly<Record<string, string>> = {
  "auth/test-keys.drill": "a cluster refuses `--test-keys`",
  "cli/file-modes.drill":
    "looks at the modes of the store's files, sockets, backups, and of the copy before an upgrade",
  "cli/progress": "the bars of `backup` and `check` count bytes and rows of one host's files",
  "cli/rescore.drill": "changes a record of one host to rescore it: `drills/cluster-commands` does so in a cluster",
  "cli/stored-data.drill": "looks at the rows of one host: `drills/cluster-commands` does so in a cluster",
  "cli/wrong-usage.drill":
    "compares all lines of mistakes, and a folder alone is the store: tried on a cluster, two of four tests fail by that",
  "cluster-store/": "starts clusters of its own",
  "control-plane/blocks":
    "writes blocks into LMDB without a server: `cluster-store/recorded/cluster-recorded-rows` has those of a cluster",
  "control-plane/session-log": "puts sessions into LMDB without a server; `http/logs` reads the log on both",
  "drills/": "starts clusters of its own",
  "docs/analytics-example": "a cluster refuses `--test-keys`",
  "docs/readme":
    "the commands of README and quick start name one host, and read counts that a cluster shows some seconds later",
  "browsers/": "its subject is what a browser does with answers that other tests compare",
  "ledger/": "`cluster-store/ledger` runs the same on a cluster",
  "resilience/backup": "copies the files of one host: `drills/cluster-commands` copies a cluster's configuration",
  "resilience/clock": "passes the time to the scoring of one host, without a server",
  "resilience/crash": "opens LMDB's file after each kill; `drills/cluster-failures` kills nodes and engines",
  "resilience/disk": "fills the disk of LMDB's file",
  "resilience/durability": "cuts LMDB's file at each of its writes",
  "resilience/erasure": "looks at the rows of one host: `drills/cluster-commands` does so in a cluster",
  "resilience/first-contacts":
    'counts sessions to the last one, which a cluster does not: see "Weaker than on one host" in its documentation',
  "resilience/fuzz": "calls the scoring of one host without a server",
  "resilience/scoring-faults": "its server, whose threads can be made to fail, is one host's",
  "resilience/stored-address": "calls the scoring of one host without a server",
  "store/": "its subject is LMDB: files, environments, tables, the record of a session",
};

/** All that a file of the tests imports from them, itself among it. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/^import .*"(\.[^"]*)";$/gm)) {
    const target = join(dirname(file), path!);
    if (target.startsWith(tests)) importsOf(target, seen);
  }
  return seen;
}

/** The tests that start a server or open its store, as paths below `test` without `.test.ts`. */
export function testsWithStore(): string[] {
  return readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js") && !file.startsWith("long/"))
    .filter((file) => {
      const imported = importsOf(join(tests, file));
      return stores.some((each) => imported.has(each));
    })
    .map((file) => file.slice(0, -".test.js".length))
    .sort();
}

/** Those of them that run on a cluster. */
export function clusterTests(): string[] {
  return testsWithStore().filter((test) => !Object.keys(leftOut).some((name) => isNamed(test, name)));
}

/** Whether a name of `leftOut` means this test. */
export function isNamed(test: string, name: string): boolean {
  return name.endsWith("/") ? test.startsWith(name) : test === name;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const test of clusterTests()) console.log(`dist/test/${test}.test.js`);
}
