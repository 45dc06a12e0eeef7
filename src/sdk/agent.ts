/**
 * Puts the SDK together: collectors record, the recorder cuts batches, the transport sends them. Decides when the first
 * report is due and what happens when the page is hidden or left.
 */
import { doc, own } from "./bare.js";
import type { Scene } from "./collector.js";
import { collectActivation } from "./collectors/activation.js";
import { collectClicks } from "./collectors/clicks.js";
import { driverArtifacts } from "./collectors/drivers.js";
import { collectEnvironment } from "./collectors/environment.js";
import { collectForms } from "./collectors/forms.js";
import { collectKeyboard } from "./collectors/keyboard.js";
import { collectPage, pageLoad } from "./collectors/page.js";
import { collectPointer } from "./collectors/pointer.js";
import { collectScroll } from "./collectors/scroll.js";
import { collectTouch } from "./collectors/touch.js";
import { reportBeforeLeaving } from "./leaving.js";
import type { Settings, Verdictd } from "./options.js";
import { attempt, holdPage } from "./page-hooks.js";
import { startRecorder, type Told } from "./recorder.js";
import type { TokenStore } from "./token.js";
import { openTransport } from "./transport.js";
import { scriptUrl } from "./trusted-types.js";

/** The first report is due so long after `load`, and at the latest so long after the start of a page that still loads. */
const afterLoadMs = 500;
const loadingMostMs = 1500;

const collectors = [
  collectActivation,
  collectPointer,
  collectClicks,
  collectTouch,
  collectScroll,
  collectKeyboard,
  collectForms,
];

/** What a person does, by events that begin with its kind, see `Scene.input`. */
const inputs = "wheel touchstart touchmove keydown pointerdown pointerup";

/** The SDK at work, until it is stopped. */
export type Agent = Pick<Verdictd, "ready" | "token" | "challenge"> & {
  /** The answer after a 403: of the request sent once more where that was a challenge and is passed, else the 403. */
  sendAgain(
    answer: Response,
    init: RequestInit | undefined,
    by: Pick<Verdictd, "challenge">,
    send: () => Promise<Response>,
  ): Promise<Response>;
  stop(): void;
};

/** Starts collecting and sending. */
export function startAgent(settings: Settings, tokens: TokenStore): Agent {
  const page = holdPage();
  let settle: (token: string | null) => void = () => {};
  const ready = new Promise<string | null>((resolve) => {
    settle = resolve;
  });
  ready.then((token) => doc.dispatchEvent(new CustomEvent("verdictd", { detail: { token } }))).catch(() => {});

  // What can wait comes with a second file, once it is known that somebody listens. Arguments by position: this file shortens its names.
  let probed: Promise<unknown> | undefined;
  let probe: (() => void) | null = () => {
    probe = null;
    const load = async () => {
      const module = (await import(settings.probesUrl!)) as typeof import("./probes/main.js");
      const { siteKey, base, workerUrl } = settings;
      const { listen, later } = page;
      const { record, onDrain } = recorder;
      await new Promise((resolve) => {
        later(
          () =>
            resolve(
              module.probe(record, listen, later, workerUrl, scriptUrl, siteKey, base, tokens.read(), onDrain, told),
            ),
          0,
        );
      });
    };
    if (!settings.probesUrl) return;
    probed = new Promise((resolve) =>
      (own<typeof setTimeout>("requestIdleCallback") ?? setTimeout)(
        () =>
          void load()
            .catch(() => {})
            .then(resolve),
      ),
    );
  };
  const told: Told = {};
  const transport = openTransport(settings, tokens, told, page.later, (token) => {
    settle(token);
    if (token) probe?.();
  });
  const recorder = startRecorder(settings.interval, told, transport.send, transport.isBusy, page.later);
  let reported = false;
  const report = () => {
    reported = true;
    recorder.flush();
    transport.push();
  };
  // In two tasks.
  const reportOnce = () => {
    if (reported) return;
    reported = true;
    recorder.flush();
    page.later(transport.push, 0);
  };
  const scene: Scene = { ...page, ...recorder, told, report, input: { at: -1e6, kind: "none" } };
  const stop = () => {
    page.release();
    probe = null;
    transport.stop();
    settle(tokens.read());
  };

  // In a task after the page's own load handlers, so that `loadEventEnd` is known and nothing of the page has to wait.
  const loaded = () => {
    const sinceMs = performance.now() - (attempt(pageLoad)?.loadEventEnd ?? 0);
    page.later(reportOnce, afterLoadMs - sinceMs);
  };
  const begin = () => {
    let artifacts: string[] | undefined;
    // In the script's first run where that may be the last one, else in tasks of their own: that run takes long enough.
    const looks = [
      () => {
        artifacts = driverArtifacts();
      },
      () => collectPage(scene),
      () => recorder.record("env", collectEnvironment(artifacts)),
    ];
    const look = () => attempt(looks.shift()!);
    const lookAll = () => {
      while (looks[0]) look();
    };
    page.listen(window, "pagehide", () => {
      lookAll();
      transport.leave(recorder.take);
    });
    // A driver's page may be over before anything else is known. Its names are looked for in a task of their own, the first: for people it is a sixth of the run.
    const tellOfDriver = () => {
      if (reported || !(navigator.webdriver || artifacts?.length)) return;
      lookAll();
      report();
    };
    tellOfDriver();
    if (doc.readyState === "complete") page.later(loaded, 0);
    else page.listen(window, "load", () => page.later(loaded, 0));
    page.later(reportOnce, loadingMostMs);

    const watchInput = () =>
      page.listen(window, inputs, (event) => {
        const kind = event.type.replace(/start|move|down|up/, "") as Scene["input"]["kind"];
        scene.input = { at: performance.now(), kind };
      });
    // Hiding may be the last that is seen of a page, so everything goes out; the answer is still read if it isn't.
    const watchHiding = () => {
      page.listen(doc, "visibilitychange", () => (doc.hidden ? report : transport.nudge)());
      page.listen(window, "online pageshow", transport.nudge);
    };
    const lookForDriver = () => {
      look();
      tellOfDriver();
    };
    const first = [lookForDriver, look, look, watchInput, transport.prepare, tokens.read];
    // In tasks of their own: storage and cookie are slow at their first use, too.
    for (const task of [...first, ...collectors, reportBeforeLeaving, watchHiding]) page.later(() => task(scene), 0);
  };
  // A page that the browser prepares unasked may never be seen.
  if ((doc as { prerendering?: boolean }).prerendering) page.listen(doc, "prerenderingchange", begin);
  else begin();

  const token = () => attempt(tokens.read) ?? null;
  /** Sends all that was seen until now; over once it was answered. */
  const tell = async () => {
    await ready;
    await probed;
    recorder.flush();
    while (transport.isBusy()) await new Promise<void>((resolve) => page.later(resolve, 50));
  };
  const late = () => import(`${settings.base}/challenge.js`);
  const challenge = () =>
    late()
      .then((module) => module.pass(settings.siteKey, settings.base, ready, token, scriptUrl, tell))
      .catch(() => false);
  return {
    ready,
    token,
    challenge,
    sendAgain: (answer, ...more) =>
      late()
        .then((module) => module.retry(answer, ...more))
        .catch(() => answer),
    stop,
  };
}
