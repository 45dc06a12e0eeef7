/** Puts the client package where a program in a folder of the checkout finds it, as the line in the documentation does for a customer. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../client-package", import.meta.url));

/** Installs what the build has made into `folder`, whose other packages are those of the checkout. */
export function installClient(folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(modules, { recursive: true });
  symlinkSync(built, join(modules, "verdictd-client"));
}
