/**
 * Puts the SDK together: collectors record, the recorder cuts batches, the transport sends them. Decides when the first
 * report is due and what happens when the page is hidden or left.
 */
import type { Scene } from "./collector.js";
import { collectClicks } from "./collectors/clicks.js";
import { collectEnvironment } from "./collectors/environment.js";
import { collectForms } from "./collectors/forms.js";
import { collectKeyboard } from "./collectors/keyboard.js";
import { collectPage } from "./collectors/page.js";
import { collectPointer } from "./collectors/pointer.js";
import { collectScroll } from "./collectors/scroll.js";
import { collectTiming } from "./collectors/timing.js";
import { collectTouch } from "./collectors/touch.js";
import type { Settings, Verdictd } from "./options.js";
import { attempt, holdPage } from "./page-hooks.js";
import { startRecorder } from "./recorder.js";
import type { TokenStore } from "./token.js";
import { openTransport } from "./transport.js";
import { scriptUrl } from "./trusted-types.js";

const firstReportMs = 500;
/** A page whose `load` never comes (a hanging image) reports after this. */
const loadMostMs = 6000;

const collectors = [
  collectPointer,
  collectClicks,
  collectTouch,
  collectScroll,
  collectKeyboard,
  collectForms,
  collectPage,
];

/** What a person does, by events that begin with its kind, see `Scene.input`. */
const inputs = "wheel touchstart touchmove keydown pointerdown pointerup";

/** The SDK at work, until it is stopped. */
export type Agent = Pick<Verdictd, "ready" | "token" | "challenge"> & { stop(): void };

/** Starts collecting and sending. */
export function startAgent(settings: Settings, tokens: TokenStore): Agent {
  const page = holdPage();
  let settle: (token: string | null) => void = () => {};
  const ready = new Promise<string | null>((resolve) => {
    settle = resolve;
  });
  ready.then((token) => document.dispatchEvent(new CustomEvent("verdictd", { detail: { token } }))).catch(() => {});

  // What can wait comes with a second file, once it is known that somebody listens. Arguments by position: this file shortens its names.
  let probe: (() => void) | null = () => {
    probe = null;
    const load = async () => {
      const module = (await import(settings.probesUrl!)) as typeof import("./probes/main.js");
      const { siteKey, base, workerUrl } = settings;
      const { listen, later } = page;
      later(() => module.probe(recorder.record, listen, later, workerUrl, scriptUrl, siteKey, base, tokens.read()), 0);
    };
    if (settings.probesUrl) (window.requestIdleCallback ?? setTimeout)(() => load().catch(() => {}));
  };
  const wait = (task: () => void, ms: number) => void page.later(task, ms);
  const transport = openTransport(settings, tokens, wait, (token) => {
    settle(token);
    if (token) probe?.();
  });
  const recorder = startRecorder(settings.interval, transport.send, transport.isBusy, wait);
  const scene: Scene = { ...page, ...recorder, input: { at: -1e6, kind: "none" } };
  const stop = () => {
    page.release();
    probe = null;
    transport.stop();
    settle(tokens.read());
  };

  const report = async () => {
    const [environment, timing] = await Promise.all([
      collectEnvironment().catch(() => ({})),
      collectTiming(firstReportMs - 50).catch(() => ({})),
      new Promise((resolve) => setTimeout(resolve, firstReportMs)),
    ]);
    attempt(() => {
      recorder.record("env", environment);
      recorder.record("timing", timing);
      recorder.flush();
    });
    page.later(transport.open, 0);
  };
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    report().catch(stop);
  };
  // After the page's own load handlers, so that `loadEventEnd` is known and nothing of the page has to wait.
  const loaded = () => {
    if ((document as { prerendering?: boolean }).prerendering) page.listen(document, "prerenderingchange", loaded);
    else page.later(begin, 0);
  };

  page.listen(window, inputs, (event) => {
    const kind = event.type.replace(/start|move|down|up/, "") as Scene["input"]["kind"];
    scene.input = { at: performance.now(), kind };
  });
  if (document.readyState === "complete") loaded();
  else page.listen(window, "load", loaded);
  page.later(loaded, loadMostMs);

  // In a task of its own: the script's first run takes long enough.
  page.later(() => {
    for (const collect of collectors) attempt(() => collect(scene));
    // Hiding may be the last that is seen of a page, so everything goes out; the answer is still read if it isn't.
    page.listen(document, "visibilitychange", () => {
      if (document.hidden) recorder.flush();
      else transport.nudge();
    });
  }, 0);
  page.listen(window, "pagehide", () => transport.leave(recorder.take()));
  page.listen(window, "online pageshow", transport.nudge);

  const token = () => attempt(tokens.read) ?? null;
  const challenge = () =>
    import(`${settings.base}/challenge.js`)
      .then((module) => module.pass(settings.siteKey, settings.base, ready, token, scriptUrl))
      .catch(() => false);
  return { ready, token, challenge, stop };
}
