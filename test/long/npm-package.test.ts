/** `npm pack` makes a package that holds what it needs and nothing else, and works where it is installed. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t, { type Test } from "tap";

const root = resolve(fileURLToPath(new URL("../../..", import.meta.url)));
const run = promisify(execFile);
/** tap has each Node process load a module of its own; an operator's does not. */
const { NODE_OPTIONS: _, ...env } = process.env;

/** What may be in the package: the program, what browsers load, declarations, and texts. */
const allowed =
  /^(LICENSE|README\.md|package\.json|dist\/(build\.json|network\/facts\.bin|licenses\.txt|(console|demo|docs|program|sdk)\/.*\.(js|css|html|json)(\.(br|gz))?|src\/.*\.json|src\/(client|contract|limits|middleware|verdict)\b.*\.js|(sdk\/)?types\/.*\.d\.ts)|dist\/verdictd-client\.tgz|src\/middleware\/recipes\/[\w.]+)$/;

/** The packed file's path, and the paths in it. */
async function pack(t: Test): Promise<{ tarball: string; paths: string[] }> {
  const folder = t.testdir();
  // What is built is what is tested; building again would change it under other tests.
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", words, { cwd: root, env });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(folder, filename), paths: files.map(({ path }) => path) };
}

t.test("the packed package, installed into an empty folder, runs as `npx verdictd`", async (t) => {
  const { tarball, paths } = await pack(t);
  t.same(
    paths.filter((path) => !allowed.test(path)),
    [],
    "nothing is in it that nobody needs",
  );
  await t.test("installed", async (t) => {
    const cwd = t.testdir({ "package.json": '{ "private": true, "type": "module" }' });
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball], { cwd, env });
    const verdictd = async (...args: string[]) =>
      (await run("npx", ["--no", "--", "verdictd", ...args], { cwd, env })).stdout;
    t.match(await verdictd("--version"), /^verdictd \d+\.\d+\.\d+\ncommit \w+/);
    t.match(await verdictd("licenses"), "preact");
    const { account_token: token } = JSON.parse(await verdictd("init", "--json"));
    t.type(token, "string");
    await serves(t, cwd);
    writeFileSync(
      join(cwd, "imports.js"),
      ["browser", "client", "express", "fastify", "fetch"]
        .map((name) => `await import("verdictd/${name}");\n`)
        .join(""),
    );
    await run(process.execPath, ["imports.js"], { cwd, env });
    const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd, env });
    for (const tool of ["tap", "esbuild", "playwright-core", "ts-patch"])
      t.notMatch(stdout, new RegExp(`node_modules/${tool}$`, "m"), `${tool} is not installed with it`);
  });
});

async function serves(t: Test, cwd: string): Promise<void> {
  const words = ["--no", "--", "verdictd", "serve", "--port", "0", "--admin-port", "0", "--scoring-threads", "1"];
  const child = spawn("npx", words, { cwd, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const ended = once(child, "close");
  t.teardown(async () => {
    // npx does not pass a kill on, so its whole group is ended.
    if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg !== "listening") continue;
    const address = `http://127.0.0.1:${port}`;
    for (const path of ["/readyz", "/sdk.js", "/console", "/docs", "/openapi.json"])
      t.equal((await fetch(address + path)).status, 200, path);
    return;
  }
  t.fail("it listens");
}
