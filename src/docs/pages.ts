/**
 * The pages of `/docs`: what the build made of the Markdown, with the generated parts put in.
 */
import { type DocumentedRoute, openApiDocument } from "../contract/api/openapi.js";
import { accessTable } from "./access-table.js";
import { apiReference } from "./api-reference.js";
import {
  configurationTable,
  detectionsTable,
  eventsTable,
  fieldsTable,
  pagePartExtensionsList,
  staticExtensionsList,
} from "./reference.js";
import { type DescribedTable, storedTable } from "./stored-table.js";

/** A rendered page with its marks `<!-- generated: NAME -->`. */
export interface RenderedPage {
  /** `/docs` for the first page, `/docs/NAME` for the others. */
  readonly path: string;
  readonly html: string;
}

/** A page that is completed when it is first asked for. */
interface LazyPage {
  readonly path: string;
  /** The complete page, the same text each time: some ten milliseconds at first for one with generated parts. */
  readonly html: () => string;
}

/** The pages over these routes and tables. Throws on a mark that nothing is known for. */
export function docPages(
  rendered: readonly RenderedPage[],
  routes: readonly DocumentedRoute[],
  tables: readonly DescribedTable[],
): LazyPage[] {
  const parts: Readonly<Record<string, () => string>> = {
    access: () => accessTable(routes),
    api: () => apiReference(openApiDocument(routes)),
    configuration: configurationTable,
    detections: detectionsTable,
    events: eventsTable,
    fields: fieldsTable,
    stored: () => storedTable(tables),
    "static-extensions": staticExtensionsList,
    "page-part-extensions": pagePartExtensionsList,
  };
  return rendered.map(({ path, html }) => {
    for (const [mark, name] of html.matchAll(generatedMark)) {
      if (parts[name!] === undefined) throw new Error(`${path} asks for an unknown part: ${mark}`);
    }
    return { path, html: once(() => complete(html.replace(generatedMark, (_, name: string) => parts[name]!()))) };
  });
}

const generatedMark = /<!-- generated: ([a-z-]+) -->/g;

function complete(html: string): string {
  return html.replace("<!-- contents -->", () => contents(html));
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Links to the headings of a page, those of its generated parts too. */
function contents(html: string): string {
  return [...html.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h\1>/g)]
    .map(([, level, id, text]) => `<li${level === "3" ? ' class="deeper"' : ""}><a href="#${id}">${text}</a></li>`)
    .join("");
}
