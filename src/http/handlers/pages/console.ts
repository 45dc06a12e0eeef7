/** `/console`: the operator's page. Public files without any data: all it shows it asks of the API with the token it is given. */
import type { PublicRoute } from "../../route.js";
import { pagePolicy } from "./demo.js";
import type { FileBody } from "./file-reply.js";
import { pageRoute } from "./pages.js";

/** The three files of the console as the build made them. */
export interface ConsoleFiles {
  readonly html: FileBody;
  readonly script: FileBody;
  readonly style: FileBody;
}

/** The console's files at `/console`, and `/`, which leads there with 302; no credential. */
export function consoleRoutes({ html, script, style }: ConsoleFiles): PublicRoute[] {
  return [
    {
      method: "get",
      path: "/",
      credential: "none",
      doc: {
        id: "getRoot",
        tag: "service",
        summary: "Redirects to the console",
        answers: { 302: "empty" },
      },
      handle: () => ({ status: 302, headers: [["Location", "/console"]] }),
    },
    pageRoute({
      path: "/console",
      summary: "The operator's console",
      contentType: "text/html; charset=utf-8",
      body: html,
      headers: [
        pagePolicy,
        ["Referrer-Policy", "no-referrer"],
        ["Cross-Origin-Opener-Policy", "same-origin"],
        ["Permissions-Policy", "camera=(), geolocation=(), microphone=()"],
      ],
    }),
    pageRoute({
      path: "/console/console.js",
      contentType: "text/javascript; charset=utf-8",
      body: script,
    }),
    pageRoute({ path: "/console/console.css", contentType: "text/css; charset=utf-8", body: style }),
  ];
}
