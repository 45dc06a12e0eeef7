/**
 * Loads uWebSockets.js. The native part of its newer release needs glibc 2.38, as in Debian 13; other hosts get the older release. Only the loader knows
 * what a host can load, so this tries the newer one first. No other file loads either release.
 */
import "./header-limit.js";

import type * as Uws from "uWebSockets.js";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

type Loaded = Pick<typeof Uws, "App" | "SSLApp" | "us_listen_socket_close" | "us_socket_local_port">;

/** Returns null if it can't be loaded: an older glibc, an unsupported Node, or an installation without optional packages. */
function newer(): Loaded | null {
  try {
    return createRequire(import.meta.url)("uWebSockets.js-next") as Loaded;
  } catch {
    return null;
  }
}

const loaded = newer();

/**
 * Whether it is the newer release. The older one answers 505 if TCP splits a request line after its method or inside its ` HTTP/1.1`
 * (uWebSockets #1776).
 */
export const isNewerRelease = loaded !== null;

/** The parts of uWebSockets.js that verdictd uses, from the loaded release. */
export const { App, SSLApp, us_listen_socket_close, us_socket_local_port }: Loaded = loaded ?? older();

/** Its native part, since the package can only be imported, which takes an await. Throws if the host can load neither. */
function older(): Loaded {
  const require = createRequire(import.meta.url);
  const native = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const files = (require.resolve.paths("uWebSockets.js") ?? []).map((folder) =>
    join(folder, "uWebSockets.js/dist/bin", native),
  );
  try {
    return require(files.find((file) => existsSync(file)) ?? "uWebSockets.js") as Loaded;
  } catch (cause) {
    const why =
      `uWebSockets.js can't be loaded by Node ${process.version} on this host: use Node 20 or 22, ` +
      "or for Node 23 to 25 a host with glibc 2.38 or newer (Debian 13, Ubuntu 24.04, RHEL 10) and an installation with optional packages";
    throw new Error(why, { cause });
  }
}
