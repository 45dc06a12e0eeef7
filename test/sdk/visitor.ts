/** One face for the browsers that the SDK is tried in, as far as the shared cases need one. Knows nothing of the SDK. */
import type { Browser as PlaywrightBrowser } from "playwright-core";
import type { Browser as PuppeteerBrowser } from "puppeteer-core";
import { stepMsMax } from "../support/chromium.js";
import { waitUntil } from "../support/wait-until.js";

/** A tab. */
export interface Tab {
  goto(url: string): Promise<unknown>;
  title(): Promise<string>;
  /** Runs a script in the page; the value of its promise, if it has one. */
  evaluate(script: string): Promise<unknown>;
  close(): Promise<void>;
}

/** What the page and its scripts wrote to the console, and errors that nobody caught. */
type Noise = string[];

interface Cookie {
  name: string;
  value: string;
  domain: string;
  path: string;
  expires: number;
  secure: boolean;
}

/** Somebody with cookies of their own, and any number of tabs. */
export interface Visitor {
  open(): Promise<Tab & { noise: Noise }>;
  /** All cookies, once there are `count`; what there is after a minute if there never are. */
  cookies(count: number): Promise<Cookie[]>;
  leave(): Promise<void>;
}

/** Lets a new visitor in. */
export type Arrive = () => Promise<Visitor>;

/** A page writes cookies in its own process; the browser, which is asked here, hears of them a little later. */
const onceThere = (read: () => Promise<Cookie[]>, count: number): Promise<Cookie[]> =>
  waitUntil(read, (cookies) => cookies.length >= count);

export function throughPlaywright(browser: PlaywrightBrowser): Arrive {
  return async () => {
    const context = await browser.newContext();
    return {
      async open() {
        const page = await context.newPage();
        const noise: Noise = [];
        page.on("pageerror", (error) => noise.push(String(error)));
        // Chromium says the end of a group to debugger clients; it is no line in anybody's console.
        page.on("console", (message) => {
          if (message.type() !== "endGroup") noise.push(`${message.type()} ${message.text()}`);
        });
        return Object.assign(page, { noise });
      },
      cookies: (count) => onceThere(() => context.cookies(), count),
      leave: () => context.close(),
    };
  };
}

export function throughPuppeteer(browser: PuppeteerBrowser): Arrive {
  return async () => {
    const context = await browser.createBrowserContext();
    return {
      async open() {
        const page = await context.newPage();
        page.setDefaultTimeout(stepMsMax);
        const noise: Noise = [];
        page.on("pageerror", (error) => noise.push(String(error)));
        page.on("console", (message) => noise.push(`${message.type()} ${message.text()}`));
        return Object.assign(page, { noise });
      },
      cookies: (count) => onceThere(() => context.cookies(), count),
      leave: () => context.close(),
    };
  };
}
