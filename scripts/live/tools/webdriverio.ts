/** WebdriverIO, as its first pages show it: WebDriver and WebDriver BiDi through ChromeDriver. No dependency: `AGENT_TOOLS_PATH` names the folder it is installed in. */
import { missingProgram } from "../chromium.js";
import type { Display } from "../display.js";
import type { DrivenPage } from "../driven-page.js";
import { loadTool, missingTool } from "./agents/agent-tools.js";
import { chromeCapabilities, startChromedriver } from "./chromedriver.js";
import type { DrivenTool, OpenedTool } from "./driven-tools.js";

interface PointerAction {
  move(to: { readonly x: number; readonly y: number }): PointerAction;
  down(): PointerAction;
  up(): PointerAction;
  perform(skipRelease: boolean): Promise<void>;
}

/** Of the package `webdriverio`, as far as it is used. */
interface Session {
  url(address: string): Promise<unknown>;
  $(selector: string): { click(): Promise<void>; setValue(text: string): Promise<void> };
  keys(text: string): Promise<void>;
  action(type: "pointer"): PointerAction;
  action(type: "key"): {
    down(key: string): { perform(skipRelease: boolean): Promise<void> };
    up(key: string): { perform(skipRelease: boolean): Promise<void> };
  };
  scroll(x: number, y: number): Promise<void>;
  execute(script: string): Promise<unknown>;
  deleteSession(): Promise<void>;
}

function pageOf(session: Session): DrivenPage {
  const run = (script: string) => session.execute(`return (${script})`);
  return {
    raw: session,
    open: async (url) => void (await session.url(url)),
    move: (x, y) =>
      session
        .action("pointer")
        .move({ x: Math.round(x), y: Math.round(y) })
        .perform(true),
    down: () => session.action("pointer").down().perform(true),
    up: () => session.action("pointer").up().perform(true),
    click: (selector) => session.$(selector).click(),
    fill: (selector, text) => session.$(selector).setValue(text),
    type: (text) => session.keys(text),
    keyDown: (key) => session.action("key").down(key).perform(true),
    keyUp: (key) => session.action("key").up(key).perform(true),
    wheel: (deltaY) => session.scroll(0, deltaY),
    run,
    box: async (selector) =>
      (await run(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`)) as Awaited<
        ReturnType<DrivenPage["box"]>
      >,
  };
}

async function openWebdriverio(display: Display | null): Promise<OpenedTool> {
  const { remote } = loadTool<{ remote(options: object): Promise<Session> }>("webdriverio");
  const driver = await startChromedriver(display);
  try {
    const session = await remote({
      hostname: "127.0.0.1",
      port: driver.port,
      logLevel: "silent",
      capabilities: chromeCapabilities(display, driver.profile),
    });
    return {
      page: pageOf(session),
      close: async () => {
        await session.deleteSession().catch(() => {});
        await driver.end();
      },
    };
  } catch (error) {
    await driver.end();
    throw error;
  }
}

/** Chromium driven by WebdriverIO. */
export const webdriverioTool: DrivenTool = {
  name: "WebdriverIO",
  isHardened: false,
  missing: () => missingTool("webdriverio") ?? missingProgram("chromedriver"),
  open: openWebdriverio,
};
