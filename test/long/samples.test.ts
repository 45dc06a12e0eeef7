/**
 * Every sample of the documentation is run: here, or in the test that is named beside it. A sample that no kind takes fails, and so does a kind
 * that takes none. Type-checked are those for Node in `test/long/client-package.test.ts`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import t, { type Test } from "tap";
import { serveOptions } from "../../src/config/config.js";
import { readConfigFile } from "../../src/config/config-file.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { installClient } from "../docs/installed-client.js";
import type { Claim, Program, Who } from "../docs/sample-checks.js";
import { allSamples, placeOf, type Sample, samplesOf } from "../docs/samples.js";
import { automatedBatch, batch } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { command } from "../support/process.js";
import { scoredSession } from "../support/scored-session.js";
import { firstTenant, startServer, type Tenant, type TestServer } from "../support/server.js";

/** Where else a sample is run, by what it contains. */
const elsewhere: Readonly<Record<string, string>> = {
  "npm ci && npm start": "test/long/newcomer.test.ts",
  "npm ci && npm test": "this is it",
  "npx verdictd recipe nginx": "test/proxies/recipe.test.ts, in front of a site of its own",
  "&& npm install express": "test/long/next.test.ts",
  "npm ci && npm run --silent build":
    "test/long/newcomer.test.ts builds, test/long/npm-package.test.ts runs init and serve",
  "scp dist/verdictd-linux-x64": "test/long/package-smoke.test.ts, in an empty root instead of another host",
  "npm run bench": "test/bench",
  "store migrate --to URL": "test/drills/migrate.test.ts, with a cluster of its own",
  "serve --store valkey://": "test/long/cluster.test.ts, with a cluster of its own",
  "user verdictd on >PASSWORD": "test/cluster-store/permissions.test.ts",
  "$PROJECT/channels": "test/alerting/alerting-node.test.ts, to a receiver of its own",
  '"channel_ids": [1]': "test/alerting/alerting-node.test.ts",
  "def is_signed(headers, body)": "test/alerting/receivers.test.ts",
  "function isSigned(headers, body)": "test/alerting/receivers.test.ts",
  "// captcha.js": "test/docs/captcha-example.test.ts",
  "// analytics.js": "test/docs/analytics-example.test.ts",
  'localStorage.getItem("bot-detection")': "test/browsers/sdk-page.test.ts, in Chromium",
  '<button id="allow">': "test/browsers/sdk-page.test.ts, in Chromium",
};

const samples = allSamples();
const taken = new Set<Sample>();

/** The samples of a kind, which are then taken. */
function take(t: Test, is: (sample: Sample) => boolean): Sample[] {
  const found = samples.filter((sample) => is(sample) && !taken.has(sample));
  for (const sample of found) taken.add(sample);
  t.ok(found.length > 0, "there are such samples");
  return found;
}

/** Ends of exceptions in samples, which have to be ahead whenever this runs. */
const dateOfSamples = "2026-12-24T12:00:00Z";
const inAWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toISOString();

const contains = (words: string) => (sample: Sample) => sample.source.includes(words);

t.test("samples that another test runs", async (t) => {
  for (const [words, where] of Object.entries(elsewhere))
    for (const sample of take(t, contains(words))) t.comment(`${placeOf(sample)}: ${where}`);
  for (const sample of take(t, ({ mark }) => mark.startsWith("clients: ")))
    t.comment(`${placeOf(sample)}: test/clients/any-language.test.ts`);
  for (const sample of take(t, ({ mark }) => mark.startsWith("browsers: ")))
    t.comment(`${placeOf(sample)}: test/long/frontends.test.ts`);
  const marked = take(t, ({ mark }) => /^run\b/.test(mark));
  for (const sample of marked) t.comment(`${placeOf(sample)}: test/docs/readme.test.ts`);
});

t.test("rules compile", async (t) => {
  for (const sample of take(t, ({ language }) => language === "rule")) {
    const outcome = compileRule(sample.source.trim());
    t.notOk(isRuleFault(outcome), placeOf(sample), { outcome });
  }
});

t.test("answers that are shown are JSON", async (t) => {
  for (const sample of take(t, ({ mark }) => mark === "answer"))
    t.type(JSON.parse(sample.source), Object, placeOf(sample));
});

t.test("configuration files set options that exist", async (t) => {
  for (const sample of take(t, ({ language }) => language === "yaml")) {
    const file = join(t.testdir(), "verdictd.yaml");
    writeFileSync(file, sample.source);
    const mistakes: string[] = [];
    t.ok(readConfigFile(file, serveOptions, mistakes).size > 0, placeOf(sample));
    t.same(mistakes, [], placeOf(sample));
  }
});

t.test("with a server", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const tenant = await firstTenant(server);
  const bot = await scoredSession(server, tenant, automatedBatch("bot"));
  const person = await scoredSession(server, tenant, batch("person"));

  await t.test("script tags load what is served, and set what the SDK reads", async (t) => {
    for (const sample of take(t, ({ language }) => language === "html"))
      for (const [, attributes] of sample.source.matchAll(/<script ([^>]+)>/g)) {
        const [, path] = / src="(?:https?:\/\/[^/"]+)?(\/[^"]+)"/.exec(attributes!) ?? [];
        t.equal((await server.ask("GET", path ?? "/nothing")).status, 200, placeOf(sample));
        t.match(attributes, / data-site-key="pk_…"/, placeOf(sample));
      }
  });

  await t.test("bodies of requests are answered", async (t) => {
    for (const sample of take(t, ({ language, mark }) => language === "json" && mark === "when")) {
      const when = JSON.parse(sample.source);
      const path = `/v1/projects/${tenant.projectId}/alerts/test`;
      const [from, to] = [Date.now() - 3_600_000, Date.now()].map((at) => new Date(at).toISOString());
      const { status, text } = await server.ask("POST", path, { token: tenant.token, body: { when, from, to } });
      t.equal(status, 200, `${placeOf(sample)}: ${text}`);
    }
    for (const sample of take(t, ({ language, mark }) => language === "json" && mark === "")) {
      const path = `/v1/projects/${tenant.projectId}/sessions/query`;
      const { status, text } = await server.ask("POST", path, { token: tenant.token, body: sample.source });
      t.equal(status, 200, `${placeOf(sample)}: ${text}`);
    }
  });

  await t.test("commands of verdictd are done", (t) => runCommands(t, server));
  await t.test("commands of a shell are done", (t) => runShell(t, server, tenant));
  await t.test("programs do what they say", (t) => runPrograms(t, server, tenant, { bot, person }));
});

t.test("no sample is left over, and texts are the only ones that are not run", async (t) => {
  for (const sample of samples)
    if (!taken.has(sample)) t.equal(sample.language, "text", `${placeOf(sample)} is a text, or some kind takes it`);
  t.ok(samples.length > 40);
});

t.test("a sample is found whatever its fence, and one without an end is noticed", async (t) => {
  const found = samplesOf("a.md", "<!-- run -->\n```go\nx\n```\n\n~~~~python\n```\n~~~~\n  ```\n  y\n  ```\n");
  t.same(
    found.map(({ line, language, mark, source }) => [line, language, mark, source]),
    [
      [2, "go", "run", "x\n"],
      [6, "python", "", "```\n"],
      [9, "", "", "  y\n"],
    ],
  );
  t.throws(() => samplesOf("a.md", "```\nx\n"), /a\.md:1/);
});

/** Beside the running server, line after line; files are put where the samples name them. What runs until it is stopped is left out. */
async function runCommands(t: Test, server: TestServer): Promise<void> {
  const folder = t.testdir({
    "exits.txt": "192.0.2.1\n",
    "as.txt": "64500\n",
    "monitors.txt": "192.0.2.10\n",
    "agents.json": JSON.stringify({
      version: "1",
      agents: [{ url: "https://chatgpt.com", name: "ChatGPT", category: "ai_agent" }],
    }),
    "keys.json": JSON.stringify({
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    }),
  });
  const here = (text: string): string =>
    text
      .replaceAll("/var/backups/verdictd", folder)
      .replaceAll(dateOfSamples, inAWeek())
      .replace(/ (?=(exits|as|monitors)\.txt|(agents|keys)\.json)/g, ` ${folder}/`);
  const env = { VERDICTD_DATA_DIR: server.dataDir };
  for (const sample of take(t, ({ language, source }) => language === "sh" && /^(npx )?verdictd /m.test(source))) {
    for (const line of sample.source.trimEnd().split("\n")) {
      const [, words] = /^(?:eval "\$\()?(?:npx )?verdictd (.+?)(?:\)")?(?: +#.*)?$/.exec(line) ?? [];
      if (words === undefined || /^(serve|tail) /.test(words)) {
        t.comment(`${placeOf(sample)}: not run here: ${line}`);
        continue;
      }
      const { code, stderr } = await command(here(words).split(" "), env);
      t.equal(code, 0, `${placeOf(sample)}: verdictd ${words}: ${stderr}`);
    }
  }
}

/** Each block in a shell of its own that stops at what fails, in an empty folder; `curl` and `npm` are the real ones. */
async function runShell(t: Test, server: TestServer, tenant: Tenant): Promise<void> {
  const environment = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    npm_config_prefer_offline: "true",
    BASE: server.address,
    PROJECT: String(tenant.projectId),
    TOKEN: tenant.token,
    PRIVATE_KEY: tenant.privateKey,
  };
  const done = new Set<string>();
  for (const sample of take(t, ({ language }) => language === "sh")) {
    const source = sample.source
      .replaceAll("http://127.0.0.1:8080", server.address)
      .replaceAll("curl ", "curl -sSf ")
      .replaceAll(dateOfSamples, inAWeek());
    // The same line stands in several places.
    if (done.has(source)) continue;
    done.add(source);
    // A manifest of its own: npm would take the checkout's, and install into it.
    const cwd = t.testdir({ "package.json": '{ "private": true }' });
    const child = spawn("bash", ["-e", "-o", "pipefail", "-c", source], { cwd, env: environment });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (piece) => {
        out += piece;
      });
    }
    const [code] = await once(child, "close");
    t.equal(code, 0, `${placeOf(sample)}: ${out}`);
  }
}

/** Programs for Node, in one process: servers among them listen on ports of their own, and are asked for what they say. */
async function runPrograms(
  t: Test,
  server: TestServer,
  tenant: Tenant,
  visitors: Pick<Who, "bot" | "person">,
): Promise<void> {
  // Inside the checkout, so that the frameworks are found.
  const folder = mkdtempSync(join(fileURLToPath(new URL("../..", import.meta.url)), "samples-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  installClient(folder);
  const found = take(t, ({ language }) => ["js", "ts"].includes(language));
  const captcha = samples.find(contains("// captcha.js"))!;
  writeFileSync(join(folder, "captcha.js"), captcha.source);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const programs = await Promise.all(found.map((sample, index) => program(folder, sample, index, server, tenant)));
  const checks = new URL("../docs/sample-checks.js", import.meta.url).href;
  const who: Who = { ...visitors, ...tenant, address: server.address };
  writeFileSync(
    join(folder, "all.js"),
    `import { runChecks } from ${JSON.stringify(checks)};
    await runChecks(${JSON.stringify(programs)}, (file) => import(file), ${JSON.stringify(who)});\n`,
  );
  const env = { ...process.env, PRIVATE_KEY: tenant.privateKey, NODE_OPTIONS: "" };
  const child = spawn(process.execPath, ["all.js"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  let claims: Claim[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("[[")) claims = JSON.parse(line);
  }
  t.ok(claims.length >= 20, `${claims.length} claims`);
  for (const [claim, found, wanted] of claims) t.same(found, wanted, claim);
}

/** What stands before a sample that is a part of the program above it. */
const prelude = `import express from "express";
  import { verdictd } from "verdictd-client/express";
  import { captcha } from "./captcha.js";
  const app = express();
  const [baseUrl, privateKey] = ["http://127.0.0.1:8080", process.env.PRIVATE_KEY];
  const [siteKey, secret, cookieSecret] = ["key", "secret", "0123456789abcdef0123456789abcdef"];\n`;

async function program(
  folder: string,
  sample: Sample,
  index: number,
  server: TestServer,
  { siteKey }: Tenant,
): Promise<Program> {
  const port = await freePort();
  // A busy machine may take longer than the 150 ms after which the visitor is let in.
  const patient = sample.source.replace(/privateKey: process\.env\.PRIVATE_KEY/g, "$&, timeoutMs: 10_000");
  const here = `${sample.mark === "fragment" ? prelude : ""}${patient}`
    .replaceAll("http://127.0.0.1:8080", server.address)
    .replaceAll("pk_…", siteKey)
    .replaceAll("3000", String(port));
  // What is not exported by itself is for a page: the check calls it.
  const exported = here.replace(/^async function /m, "export $&");
  const { code } = await transform(exported, { loader: sample.language === "ts" ? "ts" : "js" });
  const file = `./sample-${index}.js`;
  writeFileSync(join(folder, file), code);
  return { place: placeOf(sample), file, port, source: sample.source };
}
