/**
 * LMDB's fault ITS#9496, as another process brings it about: the number of the last commit in the lock file is set back by one. A process of its own
 * does it, since closing the lock file would take the locks of this one along.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Test } from "tap";

const setBackByOne = `
const { openSync, readSync, writeSync } = require("node:fs");
const file = openSync(process.argv[1], "r+");
const number = Buffer.alloc(8);
process.stdin.on("data", () => {
  readSync(file, number, 0, 8, 8);
  number.writeBigUInt64LE(number.readBigUInt64LE() - 1n);
  writeSync(file, number, 0, 8, 8);
  process.stdout.write("done");
});
process.stdout.write("ready");
`;

/** Resolves with what hides the last commit of the environment in this file from readers, each time it is called. */
export async function commitHider(t: Test, path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["-e", setBackByOne, `${path}-lock`], {
    env: {},
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.teardown(() => child.kill());
  await once(child.stdout, "data");
  return async () => {
    child.stdin.write("now");
    await once(child.stdout, "data");
  };
}
