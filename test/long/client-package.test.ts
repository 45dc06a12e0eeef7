/**
 * `verdictd-client` as a customer gets it: packed, installed without a network, imported and required, type-checked with the frameworks of today,
 * and at work in each of them. Continuous integration runs this file too.
 */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { allSamples } from "../docs/samples.js";
import { automatedBatch, batch } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { scoredSession } from "../support/scored-session.js";
import { firstTenant, startServer } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";
import { programs, typed } from "./client-programs.js";

const run = promisify(execFile);
const dist = fileURLToPath(new URL("../..", import.meta.url));
const packed = join(dist, "verdictd-client.tgz");
const { resolve } = createRequire(import.meta.url);
/** As most customers have it, and its native successor, which takes a tenth of the time. */
const compiler = resolve("typescript/bin/tsc");
const nativeCompiler = join(dirname(resolve("typescript-native/package.json")), "bin/tsc");
/** tap has each Node process load a module of its own; a customer's does not. */
const { NODE_OPTIONS: _, ...inherited } = process.env;
const env = { ...inherited, npm_config_offline: "true" };
const entries = ["", "/client", "/express", "/fastify", "/fetch", "/browser"];

/** A folder outside of the checkout, where nothing else could be found, in which the packed file has been installed as the documentation says. */
const installed = mkdtempSync(join(tmpdir(), "verdictd-client-"));
t.teardown(() => rmSync(installed, { recursive: true, force: true }));
cpSync(packed, join(installed, "verdictd-client.tgz"));
writeFileSync(join(installed, "package.json"), '{ "private": true }');
await run("npm", ["install", "--no-audit", "--no-fund", "./verdictd-client.tgz"], { cwd: installed, env });

/** What was installed, copied below the checkout, where the frameworks are found. */
function installedIn(t: Test, folder: string): string {
  mkdirSync(folder, { recursive: true });
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const each of ["package.json", "node_modules"])
    cpSync(join(installed, each), join(folder, each), { recursive: true });
  return folder;
}

t.test("the packed file is what npm would pack, and holds nothing else", async (t) => {
  const words = ["pack", "--json", "--dry-run", "--ignore-scripts"];
  const { stdout } = await run("npm", words, { cwd: join(dist, "client-package"), env });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const { stdout: listed } = await run("tar", ["-tzf", packed]);
  t.same(listed.trim().split("\n").sort(), files.map(({ path }) => `package/${path}`).sort());
  const allowed =
    /^package\/(LICENSE|README\.md|package\.json|esm\/[\w-]+\.js|cjs\/[\w-]+\.cjs|types\/[\w/-]+\.d\.c?ts)$/;
  for (const path of listed.trim().split("\n")) t.match(path, allowed);
});

t.test("in an empty folder, without a network: one package, every entry by import and by require", async (t) => {
  const folder = installed;
  const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: folder, env });
  t.same(stdout.trim().split("\n").length, 2, "the project and this package");
  const manifest = JSON.parse(readFileSync(join(folder, "node_modules/verdictd-client/package.json"), "utf8"));
  t.same([manifest.dependencies, manifest.scripts, manifest.license], [undefined, undefined, "MIT"]);
  const names = entries.map((entry) => JSON.stringify(`verdictd-client${entry}`)).join(", ");
  const print =
    "console.log(JSON.stringify(made.map((each) => Object.keys(each).filter((name) => name !== 'default').sort())));";
  writeFileSync(
    join(folder, "a.mjs"),
    `const made = await Promise.all([${names}].map((name) => import(name))); ${print}`,
  );
  writeFileSync(join(folder, "a.cjs"), `const made = [${names}].map(require); ${print}`);
  const expected = [
    ["createClient"],
    ["createClient"],
    ["verdictd"],
    ["verdictd"],
    ["createGuard", "honoVerdictd", "withSessionCookie", "withVerdict"],
    ["init"],
  ];
  for (const file of ["a.mjs", "a.cjs"]) {
    const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder, env });
    t.same([JSON.parse(stdout), stderr], [expected, ""], file);
  }
});

t.test("types pass `tsc --strict` with Express, Fastify and Hono, and mistakes are noticed", async (t) => {
  const folder = installedIn(t, t.testdir());
  for (const [name, text] of Object.entries(typed)) writeFileSync(join(folder, name), text);
  const samples = allSamples().filter(
    ({ language, mark, source }) => language === "js" && !mark.startsWith("browsers: ") && !/localStorage/.test(source),
  );
  const whole = samples.filter(({ mark }) => mark !== "fragment");
  for (const [index, { source }] of whole.entries()) writeFileSync(join(folder, `sample-${index}.mjs`), source);
  t.ok(whole.length >= 8);
  const common = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    target: "ES2022",
    types: ["node"],
    lib: ["ES2023", "DOM"],
  };
  const strictest = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const modules = Object.keys(typed).filter((name) => name.endsWith(".mts"));
  for (const [name, by, options, files] of [
    ["node16", compiler, { ...common, ...strictest, module: "node16", moduleResolution: "node16" }, Object.keys(typed)],
    ["bundler", nativeCompiler, { ...common, ...strictest, module: "esnext", moduleResolution: "bundler" }, modules],
    // The samples are JavaScript: their parameters have no types.
    [
      "samples",
      nativeCompiler,
      { ...common, module: "node16", allowJs: true, checkJs: true, noImplicitAny: false, strictNullChecks: true },
      [...whole.map((_, index) => `sample-${index}.mjs`), "page.d.ts"],
    ],
  ] as const) {
    writeFileSync(join(folder, "page.d.ts"), '/// <reference types="verdictd-client/browser" />\n');
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ compilerOptions: options, files }));
    const complaints = await run(process.execPath, [by, "-p", `${name}.json`], { cwd: folder, env }).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    t.equal(complaints, "", name);
  }
});

t.test("each middleware lets people in, keeps bots out and challenges", async (t) => {
  // Beside the test's own folder, which the server's data takes.
  const folder = installedIn(t, `${t.testdirName}-client`);
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const tenant = await firstTenant(server);
  const bot = await scoredSession(server, tenant, automatedBatch("bot"));
  const person = await scoredSession(server, tenant, batch("person"));
  for (const action of ["block", "challenge"]) {
    const body = { name: action, expression: `path == "/${action}" AND band == "definite"`, action };
    await server.ask("POST", `/v1/projects/${tenant.projectId}/rules`, { token: tenant.token, body });
  }
  for (const [name, text] of Object.entries(programs)) {
    const port = await freePort();
    writeFileSync(join(folder, name), text);
    const child = spawn(process.execPath, [name], {
      cwd: folder,
      env: {
        ...env,
        PORT: String(port),
        BASE: server.address,
        PRIVATE_KEY: tenant.privateKey,
        SITE_KEY: tenant.siteKey,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    t.teardown(() => child.kill("SIGKILL"));
    const get = (path: string, session?: string, accept = "application/json") =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { Accept: accept, ...(session !== undefined && { Cookie: `service_session=${session}` }) },
      });
    await waitUntil(
      () =>
        get("/").then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status !== 0 || child.exitCode !== null,
    );
    for (const [who, session, verdict] of [
      ["a stranger", undefined, "not_computed"],
      ["a person", person, "likely_human"],
      ["a bot", bot, "definite"],
    ] as const) {
      const answer = await get("/", session);
      t.same([answer.status, await answer.json()], [200, { verdict }], `${name}: ${who}`);
    }
    t.equal((await get("/block", person)).status, 200, `${name}: a person is let in`);
    const blocked = await get("/block", bot);
    t.same(
      [blocked.status, ((await blocked.json()) as { code: string }).code],
      [403, "REQUEST_BLOCKED"],
      `${name}: a bot is blocked`,
    );
    t.equal((await get("/challenge", person)).status, 200, `${name}: a person is not challenged`);
    const page = await get("/challenge", bot, "text/html");
    t.same([page.status, page.headers.get("x-verdict-action")], [403, "challenge"], `${name}: a bot is challenged`);
    t.ok((await page.text()).includes(`data-site-key="${tenant.siteKey}"`), `${name}: by verdictd's page`);
  }
});
