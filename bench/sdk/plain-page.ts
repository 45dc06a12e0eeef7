/**
 * A page of Chromium as a visitor has it: no client of the debugger makes a world of its own in each frame, as Playwright does, which costs more
 * than the SDK does. It is asked through the browser's own session.
 */
import type { Browser } from "playwright-core";

/** What such a page can be asked; parameters and answers are those of Chromium's debugger protocol. */
export interface PlainPage {
  send(method: string, params?: object): Promise<unknown>;
  on(event: string, listener: (params: unknown) => void): void;
  /** Resolves once the page has loaded. */
  goto(url: string): Promise<void>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: unknown;
  readonly method?: string;
  readonly params?: unknown;
}

/** Opens a page with nothing kept from others. */
export async function openPlainPage(browser: Browser): Promise<PlainPage> {
  const session = await browser.newBrowserCDPSession();
  const { browserContextId } = await session.send("Target.createBrowserContext");
  const { targetId } = await session.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  const answers = new Map<number, (message: Message) => void>();
  const listeners: [event: string, listener: (params: unknown) => void][] = [];
  let lastId = 0;
  session.on("Target.receivedMessageFromTarget", (received) => {
    if (received.sessionId !== sessionId) return;
    const message = JSON.parse(received.message) as Message;
    if (message.id !== undefined) answers.get(message.id)?.(message);
    else for (const [event, listener] of listeners) if (event === message.method) listener(message.params);
  });
  const send = async (method: string, params: object = {}) => {
    const id = ++lastId;
    const answered = new Promise<Message>((resolve) => answers.set(id, resolve));
    await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) });
    const { error, result } = await answered;
    answers.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const on: PlainPage["on"] = (event, listener) => void listeners.push([event, listener]);
  return {
    send,
    on,
    async goto(url) {
      const loaded = new Promise<void>((resolve) => on("Page.loadEventFired", () => resolve()));
      await send("Page.enable");
      await send("Page.navigate", { url });
      await loaded;
      await send("Page.disable");
    },
    async close() {
      await session.send("Target.closeTarget", { targetId });
      await session.send("Target.disposeBrowserContext", { browserContextId });
      await session.detach();
    },
  };
}
