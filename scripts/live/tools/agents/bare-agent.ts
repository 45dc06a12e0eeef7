/**
 * An agent that is in no list: a handful of verbs over the debugging protocol itself, as anybody would write them in an afternoon. It looks at the tree of
 * accessibility and at a picture, never evaluates a script in the page, and presses and writes by the protocol's input.
 */
import { freePort } from "../../../../test/support/free-port.js";
import { endChild, startChild } from "../../child-process.js";
import type { Display } from "../../display.js";
import type { Box, DrivenPage } from "../../driven-page.js";
import { pause } from "../../pause.js";
import { scratchFolder } from "../../scratch-folder.js";
import {
  type Agent,
  type AgentTool,
  agentArgs,
  chromiumPath,
  environmentOn,
  loadTool,
  missingTool,
} from "./agent-tools.js";

const startMsMax = 60_000;

interface Target {
  readonly type: string;
  readonly url: string;
  readonly webSocketDebuggerUrl: string;
}

/** Of the package `ws`, as far as it is used. */
interface Socket {
  once(event: "open" | "error", done: (error?: Error) => void): this;
  on(event: "message", read: (data: Buffer) => void): this;
  send(text: string): void;
  close(): void;
}

interface Answer {
  readonly id?: number;
  readonly result?: object;
  readonly error?: { readonly message: string };
}

/** Calls of the protocol on one page. */
async function connect(url: string) {
  const { WebSocket } = loadTool<{ WebSocket: new (url: string) => Socket }>("ws");
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => socket.once("open", () => resolve()).once("error", reject));
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.on("message", (data) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  let last = 0;
  const call = <T>(method: string, params: object = {}) =>
    new Promise<T>((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result as T);
        else reject(new Error(`${method}: ${error.message}`));
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  return { call, close: () => socket.close() };
}

type Call = Awaited<ReturnType<typeof connect>>["call"];

/** Pointer and keys by the protocol's input, still without a script in the page. */
function handOf(
  call: Call,
  click: (selector: string) => Promise<void>,
  box: (selector: string) => Promise<Box>,
): DrivenPage {
  let at = { x: 0, y: 0 };
  const mouse = (type: string, more: object = {}) => call<void>("Input.dispatchMouseEvent", { type, ...at, ...more });
  const left = { button: "left", clickCount: 1 };
  const key = (type: string, text: string) => {
    const code = /[a-z]/i.test(text) ? `Key${text.toUpperCase()}` : text === " " ? "Space" : "";
    const windowsVirtualKeyCode = text.toUpperCase().charCodeAt(0);
    const more = { key: text, code, windowsVirtualKeyCode, ...(type === "keyDown" && { text }) };
    return call<void>("Input.dispatchKeyEvent", { type, ...more });
  };
  const keyDown = (text: string) => key("keyDown", text);
  const keyUp = (text: string) => key("keyUp", text);
  return {
    raw: null,
    open: async (url) => void (await call("Page.navigate", { url })),
    click,
    run: () => Promise.resolve(undefined),
    move: (x, y) => {
      at = { x, y };
      return mouse("mouseMoved");
    },
    down: () => mouse("mousePressed", left),
    up: () => mouse("mouseReleased", left),
    wheel: (deltaY) => mouse("mouseWheel", { deltaX: 0, deltaY }),
    type: async (text) => {
      for (const each of text) await keyDown(each).then(() => keyUp(each));
    },
    keyDown,
    keyUp,
    box,
  };
}

/** How the text comes into a field. */
const fillings = {
  insert: "text put in at once",
  late: "text put in a second after the focus",
  letters: "letters without keys",
  keys: "key by key",
  composed: "text as of an input method",
  values: "values by a script",
} as const;
/** How the rest is pressed: as somebody writes it at first, along a way with pressure on whole pixels, or without a pointer. */
const pressings = { middle: "presses in the middle", hand: "a hand's moves and presses", none: "no pointer" } as const;

interface BareManner {
  readonly filling: keyof typeof fillings;
  readonly pressing: keyof typeof pressings;
}

/** Other ways to press and to fill in than the first. */
function otherwise(
  { filling, pressing }: BareManner,
  call: Call,
  find: (selector: string) => Promise<number>,
  pressMiddle: (selector: string) => Promise<void>,
  hand: DrivenPage,
): Pick<Agent, "click" | "fill"> {
  const focus = async (selector: string) => void (await call("DOM.focus", { nodeId: await find(selector) }));
  const run = (expression: string) => call<void>("Runtime.evaluate", { expression });
  const found = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
  const pressEnter = async () => {
    const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
    await call("Input.dispatchKeyEvent", { type: "keyDown", ...enter, text: "\r" });
    await pause(70);
    await call("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
  };
  const reach = {
    middle: pressMiddle,
    hand: pressLikeAHand(call, hand),
    none: focus,
  }[pressing];
  // Who works by values clicks by a script too.
  const clickAlone = (selector: string) =>
    filling === "values" ? run(`${found(selector)}.click()`) : focus(selector).then(pressEnter);
  const insert = (text: string) => call<void>("Input.insertText", { text });
  const fills: Record<typeof filling, (selector: string, text: string) => Promise<void>> = {
    insert: (selector, text) => reach(selector).then(() => insert(text)),
    async late(selector, text) {
      await reach(selector);
      await pause(1000);
      await insert(text);
    },
    async letters(selector, text) {
      await reach(selector);
      for (const each of text) {
        await call("Input.dispatchKeyEvent", { type: "char", text: each });
        await pause(60 + 120 * Math.random());
      }
    },
    async keys(selector, text) {
      await reach(selector);
      for (const each of text) {
        await hand.keyDown(each);
        await pause(40 + 50 * Math.random());
        await hand.keyUp(each);
        await pause(30 + 160 * Math.random());
      }
    },
    async composed(selector, text) {
      await reach(selector);
      await call("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
      await insert(text);
    },
    values: (selector, text) =>
      run(
        `{ const field = ${found(selector)}; field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input", { bubbles: true })) }`,
      ),
  };
  return { click: pressing === "none" ? clickAlone : reach, fill: fills[filling] };
}

/** A press after a way there, on whole pixels and with the pressure of a mouse. */
function pressLikeAHand(call: Call, hand: DrivenPage): (selector: string) => Promise<void> {
  let at = { x: 200, y: 200 };
  return async (selector) => {
    const { x, y, width, height } = await hand.box(selector);
    const to = { x: Math.round(x + 0.4 * width), y: Math.round(y + 0.6 * height) };
    const way = { x: to.x - at.x, y: to.y - at.y };
    for (let step = 1; step <= 14; step++) {
      const share = (step / 14) ** 2 * (3 - step / 7);
      const bend = Math.sin((step / 14) * Math.PI) * 6;
      await hand.move(Math.round(at.x + way.x * share), Math.round(at.y + way.y * share + bend));
      await pause(16);
    }
    at = to;
    const pressed = { ...to, button: "left", clickCount: 1, force: 0.5 };
    await call("Input.dispatchMouseEvent", { type: "mousePressed", ...pressed });
    await pause(80);
    await call("Input.dispatchMouseEvent", { type: "mouseReleased", ...pressed });
  };
}

async function work(
  port: number,
  origin: string,
  end: () => Promise<void>,
  manner: BareManner | null = null,
): Promise<Agent> {
  const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Target[];
  const target = list.find(({ type, url }) => type === "page" && url.startsWith(origin));
  if (target === undefined) throw new Error(`no page of ${origin}`);
  const { call, close } = await connect(target.webSocketDebuggerUrl);
  /** Waits for the element: pages take their time. */
  const find = async (selector: string): Promise<number> => {
    for (let waited = 0; waited < startMsMax / 4; waited += 250) {
      const found = await call<{ root: { nodeId: number } }>("DOM.getDocument")
        .then(({ root }) => call<{ nodeId: number }>("DOM.querySelector", { nodeId: root.nodeId, selector }))
        // A page that comes meanwhile has other nodes.
        .catch(() => ({ nodeId: 0 }));
      if (found.nodeId !== 0) return found.nodeId;
      await pause(250);
    }
    throw new Error(`no ${selector}`);
  };
  const click = async (selector: string) => {
    const nodeId = await find(selector);
    await call("DOM.scrollIntoViewIfNeeded", { nodeId });
    const { model } = await call<{ model: { content: number[]; border: number[] } }>("DOM.getBoxModel", { nodeId });
    const [left, top, , , right, bottom] = model.border as [number, number, number, number, number, number];
    const at = { x: (left + right) / 2, y: (top + bottom) / 2 };
    await call("Input.dispatchMouseEvent", { type: "mouseMoved", ...at });
    await call("Input.dispatchMouseEvent", { type: "mousePressed", ...at, button: "left", clickCount: 1 });
    await call("Input.dispatchMouseEvent", { type: "mouseReleased", ...at, button: "left", clickCount: 1 });
  };
  const hand = handOf(call, click, async (selector) => {
    const nodeId = await find(selector);
    await call("DOM.scrollIntoViewIfNeeded", { nodeId });
    const { model } = await call<{ model: { border: number[] } }>("DOM.getBoxModel", { nodeId });
    const [x, y, , , right, bottom] = model.border as [number, number, number, number, number, number];
    return { x, y, width: right - x, height: bottom - y };
  });
  return {
    open: async (url) => void (await call("Page.navigate", { url })),
    click,
    fill: async (selector, text) => {
      await call("DOM.focus", { nodeId: await find(selector) });
      await call("Input.insertText", { text });
    },
    ...(manner !== null && otherwise(manner, call, find, click, hand)),
    hand,
    look: async () => {
      await call("Accessibility.getFullAXTree");
      await call("Page.captureScreenshot", { format: "jpeg", quality: 60 });
    },
    close: async () => {
      close();
      await end();
    },
  };
}

async function open(display: Display | null, manner: BareManner | null = null): Promise<Agent> {
  const profile = await scratchFolder();
  const port = await freePort();
  const own = [`--remote-debugging-port=${port}`, `--user-data-dir=${profile.path}`, "about:blank"];
  const mode = display === null ? ["--headless=new"] : [];
  const child = startChild(chromiumPath, [...agentArgs, ...mode, ...own], { env: environmentOn(display) });
  const end = async () => {
    await endChild(child);
    await profile.erase();
  };
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/json/version`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let waited = 0; waited < startMsMax && !(await isUp()); waited += 250) await pause(250);
  return work(port, "about:blank", end, manner);
}

export const bareAgent: AgentTool = {
  name: "agent in no list",
  missing: () => missingTool("ws"),
  modes: ["window", "headless"],
  open: (display) => open(display),
  attach: (port, origin) => work(port, origin, async () => {}),
};

const keysOf = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

/** The same by eighteen other ways: each way to fill in with each way to press. */
export const bareVariants: readonly AgentTool[] = keysOf(fillings).flatMap((filling) =>
  keysOf(pressings).map(
    (pressing): AgentTool => ({
      name: `${bareAgent.name}, ${fillings[filling]}, ${pressings[pressing]}`,
      missing: () => missingTool("ws"),
      modes: ["window"],
      open: (display) => open(display, { filling, pressing }),
      attach: (port, origin) => work(port, origin, async () => {}, { filling, pressing }),
    }),
  ),
);
