/** What a browser gets for a page of the documentation that is none: a page that leads to those there are. */
import type { Reply } from "./reply.js";

/** 404 with a page, whatever the client accepts: only people follow links below `/docs/`. */
export const noDocumentation: Reply = {
  status: 404,
  contentType: "text/html; charset=utf-8",
  headers: [
    [
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ],
    ["Referrer-Policy", "no-referrer"],
  ],
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No such page · verdictd</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/docs.css">
<header>
<p class="brand"><a href="/docs">verdictd</a></p>
</header>
<div class="columns">
<aside></aside>
<main id="content">
<h1>No such page</h1>
<p>The documentation has no page with this address.</p>
<p><a href="/docs">All pages of the documentation</a></p>
</main>
</div>
</html>
`,
};
