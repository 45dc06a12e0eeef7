/** From one executable to the next and back: the store is brought along with a copy made first, and the older file refuses it. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import t from "tap";
import { executableOf } from "../../scripts/package/checkout.js";
import type { Arch } from "../../scripts/package/target.js";
import { currentSchema } from "../../src/store/upgrades.js";
import { BareRoot, cannotRun, executable } from "../package/bare-root.js";
import { firstProject, firstSession } from "../package/first-session.js";

const present = currentSchema.version;

/** The next program's schema: one step further, which leaves a mark. */
const nextSchema: Plugin = {
  name: "next-schema",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/dist\/src\/store\/upgrades\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const step = `{ to: ${present + 1}, apply: (store) => store.meta.putSync("step", ${present + 1}) }`;
      const next = `{ version: ${present + 1}, upgrades: [...present.upgrades, ${step}] }`;
      const contents = source.replace("export const currentSchema", "const present");
      return { contents: `${contents}\nexport const currentSchema = ${next};\n` };
    });
  },
};

t.test(
  "a newer file upgrades the store; the older one refuses it and can go on with the copy",
  { skip: cannotRun() },
  async (t) => {
    const next = join(t.testdir(), "verdictd-next");
    await executableOf(process.arch as Arch, next, [nextSchema]);

    await t.test("in an empty root", async (t) => {
      const root = new BareRoot(t);
      const schemaOf = async () => JSON.parse((await root.run("stats", "--json")).stdout).schema_version;
      const project = await firstProject(root);
      const before = await root.serve();
      const session = await firstSession(project, before);
      const verdict = await session.verdict(before.address);
      t.ok(verdict.score > 0);
      t.equal(await before.stop(), 0);
      t.equal(await schemaOf(), present);

      root.install(next);
      const upgraded = await root.serve();
      t.same(await session.verdict(upgraded.address), verdict, "the newer file has the older one's sessions");
      t.equal(await upgraded.stop(), 0);
      t.equal(await schemaOf(), present + 1);

      root.install(executable);
      const store = join(root.path, "data/verdictd.mdb");
      const bytes = readFileSync(store);
      for (const command of ["stats", "serve"]) {
        const refused = await root.run(command);
        t.same([refused.code, refused.stdout], [1, ""], command);
        t.match(
          refused.stderr,
          `written by a newer verdictd (schema ${present + 1}, this one reads ${present})`,
          command,
        );
        t.equal(refused.stderr.trimEnd().split("\n").length, 1, `${command} says it in one line`);
      }
      t.ok(readFileSync(store).equals(bytes), "what is refused is not changed");

      mkdirSync(join(root.path, "data/before"));
      copyFileSync(`${store}.schema-${present}`, join(root.path, "data/before/verdictd.mdb"));
      const restored = await root.serve("--data-dir", "/data/before");
      t.same(await session.verdict(restored.address), verdict, "the copy made before is a store of the older file");
      t.equal(await restored.stop(), 0);
    });
  },
);
