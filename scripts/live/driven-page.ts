/**
 * What the behaviours need of an automation tool: a page that is driven through the tool's own calls. One adapter each for the
 * Playwright and the Puppeteer family (forks keep the interface); WebDriver has its own in tools/chromedriver.ts.
 */
import type { Page as PlaywrightPage } from "playwright-core";
import type { KeyInput, Page as PuppeteerPage } from "puppeteer-core";

/** A box in CSS pixels of the viewport. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An open page of an automation tool. Coordinates are CSS pixels of the viewport. */
export interface DrivenPage {
  open(url: string): Promise<void>;
  /** The tool's pointer move, in `steps` straight steps where the tool knows such. */
  move(x: number, y: number, steps?: number): Promise<void>;
  down(): Promise<void>;
  up(): Promise<void>;
  /** The tool's own click on an element. */
  click(selector: string): Promise<void>;
  /** The tool's own typing into what has the focus; `delayMs` is the tool's option. */
  type(text: string, delayMs: number): Promise<void>;
  /** The tool's own filling of a field, where its documentation shows no clicks and keys for it. */
  fill?(selector: string, text: string): Promise<void>;
  keyDown(key: string): Promise<void>;
  keyUp(key: string): Promise<void>;
  wheel(deltaY: number): Promise<void>;
  /** Runs an expression in the page. */
  run(script: string): Promise<unknown>;
  box(selector: string): Promise<Box>;
  /** The tool's page object, for libraries that are made for it. */
  readonly raw: unknown;
}

function visibleBox(box: Box | null | undefined, selector: string): Box {
  if (!box) throw new Error(`no box of ${selector}`);
  return box;
}

/** A page of Playwright or of a fork of it. */
export function playwrightPage(page: PlaywrightPage): DrivenPage {
  return {
    raw: page,
    open: async (url) => void (await page.goto(url)),
    move: (x, y, steps = 1) => page.mouse.move(x, y, { steps }),
    down: () => page.mouse.down(),
    up: () => page.mouse.up(),
    click: (selector) => page.click(selector),
    type: (text, delay) => page.keyboard.type(text, { delay }),
    keyDown: (key) => page.keyboard.down(key),
    keyUp: (key) => page.keyboard.up(key),
    wheel: (deltaY) => page.mouse.wheel(0, deltaY),
    run: (script) => page.evaluate(script),
    box: async (selector) => visibleBox(await page.locator(selector).boundingBox(), selector),
  };
}

/** A page of Puppeteer or of a fork of it, in Chromium or Firefox. */
export function puppeteerPage(page: PuppeteerPage): DrivenPage {
  return {
    raw: page,
    open: async (url) => void (await page.goto(url)),
    move: (x, y, steps = 1) => page.mouse.move(x, y, { steps }),
    down: () => page.mouse.down(),
    up: () => page.mouse.up(),
    click: (selector) => page.click(selector),
    type: (text, delay) => page.keyboard.type(text, { delay }),
    keyDown: (key) => page.keyboard.down(key as KeyInput),
    keyUp: (key) => page.keyboard.up(key as KeyInput),
    wheel: (deltaY) => page.mouse.wheel({ deltaY }),
    run: (script) => page.evaluate(script),
    box: async (selector) => visibleBox(await (await page.$(selector))?.boundingBox(), selector),
  };
}
