/** The lock file asks for no newer Node than the oldest that verdictd supports: `npm ci` would warn of each package that does. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";

/** npm's own copy of a package's wish; what it names is built and tested here on Node 20. */
interface Locked {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string } }>>;
}

t.test("npm ci on Node 20 warns of no package", async (t) => {
  const lock = JSON.parse(
    readFileSync(fileURLToPath(new URL("../../package-lock.json", import.meta.url)), "utf8"),
  ) as Locked;
  const newer = Object.entries(lock.packages).filter(([, { engines }]) => /^>=\s*2[1-9]\b/.test(engines?.node ?? ""));
  t.same(
    newer.map(([name]) => name),
    [],
    "remove such an `engines` from the lock file where the package works on Node 20",
  );
});
