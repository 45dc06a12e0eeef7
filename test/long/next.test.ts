/**
 * The documentation's samples for Next.js in a project of its own, with the Next that the registry has now: type-checked strictly, built, and
 * served. Too large (340 MB) to be a dependency of the tests; needs the registry. Installs Express too, by the quick start's line.
 */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { allSamples } from "../docs/samples.js";
import { automatedBatch, batch } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { scoredSession } from "../support/scored-session.js";
import { firstTenant, startServer } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

const run = promisify(execFile);
const packed = fileURLToPath(new URL("../../verdictd-client.tgz", import.meta.url));
const { NODE_OPTIONS: _, ...inherited } = process.env;

t.test("Next.js: the proxy and the route handler of the documentation", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const tenant = await firstTenant(server);
  const bot = await scoredSession(server, tenant, automatedBatch("bot"));
  const person = await scoredSession(server, tenant, batch("person"));
  const body = { name: "bots", expression: 'path starts_with "/checkout" AND band == "definite"', action: "block" };
  await server.ask("POST", `/v1/projects/${tenant.projectId}/rules`, { token: tenant.token, body });

  const folder = mkdtempSync(join(tmpdir(), "verdictd-next-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(packed, join(folder, "verdictd-client.tgz"));
  const env = { ...inherited, NEXT_TELEMETRY_DISABLED: "1", PRIVATE_KEY: tenant.privateKey };
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const packages = ["next@16", "react@19", "react-dom@19", "typescript@5", "@types/react@19", "@types/node@20"];
  const words = ["install", "--no-audit", "--no-fund", "--prefer-offline", "./verdictd-client.tgz", ...packages];
  await run("npm", words, { cwd: folder, env });

  // A busy machine may take longer than the 150 ms after which the visitor is let in.
  const sample = (words: string): string =>
    allSamples()
      .find(({ language, source }) => language === "ts" && source.includes(words))!
      .source.replaceAll("http://127.0.0.1:8080", server.address)
      .replace("process.env.PRIVATE_KEY", "$&, timeoutMs: 10_000");
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    isolatedModules: true,
    esModuleInterop: true,
    resolveJsonModule: true,
    jsx: "react-jsx",
    types: ["node"],
  };
  const files = {
    "proxy.ts": sample("NextRequest"),
    "app/checkout/route.ts": sample("withVerdict"),
    "app/free/route.ts": sample("withVerdict"),
    "app/layout.tsx":
      "export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html><body>{children}</body></html>;\n}\n",
    "app/page.tsx": "export default function Page() {\n  return <p>Home</p>;\n}\n",
    "samples.json": JSON.stringify({ compilerOptions, files: ["proxy.ts", "app/checkout/route.ts"] }),
    "tsconfig.json": JSON.stringify({
      compilerOptions: { ...compilerOptions, skipLibCheck: true },
      include: ["**/*.ts", "**/*.tsx"],
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const program = (name: string) => join(folder, "node_modules", name);
  const complaints = await run(process.execPath, [program("typescript/bin/tsc"), "-p", "samples.json"], {
    cwd: folder,
    env,
  }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  t.same(
    complaints.split("\n").filter((line) => /^\S+\(\d+,\d+\): /.test(line) && !line.startsWith("node_modules/next/")),
    [],
    "no complaint, but for those of Next's own declarations",
  );
  await run(process.execPath, [program("next/dist/bin/next"), "build"], { cwd: folder, env });
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [program("next/dist/bin/next"), "start", "-p", String(port), "-H", "127.0.0.1"],
    {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  t.teardown(() => child.kill("SIGKILL"));
  const get = (path: string, session: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { Cookie: `service_session=${session}` } });
  await waitUntil(
    () =>
      get("/", person).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status !== 0 || child.exitCode !== null,
  );
  const shown = await get("/checkout", person);
  t.same([shown.status, await shown.json()], [200, { verdict: "likely_human" }], "a person gets to the route");
  const blocked = await get("/checkout", bot);
  t.same(
    [blocked.status, ((await blocked.json()) as { code: string }).code],
    [403, "REQUEST_BLOCKED"],
    "a bot does not",
  );
  t.same(
    await (await get("/free", bot)).json(),
    { verdict: "definite" },
    "where no rule speaks, the route has the verdict",
  );
});

t.test("the quick start's line installs the client and Express", async (t) => {
  const server = await startServer(t);
  const folder = mkdtempSync(join(tmpdir(), "verdictd-quick-start-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const line = allSamples().find(({ source }) => source.includes("&& npm install express"))!;
  const here = line.source.replace("http://127.0.0.1:8080", server.address);
  await run("bash", ["-e", "-c", here], { cwd: folder, env: inherited });
  const script = 'import "express"; import { verdictd } from "verdictd-client/express"; console.log(typeof verdictd);';
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    env: inherited,
  });
  t.equal(stdout, "function\n");
});
