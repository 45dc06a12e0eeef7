/** A server whose data folder is a small disk of its own (tmpfs in a mount namespace), which a test fills and empties. */
import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { makeOwner, type Owner } from "../support/owner.js";
import { type Served, serve } from "../support/process.js";

const mebibyte = 2 ** 20;

/** Why this machine can't have such a disk; false when it can. */
export const cannotMount: string | false =
  spawnSync("unshare", ["--user", "--map-root-user", "--mount", "true"]).status === 0
    ? false
    : "needs unshare (util-linux) and user namespaces";

interface SmallDisk {
  readonly server: Served;
  readonly owner: Owner;
  /** The data folder as the test sees it. */
  readonly folder: string;
  /** Leaves this many bytes free, or a little less. */
  leave(bytes: number): void;
  /** Gives everything back that `leave` took. */
  empty(): void;
}

/** Starts a server on a disk of this size with an owner in its store. The disk is gone with the server. */
export async function serveOnSmallDisk(t: Test, sizeBytes: number, flags: readonly string[]): Promise<SmallDisk> {
  const made = t.testdir({ made: {}, disk: {} });
  const owner = await makeOwner(join(made, "made"));
  const disk = join(made, "disk");
  // The shell hands over to the server, which so keeps its process id.
  const mount = `mount -t tmpfs -o size=${sizeBytes} tmpfs "$0" && cp "$1"/*.mdb "$0"/ && shift && exec "$@"`;
  const under = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, disk, join(made, "made")];
  const server = await serve(t, disk, { under, flags });
  const folder = `/proc/${server.child.pid}/root${disk}`;
  const ballast = join(folder, "ballast");
  return {
    server,
    owner,
    folder,
    leave: (bytes) => {
      const { bavail, bsize } = statfsSync(folder);
      const taken = bavail * bsize - bytes;
      const file = openSync(ballast, "w");
      const piece = Buffer.alloc(mebibyte, 1);
      for (let at = 0; at < taken; at += piece.length) writeSync(file, piece, 0, Math.min(piece.length, taken - at));
      ftruncateSync(file, taken);
      closeSync(file);
    },
    empty: () => rmSync(ballast, { force: true }),
  };
}
