/** Starts the machine's Chromium for tests that need a real browser. Tests without one are skipped, which CI counts as failed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type Cookie, chromium } from "playwright-core";
import type { Test } from "tap";
import { waitUntil } from "./wait-until.js";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
/** The same engine without windows. */
const shellPath = "/usr/bin/chromium-headless-shell";

/** Undefined when Chromium is there; else why the browser tests of a file can't run: `skipFileIf(t, noChromium)`. */
export const noChromium: string | undefined = existsSync(executablePath)
  ? undefined
  : `no chromium: ${executablePath} is missing`;

/** Ends a file of tests that lacks something; without a reason nothing is lacking. */
export function skipFileIf(t: Test, lacking: string | undefined): void {
  if (lacking === undefined) return;
  t.plan(0, lacking);
  process.exit(0);
}

/**
 * What Chromium leaves out: renderers for its own toolbar, made with every window, which take twice the processor time of a page.
 * Of two such switches the last one counts, so those that Playwright turns off and that matter to tests stand here as well.
 */
const leftOut = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxAimPopup",
  "InitialWebUI",
  "WebUIReloadButton",
  "PreloadTopChromeWebUI",
  "SpareRendererForSitePerProcess",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

const commonArgs = [
  `--disable-features=${leftOut.join(",")}`,
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How the browser presents itself. */
interface LaunchOptions {
  /** Leaves out what Chromium says of its own accord about being automated: `navigator.webdriver` is false then. */
  hideAutomation?: boolean;
  /** Opens a window on this X display instead of being headless. */
  display?: string;
  /** Further command line switches. */
  args?: string[];
  /** Whether Chromium's shell will do, where it is installed: it takes a fifth less processor time. Not where what a browser says of itself matters. */
  isPlain?: boolean;
}

/**
 * A headless Chromium that nobody drives: no debugger client is attached, as in a visitor's browser. Opens `url` and is
 * killed at the end of the test. Where the page has not `arrived` after a minute there is one more: on a busy machine a browser that nobody can ask
 * now and then hangs as it starts.
 */
export function launchAlone(t: Test, url: string, arrived: Promise<unknown>, args: readonly string[] = []): void {
  open(t, url, args);
  const impatience = setTimeout(() => open(t, url, args), 60_000);
  const isPatient = () => clearTimeout(impatience);
  arrived.then(isPatient, isPatient);
}

function open(t: Test, url: string, args: readonly string[]): void {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const switches = ["--headless=new", ...commonArgs, `--user-data-dir=${profile}`];
  const child = spawn(executablePath, [...switches, "--disable-blink-features=AutomationControlled", ...args, url], {
    // Its helpers outlive it for a moment, and would keep pipes open.
    stdio: "ignore",
  });
  killAtEnd(t, child, profile);
}

/** Ends a browser that was started by itself, and removes its profile, at the end of the test. */
export function killAtEnd(t: Test, child: ChildProcess, profile: string): void {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  t.teardown(async () => {
    child.kill("SIGTERM");
    const impatience = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(impatience);
    await rm(profile, { recursive: true, force: true, maxRetries: 20 });
  });
}

/** How long a browser may take over one step, in place of the drivers' 30 s: other tests want the same two cores. */
export const stepMsMax = 120_000;

/** A Chromium of its own for this test, headless unless it is given a display; closed at its end. */
export async function launch(t: Test, options: LaunchOptions = {}): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: options.isPlain && existsSync(shellPath) ? shellPath : executablePath,
    ...(options.display !== undefined && { headless: false, env: { ...process.env, DISPLAY: options.display } }),
    args: [
      ...commonArgs,
      ...(options.hideAutomation ? ["--disable-blink-features=AutomationControlled"] : []),
      ...(options.args ?? []),
    ],
    ...(options.hideAutomation ? { ignoreDefaultArgs: ["--enable-automation"] } : {}),
  });
  browser.on("context", (context) => context.setDefaultTimeout(stepMsMax));
  t.teardown(() => browser.close());
  return browser;
}

/** A headless Chromium that says of itself what a person's says: no driver, and the user agent that it has in a window. */
export async function launchUsual(t: Test, args: readonly string[] = []): Promise<Browser> {
  const version =
    /\d+/.exec(
      execFileSync(executablePath, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    )?.[0] ?? "";
  const agent = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
  const browser = await launch(t, { hideAutomation: true, args: [`--user-agent=${agent}`, ...args] });
  const newContext = browser.newContext.bind(browser);
  // Evaluations of a driver activate the page, a person's does not look so.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.addInitScript('Object.defineProperty(Navigator.prototype, "userActivation", { get() {} })');
    return context;
  };
  return browser;
}

/** The SDK's cookie, once there is one with this value: the browser hears of what a page wrote a little later than the page. */
export async function sessionCookie(context: BrowserContext, value = /^sess_/): Promise<Cookie | undefined> {
  const read = async (): Promise<Cookie | undefined> =>
    (await context.cookies()).find((each) => each.name === "service_session");
  return waitUntil(read, (cookie) => cookie !== undefined && value.test(cookie.value));
}
