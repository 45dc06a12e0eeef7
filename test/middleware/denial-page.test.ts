/** Holds what a visitor sees who is not let through: escaped, under a strict policy, with the verdict's id and no more. */
import { createHash } from "node:crypto";
import t from "tap";
import { challengeTexts } from "../../src/middleware/challenge-texts.js";
import { denialResponse, denialStyle, escapeHtml } from "../../src/middleware/denial-page.js";
import { denialTexts } from "../../src/middleware/denial-texts.js";

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

t.test(
  "the page speaks the challenge page's languages, names the site, and leaves a site's own words alone",
  async (t) => {
    t.same(Object.keys(denialTexts), Object.keys(challengeTexts));
    for (const [language, texts] of Object.entries(denialTexts)) {
      for (const kind of ["block", "challenge"] as const) {
        const visitor = { site: "shop.example", acceptLanguage: `${language};q=0.9, xx` };
        const { body } = denialResponse({ kind, verdictId: "abc-1" }, html, {}, visitor);
        t.match(body, `<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`);
        for (const text of Object.values(texts[kind])) t.ok(body.includes(escapeHtml(text)), `${language}: ${text}`);
        t.ok(body.includes(`<p>${texts.reference} <code>abc-1</code></p>`));
        t.ok(body.includes("<p>shop.example</p>"));
      }
    }
    const visitor = { site: "<b>", acceptLanguage: "de" };
    const { body } = denialResponse(block, html, { block: { title: "Stop" } }, visitor);
    t.match(body, '<html lang="en"');
    t.ok(body.includes("looks automated") && body.includes("<p>&lt;b&gt;</p>"));
    t.match(denialResponse(block, "application/json", {}, visitor).body, "looks automated", "programs read English");
  },
);

t.test("what is no browser gets JSON", async (t) => {
  for (const accept of ["", "*/*", "application/json"]) {
    t.match(JSON.parse(denialResponse(block, accept).body), { code: "REQUEST_BLOCKED", verdict_id: "abc-1" });
  }
});
