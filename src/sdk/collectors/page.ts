/** The page itself: `page` events for loads and navigations without a load, visibility, focus, and a heartbeat while visible. */
import { doc, own } from "../bare.js";
import type { Collector } from "../collector.js";
import { attempt } from "../page-hooks.js";
import { round } from "../recorder.js";

const heartbeatMs = 30_000;
/** Nobody is there any more: no heartbeats until the next input. */
const idleMostMs = 300_000;

function hostOf(address: string): string | undefined {
  return attempt(() => new URL(address).host.slice(0, 255)) || undefined;
}

/** The browser's account of this page's load; absent in old browsers. */
export function pageLoad(): PerformanceNavigationTiming | undefined {
  return performance.getEntriesByType?.("navigation")[0] as PerformanceNavigationTiming | undefined;
}

/** Follows the page's life. */
export const collectPage: Collector = (scene) => {
  let path = "";

  const recordPage = (navType: string | undefined) => {
    path = location.pathname.slice(0, 512);
    scene.record("page", {
      path,
      host: location.host.slice(0, 255),
      referrer_host: hostOf(doc.referrer),
      state: doc.visibilityState,
      nav_type: navType,
      t: round(performance.now(), 1),
    });
  };
  const noticeNavigation = () => {
    if (location.pathname.slice(0, 512) !== path) recordPage("spa");
  };
  const beat = () => {
    scene.later(beat, heartbeatMs);
    if (!doc.hidden && performance.now() - Math.max(0, scene.input.at) < idleMostMs) scene.record("heartbeat", {});
  };

  // At once, so that the page's name leaves with whatever leaves it first.
  recordPage(attempt(pageLoad)?.type);
  scene.later(beat, heartbeatMs);

  // In a task of its own: listening takes as long as all that comes before.
  scene.later(() => {
    // The Navigation API says it at once; elsewhere a navigation is noticed with the next click, key, step back or batch.
    const navigation = own<EventTarget>("navigation");
    if (navigation) scene.listen(navigation, "currententrychange", noticeNavigation);
    scene.listen(window, "popstate hashchange click keyup", () => scene.later(noticeNavigation, 0));
    scene.onDrain(noticeNavigation);

    scene.listen(doc, "visibilitychange", () => {
      scene.record("visibility", { state: doc.visibilityState });
    });
    scene.listen(window, "focus blur", (event) => {
      if (event.target === window) scene.record("focus", { state: event.type });
    });
    scene.listen<PageTransitionEvent>(window, "pageshow", (event) => {
      if (event.persisted) recordPage("back_forward");
    });
  }, 0);
};
