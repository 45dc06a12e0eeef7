/** `/docs`: the documentation, static pages without any script. */
import type { PublicRoute } from "../../route.js";
import type { FileBody } from "./file-reply.js";
import { pageRoute } from "./pages.js";

export interface DocsFiles {
  /** Complete pages by path: `/docs`, `/docs/rules`. */
  readonly pages: readonly { readonly path: string; readonly html: string }[];
  readonly style: FileBody;
}

/** A stylesheet of our own and nothing else. */
const policy = [
  "Content-Security-Policy",
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
] as const;

export function docsRoutes({ pages, style }: DocsFiles): PublicRoute[] {
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
    pageRoute({ path: "/docs/docs.css", contentType: "text/css; charset=utf-8", body: style }),
  ];
}
