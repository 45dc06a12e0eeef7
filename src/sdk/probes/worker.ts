/** What a worker sees, against what the page sees: who disguises a page often forgets workers. */
import { contextFacts, type Facts } from "../collectors/contexts.js";
import { attempt } from "../page-hooks.js";
import { graphics } from "./graphics.js";

/** Facts of the context, page or worker; the graphics adapter too, where it can be asked. */
export function factsHere(): Facts {
  const { webgl_renderer } = attempt(graphics) ?? {};
  return { ...contextFacts(navigator), ...(webgl_renderer && { webgl_renderer }) };
}

/** Names of facts that differ in the worker; undefined where it is refused. */
export function compareWorker(start: () => Worker): Promise<string[] | undefined> {
  return new Promise((resolve) => {
    const worker = start();
    worker.onmessage = ({ data }: MessageEvent<Facts>) => {
      worker.terminate();
      const own = factsHere();
      // Workers know no `navigator.webdriver`, and some no WebGL.
      const known = Object.keys(own).filter(
        (name) => name !== "webdriver" && (name !== "webgl_renderer" || name in data),
      );
      resolve(known.filter((name) => own[name] !== data[name]));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(undefined);
    };
  });
}
