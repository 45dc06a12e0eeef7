/**
 * Where running servers can be reached for what is not in the store: a Unix socket for each HTTP thread in the folder `live` of the
 * data folder, which only its owner may enter. Known to both ends, so that neither builds a path of its own.
 */
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The folder of the sockets. */
export function liveFolder(dataDir: string): string {
  return join(dataDir, "live");
}

/** What the names of sockets end with; other files of the folder are left alone. */
export const socketSuffix = ".sock";

/** Bytes of a socket's path that every system takes; Linux takes 107. */
const pathBytesMax = 100;

/** A path of a socket that is short enough, and what to call when it is not needed any more. */
export interface SocketPath {
  readonly path: string;
  readonly release: () => void;
}

/** `folder/name`; where that is too long for a socket, by way of the open folder, which Linux can do. */
export function socketPath(folder: string, name: string): SocketPath {
  const plain = join(folder, name);
  if (Buffer.byteLength(plain) <= pathBytesMax || process.platform !== "linux")
    return { path: plain, release: () => {} };
  const descriptor = openSync(folder, "r");
  return { path: `/proc/self/fd/${descriptor}/${name}`, release: () => closeSync(descriptor) };
}

/** Names of the sockets in the folder, also of those that nobody serves any more. */
export function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(socketSuffix));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
