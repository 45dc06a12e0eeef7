/**
 * Builds tap with the plugins of `.taprc` when it was built with others, as after `npm ci`: with the loaders that tap brings along every test file
 * takes twice the time to start. Otherwise it leaves tap alone, since building it takes six seconds of processor time.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { t } from "tap";
import { parse } from "yaml";
import { root } from "./package/checkout.js";

const { plugin } = parse(readFileSync(join(root, ".taprc"), "utf8")) as { readonly plugin: readonly string[] };
const built = t.pluginSignature.split("\n");
// A name with "!" is left out.
if (plugin.some((name) => built.includes(name.replace("!", "")) === name.startsWith("!")))
  execFileSync(join(root, "node_modules/.bin/tap"), ["build"], { cwd: root, stdio: "inherit" });
