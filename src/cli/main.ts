#!/usr/bin/env node
/** Entry of the modules. The bundles have one of their own: see `scripts/package/scripts.ts`. */
import { runProgram } from "./program.js";

await runProgram();
