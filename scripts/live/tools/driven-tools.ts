/**
 * The automation tools that are packages: each is started, in its own way and version, on this machine's browsers. Hardened ones
 * are set up as their documentation advises; headless ones hide the word in the user agent.
 */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import type { BrowserType, Page as PlaywrightPage } from "playwright-core";
import type { Browser, LaunchOptions, Page as PuppeteerPage } from "puppeteer-core";
import { missingProgram, ordinaryUserAgent, programs, quietArgs } from "../chromium.js";
import type { Display } from "../display.js";
import { type DrivenPage, playwrightPage, puppeteerPage } from "../driven-page.js";
import { scratchFolder } from "../scratch-folder.js";

/** An opened tool. */
export interface OpenedTool {
  readonly page: DrivenPage;
  close(): Promise<void>;
}

/** A tool that drives a browser. */
export interface DrivenTool {
  readonly name: string;
  readonly isHardened: boolean;
  readonly missing: () => string | null;
  /** Starts browser and page: without a window when `display` is null, else on that screen. */
  readonly open: (display: Display | null) => Promise<OpenedTool>;
}

const require = createRequire(import.meta.url);

/** Why a tool's package or program is not here; null when they are. */
function missing(packageNames: readonly string[], program: "chromium" | "firefox"): string | null {
  for (const name of packageNames) {
    try {
      require.resolve(name);
    } catch {
      return `package ${name} is missing`;
    }
  }
  return missingProgram(program);
}

const windowArgs = ["--window-position=0,0", "--window-size=1280,880"];
const hideAutomation = "--disable-blink-features=AutomationControlled";
const launchMsMax = 60_000;

function environment(display: Display | null): Record<string, string> {
  const own = Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => !!pair[1]));
  return display === null ? own : { ...own, DISPLAY: display.name };
}

/** The user agent that a headless browser of this version says instead of its own. */
function disguise(version: string): string {
  return ordinaryUserAgent(/(\d+)\./.exec(version)?.[1] ?? "0");
}

interface PlaywrightPackage {
  readonly chromium: BrowserType;
}

async function openPlaywright(display: Display | null, hardened: boolean): Promise<OpenedTool> {
  const { chromium } = require("playwright-core") as PlaywrightPackage;
  const browser = await chromium.launch({
    executablePath: programs.chromium,
    headless: display === null,
    args: [...quietArgs, ...windowArgs, ...(hardened ? [hideAutomation] : [])],
    env: environment(display),
    timeout: launchMsMax,
    ...(hardened && { ignoreDefaultArgs: ["--enable-automation"] }),
  });
  const context = await browser.newContext({
    ...(hardened && display === null && { userAgent: disguise(browser.version()) }),
    ...(hardened && display !== null && { viewport: null }),
  });
  return { page: playwrightPage(await context.newPage()), close: () => browser.close() };
}

/** Patchright, as its documentation asks: a persistent context, no viewport of its own, no user agent of its own. */
async function openPatchright(display: Display | null): Promise<OpenedTool> {
  const { chromium } = require("patchright-core") as PlaywrightPackage;
  const profile = await scratchFolder();
  const options = {
    executablePath: programs.chromium,
    headless: display === null,
    viewport: null,
    args: [...quietArgs, ...windowArgs],
    env: environment(display),
    timeout: launchMsMax,
  };
  const version = display === null ? await versionOfChromium() : "";
  const context = await chromium.launchPersistentContext(profile.path, {
    ...options,
    ...(display === null && { args: [...options.args, `--user-agent=${disguise(version)}`] }),
  });
  const page: PlaywrightPage = context.pages()[0] ?? (await context.newPage());
  return {
    page: playwrightPage(page),
    close: async () => {
      await context.close();
      await profile.erase();
    },
  };
}

/** What Chromium says of its version, as in `Chromium 156.0.8078.79`. */
async function versionOfChromium(): Promise<string> {
  const { stdout } = await promisify(execFile)(programs.chromium, ["--version"], { timeout: launchMsMax });
  return stdout;
}

interface PuppeteerPackage {
  launch(options: LaunchOptions): Promise<Browser>;
}

async function openPuppeteer(puppeteer: PuppeteerPackage, options: LaunchOptions): Promise<OpenedTool> {
  const browser = await puppeteer.launch({ timeout: launchMsMax, ...options });
  try {
    // As documented; plugins reach the pages that are made after the start only.
    const page: PuppeteerPage = await browser.newPage();
    return { page: puppeteerPage(page), close: () => browser.close() };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

const chromiumOptions = (display: Display | null, args: readonly string[] = []): LaunchOptions => ({
  executablePath: programs.chromium,
  headless: display === null,
  args: [...quietArgs, ...windowArgs, ...args],
  env: environment(display),
});

const puppeteerIn = (name: string) => {
  const loaded = require(name) as PuppeteerPackage & { default?: PuppeteerPackage };
  return loaded.default ?? loaded;
};

async function openStealth(display: Display | null): Promise<OpenedTool> {
  const { addExtra } = require("puppeteer-extra") as {
    addExtra(puppeteer: PuppeteerPackage): PuppeteerPackage & { use(plugin: unknown): void };
  };
  const stealth = require("puppeteer-extra-plugin-stealth") as () => unknown;
  const puppeteer = addExtra(puppeteerIn("puppeteer-core"));
  puppeteer.use(stealth());
  return openPuppeteer(puppeteer, { ...chromiumOptions(display), ...(display !== null && { defaultViewport: null }) });
}

async function openRebrowser(display: Display | null): Promise<OpenedTool> {
  const agent = display === null ? [`--user-agent=${disguise(await versionOfChromium())}`] : [];
  return openPuppeteer(puppeteerIn("rebrowser-puppeteer-core"), {
    ...chromiumOptions(display, [hideAutomation, ...agent]),
    defaultViewport: null,
    ignoreDefaultArgs: ["--enable-automation"],
  });
}

async function openFirefox(display: Display | null): Promise<OpenedTool> {
  return openPuppeteer(puppeteerIn("puppeteer-core"), {
    browser: "firefox",
    executablePath: programs.firefox,
    headless: display === null,
    env: environment(display),
  });
}

/** The packages' tools, unmodified ones first. */
export const packageTools: readonly DrivenTool[] = [
  {
    name: "Playwright",
    isHardened: false,
    missing: () => missing(["playwright-core"], "chromium"),
    open: (display) => openPlaywright(display, false),
  },
  {
    name: "Puppeteer",
    isHardened: false,
    missing: () => missing(["puppeteer-core"], "chromium"),
    open: (display) => openPuppeteer(puppeteerIn("puppeteer-core"), chromiumOptions(display)),
  },
  {
    name: "Puppeteer, Firefox by WebDriver BiDi",
    isHardened: false,
    missing: () => missing(["puppeteer-core"], "firefox"),
    open: openFirefox,
  },
  {
    name: "puppeteer-extra stealth",
    isHardened: true,
    missing: () => missing(["puppeteer-core", "puppeteer-extra", "puppeteer-extra-plugin-stealth"], "chromium"),
    open: openStealth,
  },
  {
    name: "patchright",
    isHardened: true,
    missing: () => missing(["patchright-core"], "chromium"),
    open: openPatchright,
  },
  {
    name: "rebrowser-puppeteer",
    isHardened: true,
    missing: () => missing(["rebrowser-puppeteer-core"], "chromium"),
    open: openRebrowser,
  },
  {
    name: "Playwright, automation hidden",
    isHardened: true,
    missing: () => missing(["playwright-core"], "chromium"),
    open: (display) => openPlaywright(display, true),
  },
];
