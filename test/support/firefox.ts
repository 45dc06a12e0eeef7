/** Starts the machine's Firefox for tests that need a second real browser. Tests without one are skipped, which CI counts as failed. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, launch } from "puppeteer-core";
import type { Test } from "tap";
import { killAtEnd, stepMsMax } from "./chromium.js";

const executablePath = process.env["FIREFOX_PATH"] ?? "/usr/bin/firefox-esr";

/** Undefined when Firefox is there; else why the Firefox tests of a file can't run: `skipFileIf(t, noFirefox)`. */
export const noFirefox: string | undefined = existsSync(executablePath)
  ? undefined
  : `no firefox: ${executablePath} is missing`;

/** A headless Firefox of its own for this test, driven by WebDriver BiDi with a fresh profile, closed at its end. */
export async function launchFirefox(t: Test): Promise<Browser> {
  const browser = await launch({ browser: "firefox", executablePath, headless: true, timeout: stepMsMax });
  t.teardown(() => browser.close());
  return browser;
}

/** Settings of a fresh profile that show no page of Firefox's own in place of the one that is opened. */
const quiet = {
  "browser.aboutwelcome.enabled": false,
  "browser.preonboarding.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "termsofuse.bypassNotification": true,
};

/**
 * A headless Firefox that nobody drives: no driver is attached, so `navigator.webdriver` is false as in a visitor's browser, which no setting
 * of a driven one gives. Opens `url` and is killed at the end of the test.
 */
export function launchFirefoxAlone(t: Test, url: string): void {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  const settings = Object.entries(quiet).map(
    (entry) => `user_pref(${entry.map((part) => JSON.stringify(part)).join(", ")});\n`,
  );
  writeFileSync(join(profile, "user.js"), settings.join(""));
  const child = spawn(executablePath, ["--headless", "--no-remote", "--profile", profile, url], { stdio: "ignore" });
  killAtEnd(t, child, profile);
}
