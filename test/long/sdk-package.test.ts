/**
 * The npm entry as a customer gets it: packed, unpacked into a project of theirs, imported and type-checked there. Continuous
 * integration runs this file too.
 */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";

const run = promisify(execFile);
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Uses every type that the entry offers, and one option wrongly: that line must be the only complaint. */
const customer = `import { init, type Verdictd, type VerdictdOptions } from "verdictd/browser";
const options: VerdictdOptions = { siteKey: "pk_x", cookieSameSite: "None", interval: 1000, consent: "wait", probesUrl: null };
const sdk: Verdictd = init(options);
export const token: string | null = await sdk.ready;
export const now: string | null = sdk.token();
sdk.start(), sdk.stop(), sdk.stop({ forget: true });
init({ siteKey: 7 });
`;

t.test("the packed package's browser entry resolves, is inert on a server, and has types", async (t) => {
  const project = t.testdir();
  const { stdout } = await run(
    "npm",
    ["pack", "--ignore-scripts", "--offline", "--json", "--pack-destination", project],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  );
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const target = join(project, "node_modules/verdictd");
  mkdirSync(target, { recursive: true });
  await run("tar", ["-xzf", join(project, filename), "-C", target, "--strip-components", "1"]);

  // A scope of its own: without it the name would mean the repository.
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  const script = `import { init } from "verdictd/browser";
    const sdk = init({ siteKey: "pk_x" });
    console.log(JSON.stringify([import.meta.resolve("verdictd/browser"), await sdk.ready, sdk.token()]));`;
  writeFileSync(join(project, "server.mjs"), script);
  const answer = await run(process.execPath, ["server.mjs"], { cwd: project });
  const [address, ...tokens] = JSON.parse(answer.stdout) as [string, ...unknown[]];
  t.equal(fileURLToPath(address), join(target, "dist/sdk/browser.js"), "the packed file, not the repository's");
  t.same(tokens, [null, null]);

  writeFileSync(join(project, "customer.ts"), customer);
  const compilerOptions = { noEmit: true, strict: true, target: "ES2022", module: "NodeNext", types: [] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["customer.ts"] }));
  const checked = await run(process.execPath, [compiler, "-p", "."], { cwd: project }).then(
    () => "no complaint",
    (error: { stdout: string }) => error.stdout,
  );
  const complaints = checked.split("\n").filter((line) => /^\S.*error TS/.test(line));
  t.equal(complaints.length, 1, checked);
  t.match(complaints[0], /^customer\.ts\(7,8\): error TS2322/);
});
