/**
 * The samples of `src/docs/frontends.md` with the packages that the registry has now, bundled as a customer does, in Chromium: each request is
 * challenged, passed in the page, and sent once more. By the test keys, so a driven browser passes.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import express from "express";
import type { Page } from "playwright-core";
import t from "tap";
import { testKeys } from "../../src/contract/configuration/test-keys.js";
import { verdictd } from "../../src/middleware/express.js";
import { Desk } from "../console/desk.js";
import { installClient } from "../docs/installed-client.js";
import { allSamples } from "../docs/samples.js";
import { launch, noChromium } from "../support/chromium.js";
import { listening } from "../support/listening.js";
import { serve } from "../support/process.js";
import { waitUntil } from "../support/wait-until.js";

const run = promisify(execFile);
const { siteKey, privateKey } = testKeys("challenge");

/** The sample with this mark, for this site. */
function sample(name: string): string {
  const found = allSamples().find(({ mark }) => mark === `browsers: ${name}`);
  if (found === undefined) throw new Error(`no sample ${name}`);
  return found.source
    .replace(', endpoint: "https://verdictd.example"', "")
    .replaceAll("https://verdictd.example", "")
    .replaceAll("pk_…", siteKey);
}

t.test("frameworks in Chromium", { skip: noChromium ?? false }, async (t) => {
  const folder = t.testdir({ data: {}, site: { "package.json": '{"private":true,"type":"module"}' } });
  const server = await serve(t, join(folder, "data"), { flags: ["--test-keys", "--verdict-ttl", "0"] });
  const project = join(folder, "site");
  const packages = ["react", "react-dom", "vue", "htmx.org@4", "htmx2@npm:htmx.org@2", "@hotwired/turbo"];
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  await run("npm", ["install", ...quiet, ...packages], { cwd: project, env: { ...process.env, NODE_OPTIONS: "" } });
  installClient(project);
  const files: Record<string, string> = {
    "bots.js": sample("bots.js"),
    "react.jsx": sample("react"),
    "vue.js": sample("vue"),
    "turbo.js": sample("turbo"),
    "htmx4.js": sample("htmx4"),
    "htmx2.js": `import htmx from "htmx2/dist/htmx.esm.js";\nwindow.htmx = htmx;\n${sample("htmx2")}`,
    "bare.js": 'import { bots } from "./bots.js";\nwindow.bots = bots;\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  await build({
    entryPoints: Object.keys(files).map((name) => join(project, name)),
    bundle: true,
    format: "esm",
    jsx: "automatic",
    outdir: join(project, "made"),
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });

  const asked: string[] = [];
  const app = express();
  app.use((req, res, next) => {
    if (!/^\/(sdk|challenge|v1)/.test(req.path)) return next();
    const upstream = request(server.address + req.path, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(upstream);
  });
  app.use("/made", express.static(join(project, "made")));
  const page = (body: string) => (_: unknown, res: { type(type: string): { send(text: string): void } }) =>
    res.type("html").send(`<!doctype html><html lang="en"><title>Shop</title><body>${body}</body></html>`);
  const script = (name: string) => `<script type="module" src="/made/${name}.js"></script>`;
  for (const name of ["react", "vue", "bare"]) app.get(`/${name}`, page(`<div id="app"></div>${script(name)}`));
  app.get("/turbo", page(`${script("turbo")}<a href="/api/order">Go</a>`));
  for (const name of ["htmx2", "htmx4"]) {
    app.get(`/${name}`, page(`<button hx-post="/api/order" hx-swap="outerHTML">Order</button>${script(name)}`));
  }
  app.get("/tag-manager", page(sample("tag-manager")));
  const client = { baseUrl: server.address, privateKey, timeoutMs: 10_000 };
  app.use("/api", (req, _, next) => {
    asked.push(`${req.method} ${req.path}`);
    next();
  });
  app.use("/api", verdictd({ client, challenge: "verdictd", siteKey, requests: true, waitForReport: 1000 }));
  app.all("/api/order", page("<p>Ordered</p>"));
  const origin = `http://${await listening(t, createServer(app))}`;
  const browser = await launch(t);
  /** A visitor of its own: a pass serves its session alone. */
  const visit = async (path: string, script = ""): Promise<Page> => {
    const context = await browser.newContext();
    t.teardown(() => context.close());
    const tab = await context.newPage();
    if (script !== "") await tab.addInitScript(script);
    asked.length = 0;
    await tab.goto(origin + path);
    return tab;
  };

  for (const name of ["react", "vue", "htmx2", "htmx4"]) {
    await t.test(`${name}: a challenged request is passed, and sent once more`, async (t) => {
      const tab = await visit(`/${name}`);
      await tab.getByRole("button", { name: "Order" }).click();
      await tab.getByText("Ordered").waitFor();
      t.same(asked, ["POST /order", "POST /order"]);
    });
  }

  await t.test("turbo: a visit", async (t) => {
    const tab = await visit("/turbo");
    await tab.waitForFunction("window.Turbo !== undefined");
    await tab.evaluate("window.isKept = true");
    await tab.getByText("Go").click();
    await tab.getByText("Ordered").waitFor();
    t.equal(await tab.evaluate("window.isKept"), true, "the page was not loaded anew");
    t.ok(asked.length >= 2);
  });

  await t.test("a Request, a header that is hidden, a stream, and no challenge", async (t) => {
    // The SDK sends by the `fetch` that it finds.
    const tab = await visit(
      "/bare",
      `const real = window.fetch;
      window.fetch = (input, init) => String(input) === "/hidden"
        ? Promise.resolve(new Response('{"code":"CHALLENGE_REQUIRED"}', { status: 403 }))
        : real(input, init);`,
    );
    await tab.waitForFunction("window.bots !== undefined");
    const answers = await tab.evaluate(`(async () => {
      let passes = 0;
      const { challenge } = bots;
      bots.challenge = async () => { passes++; return false; };
      const refused = await bots.fetch("/hidden");
      const said = [refused.status, (await refused.json()).code, passes];
      await bots.fetch("/hidden", { method: "POST", body: new ReadableStream() });
      const plain = await bots.fetch("/made/bare.js");
      bots.challenge = challenge;
      const order = await bots.fetch(new Request("/api/order", { method: "POST", body: "twice" }));
      return [said, passes, plain.status, order.status];
    })()`);
    t.same(answers, [[403, "CHALLENGE_REQUIRED", 1], 1, 200, 200]);
    t.same(asked, ["POST /order", "POST /order"]);
  });

  await t.test("a tag manager's script starts the SDK", async (t) => {
    const tab = await visit("/tag-manager");
    await tab.waitForFunction("window.verdictd !== undefined");
    t.match(await tab.evaluate("window.verdictd.ready"), /^sess_/);
  });

  await t.test("the console says what test keys are", async (t) => {
    const token = await waitUntil(
      async () => /account token {3}(\S+)/.exec(server.lines.join("\n"))?.[1],
      (found) => found !== undefined,
    );
    const projects = await server.ask("GET", "/v1/projects", { token: token! });
    const { id } = projects.json.data.find(({ name }: { name: string }) => name === "Test keys: always a bot");
    const desk = await Desk.open(t, browser, server);
    await desk.signIn(token!);
    await desk.page.goto(`${server.address}/console#/keys?project=${id}`);
    await desk.says(/^These are test keys: everybody knows them/);
  });
});
