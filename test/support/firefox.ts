/** Starts the machine's Firefox for tests that need a second real browser. Tests without one are skipped, which CI counts as failed. */
import { existsSync } from "node:fs";
import { type Browser, launch } from "puppeteer-core";
import type { Test } from "tap";
import { stepMsMax } from "./chromium.js";

const executablePath = process.env["FIREFOX_PATH"] ?? "/usr/bin/firefox-esr";

/** Undefined when Firefox is there; else why the Firefox tests of a file can't run: `t.plan(0, noFirefox)`. */
export const noFirefox: string | undefined = existsSync(executablePath)
  ? undefined
  : `no firefox: ${executablePath} is missing`;

/** A headless Firefox of its own for this test, driven by WebDriver BiDi with a fresh profile, closed at its end. */
export async function launchFirefox(t: Test): Promise<Browser> {
  const browser = await launch({ browser: "firefox", executablePath, headless: true, timeout: stepMsMax });
  t.teardown(() => browser.close());
  return browser;
}
