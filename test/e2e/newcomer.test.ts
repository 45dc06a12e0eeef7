/** The newcomer's path on the compiled program; from a fresh clone it is walked by `test/long/newcomer.test.ts`. */
import { fileURLToPath } from "node:url";
import t from "tap";
import { noChromium } from "../support/chromium.js";
import { walkAsNewcomer } from "./newcomer.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

t.test("start, demo, console, first active rule, first block", { skip: noChromium ?? false }, (t) =>
  walkAsNewcomer(t, [process.execPath, "dist/program/verdictd.js", "serve", "--demo"], root),
);
