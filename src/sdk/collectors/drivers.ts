/** Traces of automation drivers: names that they leave in the page, and an attached debugger client. Ideas: BotD, rebrowser. */

import { looksNative } from "./natives.js";

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

/** The names that are there; an empty list on a clean page. */
export function driverArtifacts(): string[] {
  const root = document.documentElement;
  const found = [...Object.getOwnPropertyNames(window), ...Object.getOwnPropertyNames(document)].filter((name) =>
    driverNames.test(name),
  );
  // Attributes, the bare names only: a site may well have others of its own.
  for (const name of ["webdriver", "selenium", "driver"]) if (root.hasAttribute(name)) found.push(name);
  if (String(window.external).includes("Sequentum")) found.push("Sequentum");
  return [...new Set(found)].slice(0, 32).map((name) => name.slice(0, 128));
}

/**
 * True when something looks into the console's arguments as they are passed: a client of the debugger protocol, such as
 * Playwright, Puppeteer and chromedriver, or a person's open developer tools. One weak fact, then.
 * Chromium up to about 136 read an error's `stack` for the client; later ones read its `name` once more than its `message`.
 * `groupEnd` prints nothing, and monitoring scripts that wrap the console leave it alone. Other browsers are not asked.
 */
export function stackProbe(): boolean | undefined {
  const groupEnd: (...args: unknown[]) => void = console.groupEnd;
  if (!("memory" in console) || !looksNative(groupEnd)) return undefined;
  const reads = { stack: 0, name: 0, message: 0 };
  const pass = (...keys: (keyof typeof reads)[]) => {
    const trap = new Error();
    for (const key of keys) Object.defineProperty(trap, key, { get: () => String(reads[key]++) });
    groupEnd.call(console, trap);
  };
  pass("stack");
  pass("name", "message");
  return reads.stack > 0 || reads.name > Math.max(1, reads.message);
}
