/**
 * The page of verdictd's own challenge, sent at the address that was asked for: it loads the SDK and `challenge.js`, which pass the challenge
 * and load the address again. Used by the middlewares and by forward-auth.
 */
import type { PageCookie } from "../contract/sessions/session-cookie.js";
import { challengeTexts, pageLanguage } from "./challenge-texts.js";
import { type DenialResponse, denialResponse, escapeHtml, referenceLine, visitorPage } from "./denial-page.js";

/** What one page is made of. All texts are escaped when it is written. */
interface ChallengePage {
  /** The project's public key. */
  readonly siteKey: string;
  /** Where the visitor's browser finds `/sdk.js` and `/challenge.js`; "" for the site's own address. */
  readonly scriptOrigin: string;
  /** What a proxy has put before these paths and the API's, `/bots`; "" or absent: nothing. */
  readonly pathPrefix?: string;
  /** The cookie that holds the token, as the site's own pages keep it. */
  readonly cookie: PageCookie;
  /** The site's name, as visitors know it: its host. */
  readonly site: string;
  /** Of the request: what a form posted is not sent again by loading the address anew. */
  readonly method: string;
  readonly acceptLanguage: string;
  /** For support; "" when there is none. */
  readonly verdictId: string;
}

/** The policy names its hash, so a changed style needs `styleHash` changed too (a test says so). */
export const challengeStyle =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1rem;overflow-wrap:anywhere}" +
  "progress{width:100%}button{font:inherit;padding:.5rem 1rem}code{user-select:all}" +
  // `challenge.js` takes the element away as soon as it runs: it shows itself where no script does.
  ".late{visibility:hidden;animation:late 0s 15s forwards}@keyframes late{to{visibility:visible}}" +
  "@media(prefers-reduced-motion:reduce){progress{display:none}}";
const styleHash = "sha256-f9HGHR/9cWIkuR3sgQoela3fkKrceZxnWwXQ4JAqiOE=";

/** 403 with the page for a visitor who takes HTML, else with JSON that names the code. Never cached. Never throws. */
export function challengeResponse(page: ChallengePage, accept: string): DenialResponse {
  const denial = { kind: "challenge", verdictId: page.verdictId } as const;
  return accept.includes("text/html") ? pageResponse(page) : denialResponse(denial, accept);
}

function pageResponse(page: ChallengePage): DenialResponse {
  const source = page.scriptOrigin === "" ? "'self'" : originOf(page.scriptOrigin);
  const policy =
    `default-src 'none'; script-src ${source}; connect-src ${source}; worker-src ${source}; style-src '${styleHash}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types verdictd";
  return {
    status: 403,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Content-Security-Policy": policy,
      Vary: "Accept, Accept-Language",
      "X-Verdict-Action": "challenge",
      ...(page.verdictId !== "" && { "X-Verdict-Id": page.verdictId }),
    },
    body: html(page),
  };
}

function originOf(address: string): string {
  try {
    return new URL(address).origin;
  } catch {
    return "'self'";
  }
}

function html({
  siteKey,
  scriptOrigin,
  pathPrefix = "",
  cookie: { name: cookieName, domain, path, sameSite, maxAge },
  site,
  method,
  acceptLanguage,
  verdictId,
}: ChallengePage): string {
  const language = pageLanguage(acceptLanguage);
  const texts = challengeTexts[language]!;
  const base = scriptOrigin.replace(/\/+$/, "") + pathPrefix;
  const isForm = method !== "" && method !== "GET" && method !== "HEAD";
  const data = {
    done: texts.done,
    failed: texts.failed,
    refused: texts.refused,
    again: texts.again,
    ...(isForm && { form: texts.form, back: texts.back }),
  };
  const attributes = Object.entries(data).map(([name, text]) => ` data-${name}="${escapeHtml(text)}"`);
  // What is not said is as the SDK does it by itself.
  const told = { domain: domain || undefined, path, "same-site": sameSite, "max-age": maxAge };
  const cookieAttributes = Object.entries(told).map(([name, value]) =>
    value === undefined ? "" : ` data-cookie-${name}="${escapeHtml(String(value))}"`,
  );
  // By itself the SDK goes by its script's origin alone.
  const endpoint = /^(?:https?:\/\/[^/]*)?$/.test(base) ? "" : ` data-endpoint="${escapeHtml(base)}"`;
  const scripts = `<script defer src="${escapeHtml(base)}/sdk.js" data-site-key="${escapeHtml(siteKey)}" data-cookie-name="${escapeHtml(cookieName)}"${cookieAttributes.join("")}${endpoint}></script>
<script type="module" src="${escapeHtml(base)}/challenge.js"></script>
`;
  const body = `<progress aria-label="${escapeHtml(texts.working)}"></progress>
<p role="status">${escapeHtml(texts.working)}</p>
<noscript><p>${escapeHtml(texts.noScript)}</p></noscript>
${referenceLine(texts.reference, verdictId)}<p class="late">${escapeHtml(texts.late)} <a href="">${escapeHtml(texts.again)}</a></p>
`;
  const frame = { language, site, title: texts.title, message: texts.message, style: challengeStyle };
  return visitorPage(frame, body, scripts, ` data-verdictd${attributes.join("")}`);
}
