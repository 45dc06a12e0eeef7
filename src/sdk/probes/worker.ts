/** What a worker sees, against what the page sees: who disguises a page often forgets workers. */
import { contextFacts, differing, type Facts } from "../collectors/contexts.js";
import { graphicsOf } from "./graphics.js";

/** Asked in the worker. */
export function workerFacts(): Facts {
  // Where a worker can't draw, it is not asked what with.
  const graphics = typeof OffscreenCanvas === "function" ? graphicsOf(new OffscreenCanvas(1, 1)) : {};
  return { ...contextFacts(navigator), ...(graphics.webgl_renderer && { webgl_renderer: graphics.webgl_renderer }) };
}

/** Names of facts that differ in the worker; undefined where it is refused. `ofPage` is what only some workers know. */
export function compareWorker(start: () => Worker, ofPage: Facts): Promise<string[] | undefined> {
  return new Promise((resolve) => {
    const worker = start();
    worker.onmessage = ({ data }: MessageEvent<Facts>) => {
      worker.terminate();
      // Workers know no `navigator.webdriver`.
      const { webdriver, ...own } = contextFacts(navigator);
      for (const name in ofPage) if (name in data) own[name] = ofPage[name]!;
      resolve(differing(own, data));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(undefined);
    };
  });
}
