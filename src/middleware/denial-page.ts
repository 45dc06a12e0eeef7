/**
 * What a visitor gets who is not let through: a page for browsers, JSON for everything else, both with the verdict's id for
 * support and nothing that would help a bot (no score, no detections). Used by the middlewares and by forward-auth.
 */
import { leavePromise } from "../client/hooks.js";
import { checkKinds, checkOptionNames, type OptionKind } from "../contract/values/option-names.js";
import { pageLanguage } from "./challenge-texts.js";
import { denialTexts } from "./denial-texts.js";

/** Why a visitor is refused: the texts of the page and the code of the JSON go by it. */
export type DenialKind = "block" | "challenge";

/** What a page may know. */
interface Denial {
  readonly kind: DenialKind;
  /** "" when there is none. */
  readonly verdictId: string;
}

/** Words of the built-in page; escaped, so any text will do. */
export interface DenialTexts {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  /** How to reach support: "Write to help@example.com and name the reference." */
  readonly contact?: string | undefined;
}

/** How the pages of a refusal read; texts that are absent are the built-in ones. */
export interface DenialPages {
  readonly block?: DenialTexts | undefined;
  readonly challenge?: DenialTexts | undefined;
  /** A page of one's own: HTML, and escaping is its author's business. When it throws or returns no text, the built-in page is sent. */
  readonly render?: ((denial: Denial) => string) | undefined;
  /** Replaces the built-in policy, which allows nothing but the built-in style. */
  readonly contentSecurityPolicy?: string | undefined;
}

const pagesKinds = {
  block: "an object",
  challenge: "an object",
  render: "a function",
  contentSecurityPolicy: "a string",
} as const satisfies Readonly<Record<keyof DenialPages, OptionKind>>;

const textKinds = {
  title: "a string",
  message: "a string",
  contact: "a string",
} as const satisfies Readonly<Record<keyof DenialTexts, OptionKind>>;

/** Throws a `TypeError` on a name or a value that the option `pages` can't have. */
export function checkPages(pages: DenialPages): void {
  checkOptionNames("pages", pages, pagesKinds);
  checkKinds(pages, pagesKinds, "pages.");
  for (const kind of ["block", "challenge"] as const) {
    const texts = pages[kind];
    if (texts === undefined) continue;
    checkOptionNames(`pages.${kind}`, texts, textKinds);
    checkKinds(texts, textKinds, `pages.${kind}.`);
  }
}

/** An answer in full, for a framework to send as it is. */
export interface DenialResponse {
  readonly status: 403;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Of the built-in page; the policy names its hash, so a changed style needs `styleHash` changed too (a test says so). */
export const denialStyle: string =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}" +
  "code{user-select:all}";
const styleHash = "sha256-O7ULQecj8dvh6R4CuKG8LlK7Wc23W+KS/mxlc0LcKp4=";

const contentSecurityPolicy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const codes: Readonly<Record<DenialKind, string>> = { block: "REQUEST_BLOCKED", challenge: "CHALLENGE_REQUIRED" };

/** What the page may show beside the reasons: absent, or "", for what is not known. */
interface DenialVisitor {
  /** The host that was asked for: the site's name. */
  readonly site?: string | undefined;
  /** The words are in the language that it prefers, unless a site has words of its own. */
  readonly acceptLanguage?: string | undefined;
}

/** The answer for a visitor who sent this `Accept`. Always 403, never cached. Never throws. */
export function denialResponse(
  denial: Denial,
  accept: string,
  pages: DenialPages = {},
  { site = "", acceptLanguage = "" }: DenialVisitor = {},
): DenialResponse {
  const isPage = accept.includes("text/html");
  const own = pages[denial.kind] ?? {};
  // Programs read English, and words of the site's own stand among no other language.
  const language =
    isPage && Object.values(own).every((text) => text === undefined) ? pageLanguage(acceptLanguage) : "en";
  const texts = textsOf(denial.kind, own, language);
  const headers: Record<string, string> = {
    "Content-Type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": pages.contentSecurityPolicy ?? contentSecurityPolicy,
  };
  const verdictId = safeId(denial.verdictId);
  if (denial.kind === "challenge") headers["X-Verdict-Action"] = "challenge";
  if (verdictId !== "") headers["X-Verdict-Id"] = verdictId;
  const shown: Denial = { kind: denial.kind, verdictId };
  return {
    status: 403,
    headers,
    body: isPage ? page(shown, texts, { language, site }, pages.render) : json(shown, texts),
  };
}

type ShownTexts = { readonly [Name in keyof DenialTexts]-?: string };

function textsOf(kind: DenialKind, { title, message, contact }: DenialTexts, language: string): ShownTexts {
  const own = denialTexts[language]![kind];
  return { title: title ?? own.title, message: message ?? own.message, contact: contact ?? own.contact };
}

/** verdictd's ids are hexadecimal and dashes; anything else did not come from it, and a header must not carry it. */
function safeId(id: string): string {
  return /^[\w-]{1,128}$/.test(id) ? id : "";
}

function json({ kind, verdictId }: Denial, { title, message }: ShownTexts): string {
  return JSON.stringify({
    error: title,
    message,
    code: codes[kind],
    ...(verdictId !== "" && { verdict_id: verdictId }),
  });
}

function page(
  denial: Denial,
  texts: ShownTexts,
  { language, site }: { readonly language: string; readonly site: string },
  render: DenialPages["render"],
): string {
  try {
    const own: unknown = render?.(denial);
    if (typeof own === "string") return own;
    leavePromise(own);
  } catch {
    // The built-in page will do.
  }
  return visitorPage(
    { language, site, title: texts.title, message: texts.message, style: denialStyle },
    `<p>${escapeHtml(texts.contact)}</p>\n${referenceLine(denialTexts[language]!.reference, denial.verdictId)}`,
  );
}

/** What every page for visitors has: texts, but for `style`. */
interface PageFrame {
  readonly language: string;
  /** The site's name; "" for none. */
  readonly site: string;
  readonly title: string;
  readonly message: string;
  readonly style: string;
}

/** The HTML of a page for visitors; `body` follows its message, `scripts` its style, `attributes` are those of `main`: HTML all three. */
export function visitorPage(frame: PageFrame, body: string, scripts = "", attributes = ""): string {
  const { language, site, title, message, style } = frame;
  const name = site === "" ? "" : `<p>${escapeHtml(site)}</p>\n`;
  return `<!doctype html>
<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
${scripts}<main${attributes}>
<h1>${escapeHtml(title)}</h1>
${name}<p>${escapeHtml(message)}</p>
${body}</main>
</html>
`;
}

/** What a visitor may tell support; nothing without a reference. */
export function referenceLine(label: string, verdictId: string): string {
  return verdictId === "" ? "" : `<p>${label} <code>${escapeHtml(verdictId)}</code></p>\n`;
}

/** HTML special characters in text from anywhere. */
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand in HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
