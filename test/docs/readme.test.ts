/** The commands of README and quick start, run as they are against a real server and a real backend: they answer what the text promises. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { freePort } from "../support/free-port.js";
import { anotherTenant, askUntil, firstTenant, startServer } from "../support/server.js";
import { installClient } from "./installed-client.js";
import { blocksMarked, keeps, stepsOf } from "./readme-commands.js";

const root = resolve(fileURLToPath(new URL("../../..", import.meta.url)));
const readme = readFileSync(join(root, "README.md"), "utf8");
const quickStart = readFileSync(join(root, "src/docs/quick-start.md"), "utf8");

const server = await startServer(t);

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function run(program: string, words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(program, words, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (piece) => {
    out += piece;
  });
  child.stderr.on("data", (piece) => {
    err += piece;
  });
  const [code] = await once(child, "close");
  return { code, out, err };
}

/** Runs the quick start's backend until the test ends. Inside the checkout, so that its imports find what they name. */
async function startBackend(t: Test, source: string, port: number, environment: NodeJS.ProcessEnv): Promise<void> {
  const folder = mkdtempSync(join(root, "dist/readme-backend-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  installClient(folder);
  const file = join(folder, "backend.mjs");
  writeFileSync(file, source);
  const child = spawn(process.execPath, [file], { env: environment, stdio: ["ignore", "inherit", "inherit"] });
  t.teardown(async () => {
    if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
  });
  const up = await askUntil(
    async () => {
      const status = await fetch(`http://127.0.0.1:${port}/`).then(
        (answer) => answer.status,
        () => 0,
      );
      return { status, headers: new Headers(), text: "", json: undefined };
    },
    ({ status }) => status !== 0 || child.exitCode !== null,
  );
  t.equal(up.status, 404, "the backend answers");
}

t.test("the quick start does what it says, top to bottom", async (t) => {
  const tenant = await firstTenant(server);
  const backendPort = await freePort();
  const here = (text: string): string =>
    text.replaceAll("127.0.0.1:8080", `127.0.0.1:${server.port}`).replaceAll("3000", String(backendPort));
  const environment = {
    ...process.env,
    ACCOUNT_TOKEN: tenant.token,
    SITE_KEY: tenant.siteKey,
    PRIVATE_KEY: tenant.privateKey,
  };
  const [backend] = blocksMarked(quickStart, "run: backend");
  t.ok(backend, "the quick start has a backend");
  // A busy machine may take longer than the 150 ms after which the visitor is let in.
  const patient = here(backend!.source).replace(
    "process.env.PRIVATE_KEY }",
    "process.env.PRIVATE_KEY, timeoutMs: 10_000 }",
  );
  t.match(patient, "timeoutMs");
  await startBackend(t, patient, backendPort, environment);

  const blocks = blocksMarked(quickStart, "run");
  t.ok(blocks.length >= 5, "the quick start has commands to run");
  t.ok((await runBlocks(t, blocks, here, environment)) >= 10, "and says what they answer");
});

t.test("the README's first verdict is what it says", async (t) => {
  const { token, siteKey, privateKey } = await anotherTenant(server, "readme");
  const environment = { ...process.env, ACCOUNT_TOKEN: token, SITE_KEY: siteKey, PRIVATE_KEY: privateKey };
  const here = (text: string): string => text.replaceAll("127.0.0.1:8080", `127.0.0.1:${server.port}`);
  t.equal(await runBlocks(t, blocksMarked(readme, "run"), here, environment), 1);
});

/** Runs the blocks in one shell, so that a variable set by one is there for the next; returns how many promises they made. */
async function runBlocks(
  t: Test,
  blocks: ReturnType<typeof blocksMarked>,
  here: (text: string) => string,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const steps = blocks.flatMap((block) => stepsOf(block).map((step) => ({ ...step, line: block.line })));
  const script = steps.map(({ source }, index) => `${here(source)}\nprintf '\\n@@ ${index}\\n'`).join("\n");
  const ran = await run("bash", ["-e", "-o", "pipefail", "-c", script], environment);
  t.equal(ran.code, 0, ran.err || "the commands succeed");
  const outputs = ran.out.split(/\n@@ \d+\n/);
  for (const [index, { promise, line }] of steps.entries()) {
    if (promise === null) continue;
    const output = outputs[index] ?? "";
    t.ok(keeps(output, promise), `block of line ${line}: ${promise}`, { output });
  }
  return steps.filter(({ promise }) => promise !== null).length;
}

t.test("a promise that is not kept is noticed", async (t) => {
  const [block] = blocksMarked('<!-- run -->\n```sh\ncurl …\n# → {"a":1,…}\necho\n```\n', "run");
  const steps = stepsOf(block!);
  t.same(steps, [
    { source: "curl …", promise: '{"a":1,…}' },
    { source: "echo", promise: null },
  ]);
  const promise = steps[0]!.promise!;
  t.ok(keeps('{"a":1,"b":2}\n', promise));
  for (const output of ['{"a":2,"b":2}', '{"a":1,"b":2', '1{"a":1,"b":2}', ""]) t.notOk(keeps(output, promise), output);
});

t.test("the README is a front page", async (t) => {
  t.ok(Buffer.byteLength(readme) <= 12 * 1024, `${Buffer.byteLength(readme)} bytes`);
});

t.test("files that the documentation names exist", async (t) => {
  const pages = readdirSync(join(root, "src/docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `src/docs/${name}`);
  t.ok(pages.length > 40);
  for (const file of ["README.md", ".github/CONTRIBUTING.md", ...pages]) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, path] of text.matchAll(/`((?:src|scripts|test|workers|bench)\/[\w./-]+)`/g)) {
      t.ok(existsSync(join(root, path!)), `${file}: ${path}`);
    }
  }
});
