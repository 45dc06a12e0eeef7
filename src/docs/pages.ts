/**
 * The pages of `/docs`: what the build made of the Markdown, with the generated parts put in. Runs once, when the server starts; what
 * it returns does not change.
 */
import { type DocumentedRoute, openApiDocument } from "../contract/openapi.js";
import { accessTable } from "./access-table.js";
import { apiReference } from "./api-reference.js";
import { configurationTable, detectionsTable, eventsTable, fieldsTable, staticExtensionsList } from "./reference.js";

/** A rendered page with its marks `<!-- generated: NAME -->`. */
export interface RenderedPage {
  /** `/docs` for the first page, `/docs/NAME` for the others. */
  readonly path: string;
  readonly html: string;
}

/** The pages, complete, over these routes. Throws on a mark that nothing is known for. */
export function docPages(rendered: readonly RenderedPage[], routes: readonly DocumentedRoute[]): RenderedPage[] {
  const parts: Readonly<Record<string, () => string>> = {
    access: () => accessTable(routes),
    api: () => apiReference(openApiDocument(routes)),
    configuration: configurationTable,
    detections: detectionsTable,
    events: eventsTable,
    fields: fieldsTable,
    "static-extensions": staticExtensionsList,
  };
  return rendered.map(({ path, html }) => {
    const filled = html.replace(/<!-- generated: ([a-z-]+) -->/g, (mark, name: string) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`${path} asks for an unknown part: ${mark}`);
      return part();
    });
    return { path, html: filled.replace("<!-- contents -->", () => contents(filled)) };
  });
}

/** Links to the headings of a page, those of its generated parts too. */
function contents(html: string): string {
  return [...html.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h\1>/g)]
    .map(([, level, id, text]) => `<li${level === "3" ? ' class="deeper"' : ""}><a href="#${id}">${text}</a></li>`)
    .join("");
}
