/** `/docs` as the server serves it: complete tables, links that lead somewhere, nothing inline and nothing from elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { commands } from "../../src/cli/commands.js";
import { environmentName, serveOptions } from "../../src/config/config.js";
import { ruleRecipes } from "../../src/console/rule-recipes.js";
import { componentSchemas } from "../../src/contract/api/openapi-schemas.js";
import { detections } from "../../src/detections/catalogue.js";
import { escapeHtml, prose } from "../../src/docs/html.js";
import { docPages } from "../../src/docs/pages.js";
import { rankedSections, wordsOf } from "../../src/docs/search-ranking.js";
import { operatorsOfType } from "../../src/rules/check.js";
import { fields } from "../../src/rules/fields.js";
import { tables } from "../../src/store/tables.js";
import { startServer, type TestServer } from "../support/server.js";

const source = fileURLToPath(new URL("../../../src/docs", import.meta.url));

/** Every page that can be reached from `/docs` by links within it; the text by path. */
async function crawl(server: TestServer, t: Test): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ["/docs"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const answer = await server.ask("GET", path);
    t.equal(answer.status, 200, path);
    pages.set(path, answer.text);
    if (!path.startsWith("/docs")) continue;
    for (const [, href] of answer.text.matchAll(/ href="(\/[^"#]*)/g)) waiting.push(href!);
  }
  return pages;
}

t.test("the documentation", async (t) => {
  const server = await startServer(t);
  const pages = await crawl(server, t);
  const html = [...pages].filter(([path]) => /^\/docs(\/[a-z-]+)?$/.test(path));
  const page = (name: string): string => pages.get(`/docs/${name}`) ?? "";

  await t.test("every page can be reached from the first", async (t) => {
    const names = readdirSync(source).filter((name) => name.endsWith(".md"));
    t.ok(names.length > 5);
    for (const name of names) t.ok(page(name.slice(0, -3)), name);
  });

  await t.test("every link to a place in a page leads to one", async (t) => {
    for (const [path, text] of html) {
      for (const [, to, fragment] of text.matchAll(/ href="([^"#]*)#([^"]+)"/g)) {
        if (to!.startsWith("http")) continue;
        const target = to === "" ? text : (pages.get(to!) ?? "");
        if (!target.includes(`id="${fragment}"`)) t.fail(`${path}: ${to}#${fragment}`);
      }
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      t.equal(new Set(ids).size, ids.length, `${path}: ids are unique`);
    }
  });

  await t.test("every page that console, demo, command line and errors name is there, with its section", async (t) => {
    const named = new Set(
      sources().flatMap((text) => text.match(/(?<=["' ])\/docs(\/[a-z-]+)?(#[\w-]+)?(?=["' ,]|\.? )/g) ?? []),
    );
    t.ok(named.size >= 3, [...named].join(" "));
    for (const link of named) {
      const [path, id] = link.split("#");
      const text = pages.get(path!);
      t.ok(text !== undefined && (id === undefined || text.includes(`id="${id}"`)), link);
    }
  });

  await t.test("no page has anything inline or from elsewhere", async (t) => {
    const script = '<script defer src="/docs/docs.js"></script>';
    for (const [path, text] of html) {
      t.notMatch(
        text.replace(script, ""),
        /<script|<style|\sstyle=|\son[a-z]+="|javascript:|<iframe|<img(?! src="\/docs\/pictures\/)|<!-- generated/i,
        path,
      );
      const { headers } = await server.ask("GET", path);
      const policy = headers.get("content-security-policy") ?? "";
      t.match(
        policy,
        /^default-src 'none'; style-src 'self'; script-src 'self';.* require-trusted-types-for 'script'/,
        path,
      );
      t.notMatch(policy, /unsafe|\*/, path);
      t.match(text, /<html lang="en">[\s\S]*name="viewport"[\s\S]*<main id="content">/, path);
      t.equal(text.match(/<h1/g)?.length, 1, `${path} has one main heading`);
    }
  });

  await t.test("pictures come light and dark, and are told in words", async (t) => {
    const shown = [...html.values()].join("").match(/(?<=")\/docs\/pictures\/[^"]+/g) ?? [];
    t.ok(shown.length >= 8, `${shown.length} pictures`);
    for (const path of shown) {
      const { status, headers } = await server.ask("GET", path);
      t.same([status, headers.get("content-type")], [200, "image/webp"], path);
    }
    for (const image of page("rules").match(/<img [^>]*>/g) ?? []) t.match(image, /alt="[^"]{20,}"/);
  });

  await t.test("the performance page shows the plots of the bench, in the page's colours", async (t) => {
    const plots = page("performance").match(/<svg [\s\S]*?<\/svg>/g) ?? [];
    t.ok(plots.length >= 4);
    for (const plot of plots) {
      t.match(plot, /fill="currentColor" role="img" aria-label="[^"]+"/);
      t.match(plot, /<polyline /);
    }
  });

  await t.test("every decision record is a section of their page", async (t) => {
    const records = readdirSync(join(source, "decisions"));
    t.ok(records.length > 20);
    for (const record of records) {
      const text = readFileSync(join(source, "decisions", record), "utf8");
      const title = /^# (.+)\n/.exec(text)?.[1] ?? "none";
      t.ok(page("decisions").includes(`>${escapeHtml(title)}</h2>`), record);
      t.same(
        text.match(/^\*\*\w+\.\*\*/gm),
        ["Context", "Decision", "Evidence", "Consequences"].map((part) => `**${part}.**`),
        record,
      );
    }
  });

  await t.test("the search looks through every section, and finds its page", async (t) => {
    const { json } = await server.ask("GET", "/docs/search.json");
    const sections = json as { path: string; page: string; heading: string; text: string }[];
    for (const [path, text] of html) {
      const headings = [...text.matchAll(/<h[123] id="([^"]+)"/g)].map(([, id]) => `${path}#${id}`);
      t.same(
        sections.filter((each) => each.path.startsWith(`${path}#`)).map((each) => each.path),
        headings,
        path,
      );
    }
    const { status, headers } = await server.ask("GET", "/docs/");
    t.same([status, headers.get("location")], [302, "/docs"]);
    const first = {
      "port in use": "/docs/operations#a-port-in-use",
      "address already in use": "/docs/operations#a-port-in-use",
      "log format": "/docs/operations#the-log",
      bench: "/docs/performance#performance",
      "make a rule": "/docs/rules#make-a-rule",
      sessions: "/docs/analysis#find-sessions-and-requests",
      "logged in policy": "/docs/concepts#logged-in-visitors",
      chalenge: "/docs/challenge#challenge",
      "credential stuffing": "/docs/under-attack#under-attack",
      unblock: "/docs/rules#let-somebody-through",
      "reference of a customer": "/docs/under-attack#a-customer-complains-with-a-reference",
      "share a view": "/docs/under-attack#share-a-view",
      php: "/docs/any-language#from-any-language",
    };
    for (const [typed, path] of Object.entries(first)) {
      t.equal(rankedSections(wordsOf(typed), sections)[0]?.path, path, typed);
    }
    t.ok(
      sections.every(({ heading }) => heading !== ""),
      "each has a heading",
    );
    const quickStart = sections.find(({ path }) => path === "/docs/quick-start#quick-start-in-observe-mode");
    t.match(
      quickStart?.text,
      /^This page leads from the installation to a blocked bot\..* <script async src=/,
      "markup goes, code stays",
    );
  });

  await t.test("the detections page has every detection with its meaning", async (t) => {
    const text = page("detections");
    for (const { id, slug, meaning } of detections) {
      t.ok(text.includes(`id="d${id}"`) && text.includes(`<code>${slug}</code>`), `${id} ${slug}`);
      t.ok(plain(text).includes(plain(escapeHtml(meaning).replaceAll("`", ""))), meaning);
    }
  });

  await t.test("the rules page has every field with its operators", async (t) => {
    for (const { name, type } of fields) {
      const row = rowOf(page("rules"), name);
      t.ok(row, name);
      for (const operator of operatorsOfType[type]) {
        t.ok(row.includes(`<code>${escapeHtml(operator)}</code>`), `${name} ${operator}`);
      }
    }
  });

  await t.test("the page on requests has the console's recipes", async (t) => {
    const text = page("requests").replaceAll("&quot;", '"').replaceAll("&gt;", ">");
    for (const { name, expression, action } of ruleRecipes) {
      const cells = [name, `<code>${expression}</code>`, `<code>${action}</code>`];
      t.ok(text.includes(cells.map((cell) => `<td>${cell}</td>`).join("\n")), name);
    }
  });

  await t.test("the page of the command line has every command, with its flags", async (t) => {
    for (const { name, help, flags = [] } of commands) {
      const row = page("command-line")
        .split("\n")
        .find((line) => line.startsWith(`<tr><td><code>${name}<`) || line.startsWith(`<tr><td><code>${name} `));
      t.ok(row?.includes(prose(help)), name);
      const own = flags.filter((flag) => !(flag.name in serveOptions) && flag.isRetired !== true);
      for (const flag of own) t.ok(row?.includes(`<code>--${flag.name}`), `${name}: ${flag.name}`);
    }
  });

  await t.test("the configuration page has every option with its variable", async (t) => {
    for (const [name, { fallback }] of Object.entries(serveOptions)) {
      const row = page("configuration")
        .split("\n")
        .find((line) => line.includes(`<code>${environmentName(name)}</code>`));
      t.ok(row?.includes(`--${name}`), name);
      t.ok(row?.includes(escapeHtml(String(fallback) || "none")), `${name}: its default`);
    }
  });

  await t.test("the page of what is collected has every key, each with a meaning", async (t) => {
    const keys = Object.keys(componentSchemas()["EventPayload"]!["properties"] as object);
    t.ok(keys.length > 80);
    for (const key of keys) {
      const cells = rowOf(page("events"), key).split("<td>");
      t.equal(cells.length, 4, key);
      t.notMatch(cells[3], /^<\/td>/, `${key} has a meaning`);
    }
    t.match(page("events"), /<code>mouse<\/code>/, "event types are listed");
  });

  await t.test("the API page has every route and every type", async (t) => {
    const { json } = await server.ask("GET", "/openapi.json");
    const text = page("api");
    let count = 0;
    for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(json.paths)) {
      if (path.startsWith("/docs") || path === "/openapi.json") continue;
      for (const [method, { operationId }] of Object.entries(methods)) {
        count++;
        const heading = `id="op-${operationId}"><span class="method">${method.toUpperCase()}</span> ${path}<`;
        t.ok(text.includes(heading), `${method} ${path}`);
      }
    }
    t.ok(count > 15);
    const folded = text.match(/<details class="folded"><summary><h3 id="/g)!.length;
    t.equal(folded, count + Object.keys(json.components.schemas).length, "each is folded, below its heading");
    const sections: { path: string; text: string }[] = (await server.ask("GET", "/docs/search.json")).json;
    const mute = sections.find(({ path }) => path === "/docs/api#op-muteIncident");
    t.match(mute?.text, /Mute an incident .*neither it nor another one/, "what is folded is searched");
    for (const name of Object.keys(json.components.schemas)) t.ok(text.includes(`id="type-${name}"`), name);
  });

  await t.test("every table of the store is on the page on what is stored", async (t) => {
    const text = page("events");
    for (const { name } of Object.values(tables)) t.ok(text.includes(`<td><code>${name}</code></td>`), name);
  });
});

t.test("a mark that nothing is known for stops the start", async (t) => {
  const bad = [{ path: "/docs/bad", html: "<p><!-- generated: nothing-of-the-kind --></p>" }];
  t.throws(() => docPages(bad, [], []), /\/docs\/bad/);
});

t.test("text is escaped for elements and attributes", async (t) => {
  t.equal(escapeHtml(`<a b="c" d='e'>&`), "&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;");
});

/** The code that users read texts of. */
function sources(): string[] {
  const folder = join(source, "..");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|html)$/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** The row of a table whose first cell is this code. */
function rowOf(text: string, name: string): string {
  return text.split("\n").find((line) => line.startsWith(`<tr><td><code>${name}</code></td>`)) ?? "";
}

/** Without tags: `code` may stand in the middle of a meaning. */
function plain(text: string): string {
  return text.replace(/<[^>]*>/g, "");
}
