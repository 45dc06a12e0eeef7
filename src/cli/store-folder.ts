/** Which folder a command works on. Looks whether a store is there, and makes none. */

import { resolve } from "node:path";
import { hasStore } from "../store/store-file.js";
import type { Given } from "./flag.js";
import { CommandFailure } from "./output.js";

/** The folder that was named, or the default. */
export function folderOf(given: Given): string {
  return given["data-dir"] ?? (process.env["VERDICTD_DATA_DIR"] || "./data");
}

/** The same; throws a `CommandFailure` when there is no store in it, so that a mistyped folder is noticed. */
export function storeFolder(given: Given): string {
  const dataDir = folderOf(given);
  if (hasStore(dataDir)) return dataDir;
  const advice = "create one with `verdictd init` or `verdictd serve`, or name its folder with --data-dir";
  throw new CommandFailure(`there is no store in ${resolve(dataDir)}: ${advice}`);
}
