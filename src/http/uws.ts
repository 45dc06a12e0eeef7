/**
 * Loads uWebSockets.js, whose native part needs what the host has: the newer release where its glibc (2.38) is there, as in Debian 13, the
 * older one elsewhere. Nothing but the loader tells what a host can load, so the newer one is tried. The only file that loads either.
 */
import "./header-limit.js";

import type * as Uws from "uWebSockets.js";
import { createRequire } from "node:module";

type Loaded = Pick<typeof Uws, "App" | "SSLApp" | "us_listen_socket_close" | "us_socket_local_port">;

/** Null where it can't be loaded: an older glibc, a Node that it has no part for, an installation without optional packages. */
function newer(): Loaded | null {
  try {
    return createRequire(import.meta.url)("uWebSockets.js-next") as Loaded;
  } catch {
    return null;
  }
}

const loaded = newer();

/**
 * Whether it is the newer release. The older one answers 505 to a request line that TCP cuts behind its method or in its ` HTTP/1.1`
 * (uWebSockets #1776).
 */
export const isNewerRelease = loaded !== null;

/** What verdictd uses of uWebSockets.js, from whichever release was loaded. */
export const { App, SSLApp, us_listen_socket_close, us_socket_local_port }: Loaded = loaded ?? (await older());

/** Throws where the host can load neither. */
async function older(): Promise<Loaded> {
  try {
    return await import("uWebSockets.js");
  } catch (cause) {
    const why =
      `uWebSockets.js can't be loaded by Node ${process.version} on this host: use Node 20 or 22, ` +
      "or for Node 23 to 25 a host with glibc 2.38 or newer (Debian 13, Ubuntu 24.04, RHEL 10) and an installation with optional packages";
    throw new Error(why, { cause });
  }
}
