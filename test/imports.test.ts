/** Holds the import table of the source tree: who may import whom, and which folder a package stays in. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * What each module may import. Names of modules are folders (or files) below `src`; other names are packages, `node:` stands
 * for every built-in. A module may always import itself. `null` means everything.
 */
const allowed: Record<string, readonly string[] | null> = {
  limits: [],
  "yield-to-event-loop": [],
  "long-work": ["limits"],
  "text-memo": ["limits"],
  printable: [],
  errors: [],
  assets: ["node:"],
  certificate: ["node:"],
  version: ["assets", "store", "node:"],
  contract: ["limits", "errors", "typia", "node:"],
  detections: ["contract"],
  engines: ["contract", "limits", "detections", "text-memo"],
  rules: ["contract", "limits", "ipaddr.js"],
  "verified-bots": ["assets", "contract", "limits", "text-memo", "tldts", "node:"],
  "signed-agents": ["assets", "contract", "limits", "ipaddr.js", "structured-headers", "node:"],
  challenge: ["contract", "limits", "node:"],
  verdict: ["challenge", "contract", "limits", "rules"],
  "declared-bots": ["assets", "contract", "detections", "limits", "verified-bots"],
  network: ["assets", "contract", "limits", "verified-bots", "mmdb-lib", "mmdb-lib/lib/decoder.js", "node:"],
  requests: ["contract", "limits", "verified-bots", "node:"],
  store: ["contract", "limits", "lmdb", "node:"],
  cluster: ["limits", "node:"],
  auth: ["contract", "limits", "store", "node:"],
  live: ["contract", "limits", "node:"],
  "control-plane": [
    "contract",
    "limits",
    "errors",
    "store",
    "auth",
    "challenge",
    "rules",
    "verdict",
    "declared-bots",
    "network",
    "verified-bots",
    "signed-agents",
    "engines",
    "long-work",
  ],
  "cluster-store": ["cluster", "contract", "ingest", "auth", "store", "limits", "errors", "node:"],
  ingest: ["contract", "engines", "store", "auth", "limits", "errors", "text-memo", "node:"],
  http: [
    "certificate",
    "contract",
    "errors",
    "limits",
    "auth",
    "control-plane",
    "detections",
    "ingest",
    "middleware",
    "rules",
    "text-memo",
    "yield-to-event-loop",
    "long-work",
    "verdict",
    "uWebSockets.js",
    "node:",
  ],
  client: ["contract"],
  middleware: ["client", "contract", "verdict", "express", "fastify", "hono"],
  sdk: ["contract", "altcha-lib", "altcha-lib/algorithms/web/pbkdf2"],
  demo: ["contract", "sdk"],
  console: ["contract", "rules", "verdict", "preact", "preact/hooks", "uplot"],
  docs: ["config", "contract", "detections", "rules", "verdict"],
  cli: [
    "cluster-store",
    "contract",
    "control-plane",
    "store",
    "rules",
    "declared-bots",
    "network",
    "signed-agents",
    "verified-bots",
    "limits",
    "long-work",
    "errors",
    "config",
    "main",
    "http-threads",
    "live",
    "version",
    "assets",
    "commander",
    "yaml-file",
    "printable",
    "node:",
  ],
  config: ["certificate", "cluster", "contract", "limits", "config-file", "verified-bots", "node:"],
  "config-file": ["yaml-file", "node:"],
  "yaml-file": ["printable", "yaml"],
  log: ["limits", "printable", "pino", "node:"],
  metrics: ["contract", "detections", "prom-client", "node:"],
  main: [
    "cluster-store",
    "assets",
    "certificate",
    "config",
    "contract",
    "control-plane",
    "http",
    "limits",
    "log",
    "metrics",
    "scoring-pool",
    "services",
    "shared-memory",
    "store",
    "node:",
  ],
  services: null,
  "shared-memory": ["challenge", "cluster-store", "http", "network", "requests", "signed-agents"],
  "scoring-pool": ["config", "contract", "ingest", "limits", "log", "metrics", "store", "piscina", "node:"],
  operations: ["certificate", "main", "version", "config", "http", "limits", "log", "metrics", "store"],
  "http-threads": [
    "cluster-store",
    "http",
    "network",
    "assets",
    "main",
    "operations",
    "config",
    "limits",
    "live",
    "log",
    "metrics",
    "shared-memory",
    "store",
    "node:",
  ],
};

interface Import {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function moduleOf(file: string): string {
  return relative(join(root, "src"), file)
    .split("/")[0]!
    .replace(/\.(ts|js)$/, "");
}

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  for (const [index, text] of readFileSync(file, "utf8").split("\n").entries()) {
    const specifier = /(?:^|\s)(?:from\s+|import\s+|import\()"([^"]+)"/.exec(text)?.[1];
    if (specifier === undefined) continue;
    const to = specifier.startsWith(".")
      ? moduleOf(resolve(dirname(file), specifier))
      : specifier.startsWith("node:")
        ? "node:"
        : specifier;
    found.push({ file: relative(root, file), line: index + 1, text: text.trim(), from: moduleOf(file), to });
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

t.test("typia is called by one file only", async (t) => {
  const callers = sources(join(root, "src"))
    .flatMap(importsOf)
    .filter((each) => each.to === "typia" && !each.text.includes("import type"));
  t.same(
    callers.map((each) => each.file),
    ["src/contract/validators.ts"],
  );
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
