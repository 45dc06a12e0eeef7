/** Agents and scrapers that come as libraries or as a command: each with the calls that its first pages of documentation show. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { BrowserType, Browser as PlaywrightBrowser, Page as PlaywrightPage } from "playwright-core";
import type { ConnectOptions, Browser as PuppeteerBrowser, Page as PuppeteerPage } from "puppeteer-core";
import type { Display } from "../../display.js";
import { playwrightPage, puppeteerPage } from "../../driven-page.js";
import { scratchFolder } from "../../scratch-folder.js";
import {
  type Agent,
  type AgentTool,
  agentArgs,
  chromiumPath,
  environmentOn,
  loadTool,
  missingTool,
  programOfTool,
} from "./agent-tools.js";

const callMsMax = 60_000;
const endpoint = (port: number) => `http://127.0.0.1:${port}`;
const strings = (env: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));

/** The address of a browser's debugger. */
async function socketOf(port: number): Promise<string> {
  const told = (await (await fetch(`${endpoint(port)}/json/version`)).json()) as { webSocketDebuggerUrl: string };
  return told.webSocketDebuggerUrl;
}

/** Playwright's verbs; forks keep them. */
const playwrightAgent = (page: PlaywrightPage, close: () => Promise<unknown>): Agent => ({
  open: async (url) => void (await page.goto(url)),
  click: (selector) => page.locator(selector).click(),
  fill: (selector, text) => page.locator(selector).fill(text),
  look: async () => void (await page.locator("body").ariaSnapshot()),
  hand: playwrightPage(page),
  close: async () => void (await close()),
});

async function attachPlaywright(name: string, port: number, origin: string): Promise<Agent> {
  const { chromium } = loadTool<{ chromium: BrowserType }>(name);
  const browser: PlaywrightBrowser = await chromium.connectOverCDP(endpoint(port));
  const page = browser
    .contexts()
    .flatMap((context) => context.pages())
    .find((each) => each.url().startsWith(origin));
  if (page === undefined) throw new Error(`no page of ${origin}`);
  return playwrightAgent(page, () => browser.close());
}

async function openPatchright(display: Display | null): Promise<Agent> {
  const { chromium } = loadTool<{ chromium: BrowserType }>("patchright");
  const profile = await scratchFolder();
  const options = { executablePath: chromiumPath, headless: display === null, viewport: null, args: [...agentArgs] };
  const context = await chromium.launchPersistentContext(profile.path, {
    ...options,
    env: strings(environmentOn(display)),
  });
  const page = context.pages()[0] ?? (await context.newPage());
  return playwrightAgent(page, async () => {
    await context.close();
    await profile.erase();
  });
}

async function attachPuppeteer(port: number, origin: string): Promise<Agent> {
  const puppeteer = loadTool<{ connect(options: ConnectOptions): Promise<PuppeteerBrowser> }>("puppeteer-core");
  const browser = await puppeteer.connect({ browserURL: endpoint(port), defaultViewport: null });
  const page = (await browser.pages()).find((each) => each.url().startsWith(origin));
  if (page === undefined) throw new Error(`no page of ${origin}`);
  return {
    open: async (url) => void (await page.goto(url)),
    click: (selector) => page.locator(selector).click(),
    fill: (selector, text) => page.locator(selector).fill(text),
    look: async () => void (await page.accessibility.snapshot()),
    hand: puppeteerPage(page),
    close: () => browser.disconnect(),
  };
}

interface RealBrowser {
  connect(options: object): Promise<{
    browser: PuppeteerBrowser;
    page: PuppeteerPage & { readonly realCursor: { click(selector: string): Promise<void> } };
  }>;
}

/** puppeteer-real-browser, with the clicks along curves that it is made for. */
async function openRealBrowser(display: Display | null): Promise<Agent> {
  const { connect } = loadTool<RealBrowser>("puppeteer-real-browser");
  const { browser, page } = await connect({
    headless: false,
    turnstile: true,
    disableXvfb: true,
    args: [...agentArgs],
    customConfig: { chromePath: chromiumPath, envVars: strings(environmentOn(display)) },
    connectOption: { defaultViewport: null },
  });
  return {
    open: async (url) => void (await page.goto(url)),
    click: (selector) => page.realCursor.click(selector),
    fill: async (selector, text) => {
      await page.realCursor.click(selector);
      await page.type(selector, text);
    },
    look: async () => void (await page.content()),
    close: () => browser.close(),
  };
}

interface StagehandPage {
  goto(url: string): Promise<unknown>;
  url(): string;
}
interface StagehandSession {
  readonly context: { pages(): readonly StagehandPage[] };
  init(): Promise<void>;
  act(action: {
    selector: string;
    description: string;
    method: string;
    arguments: string[];
  }): Promise<{ success: boolean; message: string }>;
  extract(): Promise<unknown>;
  close(options?: { force?: boolean }): Promise<void>;
}
interface StagehandPackage {
  readonly Stagehand: new (options: object) => StagehandSession;
}

/** Stagehand: `act` with what `observe` would have returned, which asks no model. */
async function startStagehand(
  localBrowserLaunchOptions: object,
  origin: string,
  display: Display | null,
  keepAlive: boolean,
): Promise<Agent> {
  const { Stagehand } = loadTool<StagehandPackage>("@browserbasehq/stagehand");
  const options = { env: "LOCAL", verbose: 0, disablePino: true, keepAlive, localBrowserLaunchOptions };
  const stagehand = new Stagehand({ ...options, logger: () => {} });
  // It starts its browser with the environment of this process.
  const before = process.env["DISPLAY"];
  if (display !== null) process.env["DISPLAY"] = display.name;
  try {
    await stagehand.init();
  } finally {
    if (before === undefined) delete process.env["DISPLAY"];
    else process.env["DISPLAY"] = before;
  }
  const pages = stagehand.context.pages();
  const page = pages.find((each) => each.url().startsWith(origin)) ?? pages[0]!;
  const act = async (selector: string, method: string, ...args: string[]) => {
    const { success, message } = await stagehand.act({
      selector: `css=${selector}`,
      description: selector,
      method,
      arguments: args,
    });
    if (!success) throw new Error(message);
  };
  return {
    open: async (url) => void (await page.goto(url)),
    click: (selector) => act(selector, "click"),
    fill: (selector, text) => act(selector, "fill", text),
    look: async () => void (await stagehand.extract()),
    close: () => stagehand.close(),
  };
}

interface CrawleePackage {
  readonly PlaywrightCrawler: new (options: object, configuration: object) => { run(urls: string[]): Promise<unknown> };
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void };
}

/** Crawlee hands its page to a function: it is kept there until the job is done. */
async function openCrawlee(display: Display | null): Promise<Agent> {
  const { PlaywrightCrawler, Configuration, log } = loadTool<CrawleePackage>("crawlee");
  const { chromium } = loadTool<{ chromium: BrowserType }>("playwright-core");
  log.setLevel(0);
  const storage = await scratchFolder();
  let opened: ((page: PlaywrightPage) => void) | null = null;
  let end: (() => void) | null = null;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let page: PlaywrightPage | null = null;
  let run: Promise<unknown> = Promise.resolve();
  const launchOptions = { executablePath: chromiumPath, args: [...agentArgs], env: strings(environmentOn(display)) };
  const crawler = new PlaywrightCrawler(
    {
      launchContext: { launcher: chromium, launchOptions },
      headless: display === null,
      maxRequestRetries: 0,
      requestHandlerTimeoutSecs: callMsMax / 1000,
      requestHandler: (context: { readonly page: PlaywrightPage }) => {
        opened?.(context.page);
        return ended;
      },
    },
    new Configuration({ persistStorage: false, storageClientOptions: { localDataDirectory: storage.path } }),
  );
  return {
    async open(url) {
      if (page !== null) return void (await page.goto(url));
      page = await new Promise<PlaywrightPage>((resolve, reject) => {
        opened = resolve;
        run = crawler.run([url]).then(() => reject(new Error("Crawlee ended")), reject);
      });
    },
    click: (selector) => page!.locator(selector).click(),
    fill: (selector, text) => page!.locator(selector).fill(text),
    look: async () => void (await page!.content()),
    async close() {
      end?.();
      await run;
      await storage.erase();
    },
  };
}

interface Taiko {
  openBrowser(options: object): Promise<void>;
  goto(url: string): Promise<void>;
  click(target: unknown): Promise<void>;
  write(text: string, into: unknown): Promise<void>;
  into(target: unknown): unknown;
  screenshot(options: object): Promise<unknown>;
  closeBrowser(): Promise<void>;
  $(selector: string): unknown;
}

/** Taiko, whose browser starts with the environment of this process. */
async function openTaiko(display: Display | null): Promise<Agent> {
  process.env["TAIKO_BROWSER_PATH"] = chromiumPath;
  const { openBrowser, goto, click, write, into, screenshot, closeBrowser, $ } = loadTool<Taiko>("taiko");
  const before = process.env["DISPLAY"];
  if (display !== null) process.env["DISPLAY"] = display.name;
  await openBrowser({ headless: display === null, args: [...agentArgs] }).finally(() => {
    if (before === undefined) delete process.env["DISPLAY"];
    else process.env["DISPLAY"] = before;
  });
  return {
    open: (url) => goto(url),
    click: (selector) => click($(selector)),
    fill: (selector, text) => write(text, into($(selector))),
    look: async () => void (await screenshot({ encoding: "base64" })),
    close: () => closeBrowser(),
  };
}

let sessions = 0;

/** agent-browser: a command for each step, and a daemon that holds the browser. */
async function startAgentBrowser(first: readonly string[], env: Record<string, string | undefined>): Promise<Agent> {
  const home = await scratchFolder();
  const session = `jobs-${process.pid}-${++sessions}`;
  const run = async (...args: string[]) => {
    const program = programOfTool("agent-browser", "bin/agent-browser.js");
    const options = { timeout: callMsMax, env: { ...env, HOME: home.path } };
    await promisify(execFile)(process.execPath, [program, "--session", session, ...first, ...args], options);
  };
  return {
    open: (url) => run("open", url),
    click: (selector) => run("click", selector),
    fill: (selector, text) => run("fill", selector, text),
    look: () => run("snapshot", "-i"),
    async close() {
      await run("close").catch(() => {});
      await home.erase();
    },
  };
}

export const packageAgents: readonly AgentTool[] = [
  {
    name: "agent-browser",
    missing: () => missingTool("agent-browser", "/package.json"),
    modes: ["headless", "window"],
    open: (display) => {
      const own = [
        "--executable-path",
        chromiumPath,
        ...(display === null ? [] : ["--headed"]),
        "--args",
        agentArgs.join(","),
      ];
      return startAgentBrowser(own, environmentOn(display));
    },
    attach: (port) => startAgentBrowser(["--cdp", String(port)], { ...process.env }),
  },
  {
    name: "Stagehand",
    missing: () => missingTool("@browserbasehq/stagehand"),
    modes: ["window", "headless"],
    open: (display) =>
      startStagehand(
        { executablePath: chromiumPath, headless: display === null, args: [...agentArgs] },
        "about:",
        display,
        false,
      ),
    attach: async (port, origin) => startStagehand({ cdpUrl: await socketOf(port) }, origin, null, true),
  },
  {
    name: "puppeteer-real-browser",
    missing: () => missingTool("puppeteer-real-browser"),
    modes: ["window"],
    open: openRealBrowser,
    attach: null,
  },
  {
    name: "Crawlee",
    missing: () => missingTool("crawlee"),
    modes: ["headless", "window"],
    open: openCrawlee,
    attach: null,
  },
  {
    name: "patchright",
    missing: () => missingTool("patchright"),
    modes: ["window"],
    open: openPatchright,
    attach: (port, origin) => attachPlaywright("patchright", port, origin),
  },
  {
    name: "Taiko",
    missing: () => missingTool("taiko"),
    modes: ["window", "headless"],
    open: openTaiko,
    attach: null,
  },
  {
    name: "Playwright",
    missing: () => missingTool("playwright-core"),
    modes: [],
    open: null,
    attach: (port, origin) => attachPlaywright("playwright-core", port, origin),
  },
  {
    name: "Puppeteer",
    missing: () => missingTool("puppeteer-core"),
    modes: [],
    open: null,
    attach: attachPuppeteer,
  },
];
