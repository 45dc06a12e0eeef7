/** Holds what a visitor sees who is not let through: escaped, under a strict policy, with the verdict's id and no more. */
import { createHash } from "node:crypto";
import t from "tap";
import { denialResponse, denialStyle } from "../../src/middleware/denial-page.js";

const html = "text/html,application/xhtml+xml";
const block = { kind: "block", verdictId: "abc-1" } as const;

t.test("the policy allows the page's own style and nothing else", async (t) => {
  const policy = denialResponse(block, html).headers["Content-Security-Policy"] ?? "";
  const hash = createHash("sha256").update(denialStyle).digest("base64");
  t.match(policy, `style-src 'sha256-${hash}'`);
  t.match(policy, "default-src 'none'");
  t.notMatch(policy, "unsafe");
});

t.test("everything on the page is escaped", async (t) => {
  const nasty = `<script>"'&`;
  const pages = { block: { title: nasty, message: nasty, contact: nasty } };
  const { body } = denialResponse(block, html, pages);
  t.notMatch(body, "<script>");
  t.equal(body.split("&lt;script&gt;&quot;&#39;&amp;").length, 5, "title twice, message, contact");
});

t.test("an id that verdictd can't have given is not shown", async (t) => {
  for (const verdictId of ["<b>", "a\r\nSet-Cookie: x", "x".repeat(200), ""]) {
    const { headers, body } = denialResponse({ kind: "block", verdictId }, html);
    t.notOk("X-Verdict-Id" in headers);
    t.notMatch(body, "Reference");
  }
});

t.test("a page of one's own replaces the built-in one, unless it throws or is no text", async (t) => {
  const own = denialResponse(block, html, { render: ({ kind, verdictId }) => `${kind} ${verdictId}` });
  t.equal(own.body, "block abc-1");
  const broken = denialResponse(block, html, {
    render: () => {
      throw new Error("template is missing");
    },
  });
  t.match(broken.body, "<code>abc-1</code>");
  const asynchronous = async (): Promise<string> => {
    throw new Error("nobody waits for it");
  };
  for (const render of [asynchronous, () => undefined]) {
    t.match(denialResponse(block, html, { render: render as never }).body, "<code>abc-1</code>");
  }
  t.equal(denialResponse(block, html, { contentSecurityPolicy: "x" }).headers["Content-Security-Policy"], "x");
});

t.test("what is no browser gets JSON", async (t) => {
  for (const accept of ["", "*/*", "application/json"]) {
    t.match(JSON.parse(denialResponse(block, accept).body), { code: "REQUEST_BLOCKED", verdict_id: "abc-1" });
  }
});
