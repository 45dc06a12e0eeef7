/**
 * Selenium's way in: the W3C WebDriver protocol spoken to ChromeDriver, as Selenium's bindings speak it (their pointer moves take
 * 250 ms, their typing is one "element send keys"). The bindings themselves would add nothing that a page can see.
 */
import { awaitOutput, endChild, startChild } from "../child-process.js";
import { missingProgram, programs, quietArgs } from "../chromium.js";
import type { Display } from "../display.js";
import type { Box, DrivenPage } from "../driven-page.js";
import { scratchFolder } from "../scratch-folder.js";
import type { DrivenTool, OpenedTool } from "./driven-tools.js";

/** The key of an element reference in WebDriver's JSON. */
const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const moveMs = 250;

type Command = (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) => Promise<unknown>;

function commandsOf(base: string): Command {
  return async (method, path, body = {}) => {
    const answer = await fetch(base + path, {
      method,
      ...(method === "POST" && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
      signal: AbortSignal.timeout(20_000),
    });
    const { value } = (await answer.json()) as { value: unknown };
    if (!answer.ok) throw new Error(`WebDriver ${path}: ${JSON.stringify(value).slice(0, 300)}`);
    return value;
  };
}

function webDriverPage(command: Command, session: string): DrivenPage {
  const post = (path: string, body?: unknown) => command("POST", `/session/${session}${path}`, body);
  const actions = (type: string, action: object, more: object = {}) =>
    post("/actions", { actions: [{ type, id: `the ${type}`, ...more, actions: [action] }] }).then(() => {});
  const pointer = (action: object) => actions("pointer", action, { parameters: { pointerType: "mouse" } });
  const find = async (selector: string) => {
    const found = (await post("/element", { using: "css selector", value: selector })) as Record<string, string>;
    return found[elementKey]!;
  };
  const run = (script: string) => post("/execute/sync", { script: `return (${script})`, args: [] });
  return {
    raw: null,
    open: async (url) => void (await post("/url", { url })),
    move: (x, y) =>
      pointer({ type: "pointerMove", duration: moveMs, x: Math.round(x), y: Math.round(y), origin: "viewport" }),
    down: () => pointer({ type: "pointerDown", button: 0 }),
    up: () => pointer({ type: "pointerUp", button: 0 }),
    click: async (selector) => void (await post(`/element/${await find(selector)}/click`)),
    type: async (text) => {
      const active = (await command("GET", `/session/${session}/element/active`)) as Record<string, string>;
      await post(`/element/${active[elementKey]}/value`, { text });
    },
    keyDown: (key) => actions("key", { type: "keyDown", value: key }),
    keyUp: (key) => actions("key", { type: "keyUp", value: key }),
    wheel: (deltaY) => actions("wheel", { type: "scroll", x: 300, y: 300, deltaX: 0, deltaY, duration: 0 }),
    run,
    box: async (selector) => {
      const box = `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`;
      return (await run(box)) as Box;
    },
  };
}

/** A ChromeDriver of its own, with a profile for the browser that it will start. */
export async function startChromedriver(
  display: Display | null,
): Promise<{ readonly port: number; readonly profile: string; end(): Promise<void> }> {
  const env = display === null ? process.env : { ...process.env, DISPLAY: display.name };
  const profile = await scratchFolder();
  const child = startChild(programs.chromedriver, ["--port=0"], { env });
  const end = async () => {
    await endChild(child);
    await profile.erase();
  };
  try {
    const [, port] = await awaitOutput(child, /started successfully on port (\d+)/, 15_000);
    return { port: Number(port), profile: profile.path, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** What a session asks for: Chromium, with a window where there is a screen. */
export function chromeCapabilities(display: Display | null, profile: string): object {
  const args = [...quietArgs, "--window-size=1280,880", `--user-data-dir=${profile}`];
  return {
    browserName: "chrome",
    "goog:chromeOptions": {
      binary: programs.chromium,
      args: display === null ? [...args, "--headless=new"] : args,
    },
  };
}

async function openChromedriver(display: Display | null): Promise<OpenedTool> {
  const { port, profile, end } = await startChromedriver(display);
  try {
    const command = commandsOf(`http://127.0.0.1:${port}`);
    const created = (await command("POST", "/session", {
      capabilities: { alwaysMatch: chromeCapabilities(display, profile) },
    })) as { sessionId: string };
    return {
      page: webDriverPage(command, created.sessionId),
      close: async () => {
        await command("DELETE", `/session/${created.sessionId}`).catch(() => {});
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Chromium driven by ChromeDriver. */
export const chromedriverTool: DrivenTool = {
  name: "Selenium's protocol, ChromeDriver",
  isHardened: false,
  missing: () => missingProgram("chromedriver", "chromium"),
  open: openChromedriver,
};
