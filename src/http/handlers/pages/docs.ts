/** `/docs`: the documentation, static pages. Its script adds the search and the copy buttons; every page can be read without it. */
import type { PublicRoute } from "../../route.js";
import type { FileBody } from "./file-reply.js";
import { pageRoute } from "./pages.js";

/** The documentation as the build made it. */
interface DocsFiles {
  /** Complete pages by path: `/docs`, `/docs/rules`. */
  readonly pages: readonly { readonly path: string; readonly html: () => string }[];
  readonly style: FileBody;
  readonly script: FileBody;
  /** WebP by name, without its ending. */
  readonly pictures: readonly { readonly name: string; readonly body: FileBody }[];
  /** What the search looks through, as JSON text. */
  readonly searchIndex: () => string;
}

/** A stylesheet, a script and pictures of our own, and nothing else. */
const policy = [
  "Content-Security-Policy",
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
] as const;

/** A route for each page, then style, script and search index; no credential. */
export function docsRoutes({ pages, style, script, pictures, searchIndex }: DocsFiles): PublicRoute[] {
  return [
    ...pages.map(({ path, html }) =>
      pageRoute({
        path,
        summary: `The documentation: ${path}`,
        contentType: "text/html; charset=utf-8",
        body: html,
        headers: [policy, ["Referrer-Policy", "no-referrer"]],
      }),
    ),
    {
      method: "get",
      path: "/docs/",
      credential: "none",
      doc: { id: "getDocsFolder", tag: "service", summary: "Redirects to /docs", answers: { 302: "empty" } },
      handle: () => ({ status: 302, headers: [["Location", "/docs"]] }),
    },
    ...pictures.map(({ name, body }) =>
      pageRoute({ path: `/docs/pictures/${name}.webp`, contentType: "image/webp", body }),
    ),
    pageRoute({ path: "/docs/docs.css", contentType: "text/css; charset=utf-8", body: style }),
    pageRoute({ path: "/docs/docs.js", contentType: "text/javascript; charset=utf-8", body: script }),
    pageRoute({ path: "/docs/search.json", contentType: "application/json; charset=utf-8", body: searchIndex }),
  ];
}
