/** Traces of automation drivers: names that they leave in the page, and an attached debugger client. Ideas: BotD, rebrowser. */
import { doc } from "../bare.js";

/**
 * Names of globals and of properties of the document, a line each: looked for one by one they would take twice as long. In an order that
 * compresses well.
 */
const driverNames = RegExp(
  "^(_WEBDRIVER|" +
    "(callPhantom|_?phantom|awesomium|CefSharp|RunPerfTest|fmget_targets|geb)$|" +
    "_*(playwright|puppeteer|nightmare|phantomas|stagehand)|" + // __playwright__binding__
    "__pw[A-Z_]|" + // __pwInitScripts; a site's own may well be pwForm
    "domAutomation|" +
    "(_|call)Selenium|" + // _Selenium_IDE_Recorder, callSelenium
    "Cypress$|" +
    "_*(called)?selenium|" +
    "[a-z]{3}_[A-Za-z0-9]{10,}_(Array|Object|Promise|Proxy|Symbol|JSON|Window)$|" + // cdc_…, renamed
    "__lastWatir|" +
    "wdioElectron$|" +
    "__\\$?web_?driver|" + // Selenium, WebDriver
    "%testCafe|" +
    "\\$?cdc_|" + // chromedriver
    "webdriver(-eval|CommandEvent|$)|" +
    "_*(fx)?driver_(evaluate|unwrapped|script)|" +
    "\\$chrome_asyncScriptInfo|" +
    "ChromeDriverw?$|" +
    "__cypress).*",
  "gm",
);
const driverNamesOf = (owner: object): string[] =>
  Object.getOwnPropertyNames(owner).join("\n").match(driverNames) ?? [];

/** True for what the page's own elements and frames put on the document under their names. */
const isContent = (value: unknown): boolean =>
  value instanceof Node || value instanceof HTMLCollection || (!!value && (value as Window).window === value);

/** The names that are there; an empty list on a clean page. */
export function driverArtifacts(): string[] {
  const found = [
    ...driverNamesOf(window),
    ...driverNamesOf(document).filter((name) => !isContent(document[name as never])),
    // Attributes, the bare names only: a site may well have others of its own.
    ...["webdriver", "selenium", "driver"].filter((name) => doc.documentElement.hasAttribute(name)),
    ...(String(window.external).match(/Sequentum/) ?? []),
  ];
  return [...new Set(found)].slice(0, 32).map((name) => name.slice(0, 128));
}
