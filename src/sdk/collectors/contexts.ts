/**
 * The same questions asked in a fresh frame and in a worker: who disguises a page often forgets these.
 * The script tag's bundle is its own worker script, so no policy beyond `script-src 'self'` is needed.
 */

type Facts = Record<string, string>;

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
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function differing(a: Facts, b: Facts): string[] {
  return Object.keys(a).filter((key) => a[key] !== b[key]);
}

/** Runs `task` in a frame that is gone again before the page can notice; undefined where frames are refused. */
export function withFrame<T>(task: (frame: Window) => T): T | undefined {
  const element = document.createElement("iframe");
  element.style.display = "none";
  document.documentElement.appendChild(element);
  try {
    const frame = element.contentWindow;
    return frame ? task(frame) : undefined;
  } finally {
    element.remove();
  }
}

/** Names of facts that differ in a fresh same-origin frame. */
export function compareFrame(): string[] | undefined {
  return withFrame((frame) => {
    const found = differing(contextFacts(navigator), contextFacts(frame.navigator));
    if (navigator.plugins.length !== frame.navigator.plugins.length) found.push("plugins");
    return found;
  });
}

/** Names of facts that differ in a worker; undefined where workers are refused. Workers know no `navigator.webdriver`. */
export function compareWorker(url: string): Promise<string[] | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(url);
    worker.onmessage = (event: MessageEvent<Facts>) => {
      worker.terminate();
      const { webdriver, ...own } = contextFacts(navigator);
      resolve(differing(own, event.data));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(undefined);
    };
  });
}
