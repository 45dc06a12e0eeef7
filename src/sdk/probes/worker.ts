/** What a worker sees, against what the page sees: who disguises a page often forgets workers. */

import { attempt, nextTask } from "../page-hooks.js";
import { contextFacts, type Facts } from "./contexts.js";
import { graphics, openGraphics } from "./graphics.js";

/**
 * Facts of the context, page or worker; the graphics adapter too, where it can be asked. The timezone is not asked in frames, which share
 * the page's `Intl`; its first use in a process takes long, and of page and worker the worker is asked first.
 */
export function factsHere(): Facts {
  const { webgl_renderer } = attempt(graphics) ?? {};
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { ...contextFacts(navigator), timezone, ...(webgl_renderer && { webgl_renderer }) };
}

async function differingFrom(other: Facts): Promise<string[]> {
  // Each may take long at its first use.
  await nextTask();
  attempt(openGraphics);
  await nextTask();
  attempt(graphics);
  await nextTask();
  const own = factsHere();
  // Workers know no `navigator.webdriver` and no plugins, and some no WebGL.
  const known = Object.keys(own).filter(
    (name) => name !== "webdriver" && name !== "plugins" && (name !== "webgl_renderer" || name in other),
  );
  return known.filter((name) => own[name] !== other[name]);
}

/** Names of facts that differ in the worker; undefined where it is refused. */
export function compareWorker(start: () => Worker): Promise<string[] | undefined> {
  return new Promise((resolve) => {
    const worker = start();
    worker.onmessage = ({ data }: MessageEvent<Facts>) => {
      worker.terminate();
      resolve(differingFrom(data));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(undefined);
    };
  });
}
