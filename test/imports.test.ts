/** Holds the import table of the source tree: who may import whom, and which folder a package stays in. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * What each module may import. Names of modules are folders (or files) below `src`, and the folders below `src/bots`; other names are packages,
 * `node:` stands for every built-in. A module may always import itself. `null` means everything.
 */
const allowed: Record<string, readonly string[] | null> = {
  limits: [],
  errors: [],
  assets: ["node:"],
  contract: ["limits", "errors", "typia", "lru-cache", "node:"],
  detections: ["contract"],
  engines: ["limits", "contract", "detections", "net", "runtime"],
  rules: ["limits", "contract", "net", "ipaddr.js", "lru-cache"],
  bots: ["limits", "contract"],
  "bots/verified": ["limits", "assets", "contract", "bots", "net", "runtime", "lru-cache", "tldts", "node:"],
  "bots/signed": ["limits", "assets", "contract", "bots", "net", "lru-cache", "structured-headers", "node:"],
  "bots/declared": ["limits", "assets", "contract", "bots", "bots/verified", "detections"],
  "bots/marks": ["limits", "assets", "contract", "bots", "node:"],
  challenge: ["limits", "contract", "net", "lru-cache", "node:"],
  verdict: ["limits", "contract", "rules", "challenge", "lru-cache"],
  network: ["limits", "assets", "contract", "net", "mmdb-lib/lib/decoder.js", "node:"],
  requests: ["limits", "contract", "net", "node:"],
  store: ["limits", "contract", "lmdb", "node:"],
  cluster: ["limits", "node:"],
  auth: ["limits", "errors", "contract", "store", "lru-cache", "node:"],
  live: ["limits", "contract", "node:"],
  incidents: ["limits", "contract", "rules"],
  alerting: ["limits", "errors", "contract", "rules", "store", "net", "runtime", "incidents", "control-plane", "node:"],
  "control-plane": [
    "limits",
    "errors",
    "contract",
    "engines",
    "rules",
    "bots",
    "bots/verified",
    "bots/signed",
    "challenge",
    "verdict",
    "bots/declared",
    "bots/marks",
    "network",
    "store",
    "auth",
    "net",
    "runtime",
    "lru-cache",
  ],
  "cluster-store": ["limits", "errors", "contract", "store", "cluster", "auth", "ingest", "lru-cache", "node:"],
  ingest: ["limits", "errors", "contract", "engines", "store", "auth", "net", "runtime", "lru-cache", "node:"],
  http: [
    "limits",
    "errors",
    "contract",
    "detections",
    "rules",
    "verdict",
    "auth",
    "control-plane",
    "ingest",
    "middleware",
    "config",
    "net",
    "recording",
    "runtime",
    "alerting",
    "lru-cache",
    "uWebSockets.js",
    "node:",
  ],
  client: ["contract", "net"],
  middleware: ["contract", "verdict", "client", "express", "fastify", "hono"],
  sdk: ["contract", "altcha-lib", "altcha-lib/algorithms/web/pbkdf2"],
  demo: ["contract", "sdk"],
  console: ["contract", "rules", "verdict", "net", "preact", "preact/hooks", "uplot"],
  docs: ["contract", "detections", "rules", "verdict", "config"],
  cli: [
    "limits",
    "errors",
    "assets",
    "contract",
    "rules",
    "bots",
    "bots/verified",
    "bots/signed",
    "bots/declared",
    "bots/marks",
    "network",
    "store",
    "live",
    "control-plane",
    "cluster-store",
    "config",
    "net",
    "runtime",
    "server",
    "commander",
    "node:",
  ],
  config: ["limits", "contract", "cluster", "net", "runtime", "yaml", "node:"],
  metrics: ["contract", "detections", "prom-client", "node:"],
  net: ["limits", "contract", "ipaddr.js"],
  recording: [
    "limits",
    "errors",
    "contract",
    "rules",
    "store",
    "auth",
    "control-plane",
    "net",
    "runtime",
    "lru-cache",
    "node:",
  ],
  runtime: ["limits", "net", "lru-cache", "pino", "node:"],
  server: [
    "limits",
    "assets",
    "contract",
    "detections",
    "engines",
    "bots/verified",
    "bots/signed",
    "challenge",
    "verdict",
    "bots/declared",
    "bots/marks",
    "network",
    "requests",
    "store",
    "auth",
    "live",
    "control-plane",
    "cluster-store",
    "ingest",
    "http",
    "docs",
    "config",
    "metrics",
    "net",
    "recording",
    "runtime",
    "rules",
    "incidents",
    "alerting",
    "piscina",
    "node:",
  ],
};

interface Import {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly from: string;
  readonly to: string;
  /** The imported file of ours, without its extension; null for a package. */
  readonly path: string | null;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function moduleOf(file: string): string {
  const path = relative(join(root, "src"), file);
  return /^(?:bots\/\w+(?=\/)|[\w-]+)/.exec(path)?.[0] ?? path;
}

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  for (const [index, text] of readFileSync(file, "utf8").split("\n").entries()) {
    const specifier = /(?:^|\s)(?:from\s+|import\s+|import\()"([^"]+)"/.exec(text)?.[1];
    if (specifier === undefined) continue;
    const path = specifier.startsWith(".") ? resolve(dirname(file), specifier.replace(/\.js$/, "")) : null;
    const to = path ? moduleOf(path) : specifier.startsWith("node:") ? "node:" : specifier;
    found.push({ file: relative(root, file), line: index + 1, text: text.trim(), from: moduleOf(file), to, path });
  }
  return found;
}

t.test("every import of src/ is in the table of who may import whom", async (t) => {
  const imports = sources(join(root, "src")).flatMap(importsOf);
  t.ok(imports.length > 0, "there are imports to check");
  for (const each of imports) {
    const may = allowed[each.from];
    if (may === undefined) t.fail(`${each.file}: module "${each.from}" has no row in the table`);
    else if (may !== null && each.to !== each.from && !may.includes(each.to)) {
      t.fail(`${each.file}:${each.line} ${each.from} may not import ${each.to}: ${each.text}`);
    }
  }
});

t.test("the table permits nothing that no file uses", async (t) => {
  const imports = sources(join(root, "src")).flatMap(importsOf);
  for (const [module, may] of Object.entries(allowed)) {
    const used = new Set(imports.filter(({ from }) => from === module).map(({ to }) => to));
    t.same(
      (may ?? []).filter((each) => !used.has(each)),
      [],
      module,
    );
  }
});

t.test("no import goes in a circle", async (t) => {
  const files = ["src", "workers", "bench", "scripts", "test"].flatMap((folder) => sources(join(root, folder)));
  const known = new Set(files);
  const next = new Map(
    files.map((file) => {
      const targets = importsOf(file).flatMap(({ path }) => (path === null ? [] : [`${path}.ts`, `${path}.tsx`]));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
  t.ok([...next.values()].flat().length > files.length, "imports are found");
  // Files that import none of those left go, until none does: what stays is in a circle, or leads to one.
  for (let before = -1; before !== next.size; ) {
    before = next.size;
    for (const [file, targets] of next) if (!targets.some((target) => next.has(target))) next.delete(file);
  }
  t.same(
    [...next.keys()].map((file) => relative(root, file)),
    [],
  );
});

t.test("typia is called by one file only", async (t) => {
  const callers = sources(join(root, "src"))
    .flatMap(importsOf)
    .filter((each) => each.to === "typia" && !each.text.includes("import type"));
  t.same(
    callers.map((each) => each.file),
    ["src/contract/validators.ts"],
  );
});

t.test("contract and control plane stand in folders by idea; beside them one file of checks", async (t) => {
  const page = readFileSync(join(root, "src/docs/architecture.md"), "utf8");
  for (const [module, beside] of [
    ["contract", ["validators.ts"]],
    ["control-plane", []],
  ] as const) {
    const entries = readdirSync(join(root, "src", module), { withFileTypes: true });
    t.same(
      entries.filter((each) => each.isFile() && each.name.endsWith(".ts")).map((each) => each.name),
      beside,
      module,
    );
    for (const { name } of entries.filter((each) => each.isDirectory())) {
      t.match(page, `\n| \`${name}\` `, `architecture.md says what ${name} holds`);
    }
  }
});

t.test("a folder of the control plane imports only those above it in architecture.md", async (t) => {
  const page = readFileSync(join(root, "src/docs/architecture.md"), "utf8");
  const table = page.slice(page.indexOf("`src/control-plane` too"));
  const folders = [...table.matchAll(/^\| `([\w-]+)` /gm)].map(([, name]) => name!);
  const source = join(root, "src/control-plane");
  const placeOf = (path: string): number => folders.indexOf(relative(source, path).split("/")[0]!);
  for (const { file, line, path, text } of sources(source).flatMap(importsOf)) {
    if (path === null || relative(source, path).startsWith("..")) continue;
    const place = placeOf(path);
    t.ok(place >= 0 && place <= placeOf(join(root, file)), `${file}:${line} ${text}`);
  }
});

t.test("every source file opens with what it is for", async (t) => {
  for (const folder of ["src", "workers", "bench", "scripts", "test"]) {
    for (const file of sources(join(root, folder))) {
      const opening = readFileSync(file, "utf8")
        .replace(/^#!.*\n/, "")
        .slice(0, 2);
      t.ok(opening === "/*" || opening === "//", `${relative(root, file)} opens with a comment`);
    }
  }
});
