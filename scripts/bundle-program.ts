/** Bundles the compiled program anew, which is the part of `build-assets.ts` that a changed module asks for. Writes below dist/ only. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeBundles } from "./package/bundles.js";

await writeBundles(resolve(dirname(fileURLToPath(import.meta.url)), "../.."));
