/** The same questions asked in a fresh frame, and in a worker (worker.ts): who disguises a page often forgets these. */
import { doc } from "../bare.js";

/** Answers by the question's name, as texts, so that two contexts can be compared. */
export type Facts = Record<string, string>;

/** What is asked in each context. Values are compared and forgotten; only the names of those that differ are sent. */
export function contextFacts(nav: Navigator): Facts {
  const { deviceMemory } = nav as { deviceMemory?: number };
  return {
    user_agent: nav.userAgent,
    platform: nav.platform,
    languages: String(nav.languages),
    cpu: String(nav.hardwareConcurrency),
    memory: String(deviceMemory),
    webdriver: String(nav.webdriver),
    plugins: String(nav.plugins?.length),
  };
}

/** What `task` finds in a frame that is gone again before the page can notice. Throws where frames are refused. */
export function withFrame<T>(task: (frame: Window & typeof globalThis) => T): T {
  const element = doc.createElement("iframe");
  element.style.display = "none";
  doc.documentElement.appendChild(element);
  try {
    return task(element.contentWindow as Window & typeof globalThis);
  } finally {
    element.remove();
  }
}

/** Names of facts that differ in a fresh same-origin frame. */
export function differingFacts(frame: Window): string[] {
  const here = contextFacts(navigator);
  const there = contextFacts(frame.navigator);
  return Object.keys(here).filter((name) => here[name] !== there[name]);
}
