/**
 * The sockets of running servers, for what is not in the store: a Unix socket for each HTTP thread in the folder `live` of the data folder, which
 * only its owner may enter. Both ends use this file, so neither builds a path of its own.
 */
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The folder of the sockets. */
export function liveFolder(dataDir: string): string {
  return join(dataDir, "live");
}

/** The end of a socket's name; other files of the folder are left alone. */
export const socketSuffix = ".sock";

/** Bytes of a socket's path that every system allows; Linux allows 107. */
const pathBytesMax = 100;

/** A socket path that is short enough, with a function to call when it is no longer needed. */
export interface SocketPath {
  readonly path: string;
  readonly release: () => void;
}

/** Returns `folder/name`. If that is too long for a socket, Linux can reach it through the open folder. */
export function socketPath(folder: string, name: string): SocketPath {
  const plain = join(folder, name);
  if (Buffer.byteLength(plain) <= pathBytesMax || process.platform !== "linux")
    return { path: plain, release: () => {} };
  const descriptor = openSync(folder, "r");
  return { path: `/proc/self/fd/${descriptor}/${name}`, release: () => closeSync(descriptor) };
}

/** Returns the names of the sockets in the folder, including abandoned ones. */
export function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(socketSuffix));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
