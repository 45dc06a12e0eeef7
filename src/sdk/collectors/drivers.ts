/** Traces of automation drivers: names that they leave in the page, and an attached debugger client. Ideas: BotD, rebrowser. */
import { doc } from "../bare.js";

/** Names of globals, of properties of the document and of attributes of its root. */
const driverNames = new RegExp(
  "^(\\$?cdc_|" + // chromedriver
    "[a-z]{3}_[A-Za-z0-9]{10,}_(Array|Object|Promise|Proxy|Symbol|JSON|Window)$|" + // the same, renamed
    "\\$chrome_asyncScriptInfo|" +
    "__\\$?web_?driver|" + // Selenium, WebDriver
    "_*(fx)?driver_(evaluate|unwrapped|script)|" +
    "_*(called)?selenium|" +
    "_Selenium_IDE|" +
    "callSelenium|" +
    "_WEBDRIVER|" +
    "ChromeDriverw?$|" +
    "webdriver(-eval|CommandEvent|$)|" +
    "__lastWatir|" +
    "wdioElectron$|" +
    "_*(playwright|pw[A-Z_]|puppeteer|nightmare|phantomas|stagehand)|" + // __pwInitScripts, __playwright__binding__
    "(callPhantom|_phantom|phantom|awesomium|CefSharp|RunPerfTest|fmget_targets|geb)$|" +
    "domAutomation|" +
    "(%testCafe|__cypress|Cypress$))",
);

/** True for what the page's own elements and frames put on the document under their names. */
const isContent = (value: unknown): boolean =>
  value instanceof Node || value instanceof HTMLCollection || (!!value && (value as Window).window === value);

/** The names that are there; an empty list on a clean page. */
export function driverArtifacts(): string[] {
  const root = doc.documentElement;
  const found = [
    ...Object.getOwnPropertyNames(window).filter((name) => driverNames.test(name)),
    ...Object.getOwnPropertyNames(document).filter(
      (name) => driverNames.test(name) && !isContent(document[name as never]),
    ),
  ];
  // Attributes, the bare names only: a site may well have others of its own.
  for (const name of ["webdriver", "selenium", "driver"]) if (root.hasAttribute(name)) found.push(name);
  if (String(window.external).includes("Sequentum")) found.push("Sequentum");
  return [...new Set(found)].slice(0, 32).map((name) => name.slice(0, 128));
}
