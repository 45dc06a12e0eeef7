/** Bundles the compiled program anew, which is the part of `build-assets.ts` that a changed module asks for. Writes below dist/ only. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeProgram } from "./package/program.js";
import { writeCompiled } from "./package/scripts.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
await writeProgram(root);
await writeCompiled(root);
