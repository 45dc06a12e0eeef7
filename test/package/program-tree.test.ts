/** What the executable carries is what the program starts. */
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { bundles } from "../../scripts/package/program-tree.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

t.test("every thread's entry is bundled", async (t) => {
  const entries = readdirSync(join(root, "workers")).map((file) => `dist/workers/${file.replace(/\.ts$/, ".js")}`);
  const bundled = Object.keys(bundles).filter((entry) => entry.startsWith("dist/workers/"));
  t.same(bundled.sort(), entries.sort());
});
