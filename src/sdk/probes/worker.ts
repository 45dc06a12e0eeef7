/** What a worker sees, against what the page sees: who disguises a page often forgets workers. */

import { attempt, nextTask } from "../page-hooks.js";
import { contextFacts, type Facts } from "./contexts.js";
import { graphics, openGraphics } from "./graphics.js";
import { engineText, looksNative } from "./natives.js";

/**
 * The timezone, of whom scripts of the page ask it: of `Intl` where that was replaced. Its first use takes longer than all else of a page's start, so
 * where it is the browser's own a younger way answers for it.
 */
export function timezone(): string {
  const { DateTimeFormat } = Intl;
  const isOwn = looksNative(DateTimeFormat) && looksNative(engineText(DateTimeFormat.prototype.resolvedOptions));
  const { Temporal } = globalThis as { Temporal?: { Now: { timeZoneId(): string } } };
  return (isOwn && Temporal?.Now.timeZoneId()) || DateTimeFormat().resolvedOptions().timeZone;
}

/** Facts of the context, page or worker; the graphics adapter too, where it can be asked. Frames share the page's `Intl`. */
export function factsHere(): Facts {
  const { webgl_renderer } = attempt(graphics) ?? {};
  return { ...contextFacts(navigator), timezone: timezone(), ...(webgl_renderer && { webgl_renderer }) };
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
  const unknown = /webdriver|plugins/;
  return Object.keys(own).filter((name) => !unknown.test(name) && name in other && own[name] !== other[name]);
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
