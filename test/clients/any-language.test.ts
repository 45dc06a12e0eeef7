/** Runs the sites of the page "From any language", each in its language, with the clients that a server gives out: against a real verdictd, then without. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { samplesOf } from "../docs/samples.js";
import { startVerdictd } from "../middleware/verdictd-process.js";
import { freePort } from "../support/free-port.js";
import { waitUntil } from "../support/wait-until.js";
import { startFront } from "./front.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const page = "src/docs/any-language.md";
const samples = samplesOf(page, readFileSync(join(root, page), "utf8")).filter(({ mark }) =>
  mark.startsWith("clients: "),
);
const linesMax = 40;

const running = await startVerdictd(t);
await running.enableChallenge();
const front = await startFront(t, running.baseUrl);

const cookie = { Cookie: `service_session=${running.sessionToken}` };
const navigation = { Accept: "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate" };

/** What starts a site in its folder. */
const starts: Readonly<Record<string, (folder: string, port: number) => readonly [string, ...string[]]>> = {
  "site.py": (folder) => {
    copyFileSync(join(root, "dist/clients/verdictd.py"), join(folder, "verdictd.py"));
    return ["python3", "-B", "site.py"];
  },
  "site.php": (folder, port) => {
    copyFileSync(join(root, "dist/clients/verdictd.php"), join(folder, "verdictd.php"));
    return ["php", "-S", `127.0.0.1:${port}`, "site.php"];
  },
  "main.go": (folder) => {
    mkdirSync(join(folder, "verdictd"));
    copyFileSync(join(root, "dist/clients/verdictd.go"), join(folder, "verdictd/verdictd.go"));
    writeFileSync(join(folder, "go.mod"), "module shop\n\ngo 1.19\n");
    const { status, stderr } = spawnSync("go", ["build", "-o", "site", "."], { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`go build: ${stderr}`);
    return [join(folder, "site")];
  },
};

for (const [name, start] of Object.entries(starts)) {
  t.test(name, async (t) => {
    const folder = t.testdir();
    writeFileSync(join(folder, name), sourceOf(name));
    const port = await freePort();
    const stateFolder = t.testdirName;
    // One site after the other, and none begins with what the last one has left.
    front.fault = "pass";
    const child = spawnSite(t, start(folder, port), folder, { PORT: String(port), TMPDIR: stateFolder });
    await checkSite(t, `http://127.0.0.1:${port}`, child);
  });
}

t.test("a shell", async (t) => {
  const folder = t.testdir();
  front.fault = "pass";
  const run = (path: string, token = ""): Promise<string> =>
    output(
      spawnSite(t, ["bash", "-c", sourceOf("visit.sh")], folder, {
        VISITOR_PATH: path,
        VISITOR_TOKEN: token,
        TMPDIR: folder,
      }),
    );
  t.match(
    await run("/checkout"),
    /^Set-Cookie: service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax\nallow\n$/,
  );
  const block = JSON.parse(await run("/block", running.sessionToken));
  t.match(block, { status: 403, headers: { "X-Verdict-Id": /^[\w-]{8,}$/ }, body: /<h1>Access denied/ });
  t.match(JSON.parse(await run("/challenge", running.sessionToken)), { status: 403, body: /challenge\.js/ });
  front.fault = "closes";
  for (let failure = 0; failure < 5; failure++) t.equal(await run("/block", running.sessionToken), "allow\n");
  front.asked.length = 0;
  t.equal(await run("/block", running.sessionToken), "allow\n");
  t.same(front.asked, [], "after five failures nobody is asked");
});

t.test("what is shown for frameworks can be read by its language", async (t) => {
  const readers: Readonly<Record<string, readonly [string, ...string[]]>> = {
    python: ["python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"],
    php: ["php", "-l"],
  };
  const shown = samples.filter(({ mark }) => mark === "clients: shown");
  t.ok(shown.length >= 4);
  for (const { language, line, source } of shown) {
    const [program, ...args] = readers[language]!;
    const { status, stderr, stdout } = spawnSync(program, args, { input: source, encoding: "utf8" });
    t.equal(status, 0, `${page}:${line}: ${stderr}${stdout}`);
  }
});

/** The program, with time limits for a busy machine, and a breaker that stays open until the test has looked. */
function sourceOf(name: string): string {
  const sample = samples.find(({ mark }) => mark === `clients: ${name}`);
  if (sample === undefined) throw new Error(`${page} has no ${name}`);
  const lines = sample.source.split("\n").length - 1;
  if (lines > linesMax) throw new Error(`${name} has ${lines} lines`);
  const patient: readonly (readonly [RegExp, string])[] = [
    [/\b150\b/, "10000"],
    [/0\.10000|0\.150/, "10"],
    [/\b1000\b/, "3600000"],
    [/1 second ago/, "1 hour ago"],
  ];
  return patient.reduce((source, [from, to]) => source.replace(from, to), sample.source);
}

function spawnSite(
  t: Test,
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
  more: Readonly<Record<string, string>>,
): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    BASE: front.url,
    PRIVATE_KEY: running.privateKey,
    ...more,
  };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  child.stderr!.on("data", () => {});
  t.teardown(() => child.kill("SIGKILL"));
  return child;
}

async function output(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const piece of child.stdout!) text += String(piece);
  return text;
}

async function checkSite(t: Test, site: string, child: ChildProcess): Promise<void> {
  child.stdout!.on("data", () => {});
  const isThere = (): Promise<boolean> =>
    fetch(site).then(
      () => true,
      () => false,
    );
  await waitUntil(isThere, (is) => is);
  const first = await fetch(site, { headers: navigation });
  t.equal(first.status, 200);
  t.match(await first.text(), /^verdict: not_computed\n$/);
  t.match(first.headers.get("set-cookie"), /^service_session=sess_[\w-]{28}; Path=\/; Max-Age=86400; SameSite=Lax$/);
  t.equal(first.headers.get("cache-control"), "private");
  const block = await fetch(`${site}/block`, { headers: { ...cookie, Accept: "text/html" } });
  t.same([block.status, /<h1>Access denied/.test(await block.text())], [403, true], "a blocked visitor gets the page");
  const challenge = await fetch(`${site}/challenge`, { headers: { ...cookie, Accept: "text/html" } });
  t.same([challenge.status, challenge.headers.get("x-verdict-action")], [403, "challenge"]);
  t.match(await challenge.text(), `data-site-key="${running.siteKey}"`);
  t.equal((await fetch(`${site}/login`, { headers: cookie })).status, 200);
  const isReported = async (): Promise<boolean> => front.asked.some(({ path }) => path.endsWith("/logged-in"));
  t.ok(await waitUntil(isReported, (is) => is), "the login is reported");
  front.fault = "closes";
  for (let failure = 0; failure < 5; failure++) {
    t.equal((await fetch(`${site}/block`, { headers: cookie })).status, 200, "without verdictd visitors are let in");
  }
  // The login's report may have succeeded after the first of them.
  const isLeftAlone = async (): Promise<boolean> => {
    front.asked.length = 0;
    t.equal((await fetch(`${site}/block`, { headers: cookie })).status, 200);
    return front.asked.length === 0;
  };
  t.ok(await waitUntil(isLeftAlone, (is) => is), "then nobody is asked");
}
