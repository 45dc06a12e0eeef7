/** Composes the routes that serve files of the build: SDK, client package, console, demo, documentation. */
import { readdirSync } from "node:fs";
import { assetPath, readAsset, readCompressedAsset } from "../assets.js";
import type { AgentMarkCatalogue } from "../contract/bots/agent-marks.js";
import type { Project } from "../contract/configuration/entities.js";
import { docPages, type RenderedPage } from "../docs/pages.js";
import { searchSections } from "../docs/search-index.js";
import { type ConsoleFiles, consoleRoutes } from "../http/handlers/pages/console.js";
import { demoRoutes } from "../http/handlers/pages/demo.js";
import { docsRoutes } from "../http/handlers/pages/docs.js";
import { type Page, pageRoute } from "../http/handlers/pages/pages.js";
import { sdkAgentsRoute } from "../http/handlers/pages/sdk-agents.js";
import type { Route } from "../http/route.js";
import type { Store } from "../store/store.js";
import { tables } from "../store/tables.js";
import type { VerdictReader } from "../verdict/verdict-reader.js";

/** The console. */
export function consolePageRoutes(): Route[] {
  return consoleRoutes(consoleFiles());
}

/** The files that sites load in visitors' browsers, and the package for their backends. */
export function sdkRoutes(agentMarks: () => AgentMarkCatalogue): Route[] {
  const agents = sdkAgentsRoute(readAsset("sdk/sdk-agents.js").toString("utf8"), agentMarks);
  return [...sdkPages().map(pageRoute), agents, pageRoute(clientPackage()), ...clientFiles().map(pageRoute)];
}

/** The demo shop, on the first project that has a site key. */
export function demoPageRoutes(store: Store, verdicts: VerdictReader): Route[] {
  const demoProject = (): Project | null => {
    for (const { value } of store.projects.getRange({})) if (value.siteKey !== null) return value;
    return null;
  };
  const page = (name: string, contentType: string): Page => ({
    path: `/demo/${name}`,
    contentType,
    body: readCompressedAsset(`demo/${name}`),
  });
  return [
    ...demoRoutes({ demoProject, verdicts, html: readAsset("demo/index.html").toString("utf8") }),
    pageRoute(page("demo.js", "text/javascript; charset=utf-8")),
    pageRoute(page("demo.css", "text/css; charset=utf-8")),
  ];
}

/** The documentation. Its API reference describes the routes in `documented`, its table of what is stored the tables of the store. */
export function docsPageRoutes(documented: readonly Route[]): Route[] {
  const pages = docPages(renderedDocs(), documented, Object.values(tables));
  return docsRoutes({
    pages,
    style: readCompressedAsset("docs/docs.css"),
    script: readCompressedAsset("docs/docs.js"),
    pictures: readdirSync(assetPath("docs/pictures")).map((file) => ({
      name: file.slice(0, -".webp".length),
      body: readAsset(`docs/pictures/${file}`),
    })),
    searchIndex: () => JSON.stringify(searchSections(pages.map(({ path, html }) => ({ path, html: html() })))),
  });
}

function sdkPages(): Page[] {
  const script = (name: string, summary: string): Page => ({
    path: `/${name}`,
    summary,
    contentType: "text/javascript; charset=utf-8",
    body: readCompressedAsset(`sdk/${name}`),
    // Any site may load it; it is cached for an hour, so an old one is gone after that.
    cacheControl: "public, max-age=3600",
    headers: [
      ["Access-Control-Allow-Origin", "*"],
      ["Cross-Origin-Resource-Policy", "cross-origin"],
    ],
  });
  return [
    script("sdk.js", "The browser SDK"),
    script("sdk-probes.js", "The SDK's second file, loaded once the first has reported"),
    script("challenge.js", "What passes verdictd's own challenge"),
  ];
}

/** The package for `npm install`, so that a backend's client always has the server's version. */
function clientPackage(): Page {
  const body = readAsset("verdictd-client.tgz");
  const path = "/verdictd-client.tgz";
  return { path, summary: "The npm package `verdictd-client`", contentType: "application/gzip", body };
}

/** Clients for other languages, each one file. */
function clientFiles(): Page[] {
  const file = (name: string, language: string, contentType: string): Page => ({
    path: `/clients/${name}`,
    summary: `The client for ${language}`,
    contentType: `${contentType}; charset=utf-8`,
    body: readAsset(`clients/${name}`),
  });
  return [
    file("verdictd.py", "Python", "text/plain"),
    file("verdictd.php", "PHP", "text/plain"),
    file("verdictd.go", "Go", "text/plain"),
  ];
}

function consoleFiles(): ConsoleFiles {
  const [html, script, style] = ["index.html", "console.js", "console.css"].map((name) =>
    readCompressedAsset(`console/${name}`),
  );
  return { html: html!, script: script!, style: style! };
}

/** The documentation as the build rendered it. */
function renderedDocs(): RenderedPage[] {
  return readdirSync(assetPath("docs"))
    .filter((name) => name.endsWith(".html"))
    .map((name) => ({
      path: name === "index.html" ? "/docs" : `/docs/${name.slice(0, -".html".length)}`,
      html: readAsset(`docs/${name}`).toString("utf8"),
    }));
}
