/** The page itself: `page` events for loads and navigations without a load, visibility, focus, and a heartbeat while visible. */
import { hashText } from "../../contract/hashes.js";
import type { Collector } from "../collector.js";
import { attempt } from "../page-hooks.js";
import { round } from "../recorder.js";
import { pageLoad } from "./timing.js";

const heartbeatMs = 15_000;
/** Nobody is there any more: no heartbeats until the next input. */
const idleMostMs = 5 * 60_000;
/** A pause longer than this is not activity. */
const activeGapMs = 5000;

function hostOf(address: string): string | undefined {
  return attempt(() => new URL(address).host.slice(0, 255)) || undefined;
}

/** Follows the page's life. */
export const collectPage: Collector = (scene) => {
  let path = "";
  let visibleSince = document.hidden ? null : performance.now();
  let visible = 0;
  let active = 0;
  let lastInput = performance.now();

  const spans = () => {
    const now = performance.now();
    return {
      visible_ms: round(visible + (visibleSince === null ? 0 : now - visibleSince)),
      active_ms: round(active),
      idle_ms: round(now - lastInput),
    };
  };
  const recordPage = (navType: string | undefined) => {
    path = location.pathname.slice(0, 512);
    scene.record("page", {
      path,
      host: location.host.slice(0, 255),
      referrer_host: hostOf(document.referrer),
      title_hash: hashText(document.title),
      state: document.visibilityState,
      nav_type: navType,
      t: round(performance.now(), 1),
    });
  };
  const noticeNavigation = () => {
    if (location.pathname.slice(0, 512) !== path) recordPage("spa");
  };
  const beat = () => {
    scene.later(beat, heartbeatMs);
    noticeNavigation();
    if (!document.hidden && performance.now() - lastInput < idleMostMs) scene.record("heartbeat", {});
  };

  scene.later(() => recordPage(pageLoad()?.type), 0);
  scene.later(beat, heartbeatMs);

  scene.listen(window, "pointermove pointerdown keydown wheel touchstart scroll", () => {
    const now = performance.now();
    if (now - lastInput < activeGapMs) active += now - lastInput;
    lastInput = now;
  });
  // The Navigation API says it at once; elsewhere a navigation is noticed with the next click, key, step back or batch.
  const { navigation } = window as { navigation?: EventTarget };
  if (navigation?.addEventListener) scene.listen(navigation, "currententrychange", noticeNavigation);
  scene.listen(window, "popstate hashchange click keyup", () => scene.later(noticeNavigation, 0));
  scene.onDrain(noticeNavigation);

  scene.listen(document, "visibilitychange", () => {
    const now = performance.now();
    if (document.hidden) {
      visible += visibleSince === null ? 0 : now - visibleSince;
      visibleSince = null;
    } else {
      visibleSince ??= now;
    }
    scene.record("visibility", { state: document.visibilityState, ...spans() });
  });
  scene.listen(window, "focus blur", (event) => {
    if (event.target === window) scene.record("focus", { state: event.type });
  });
  scene.listen<PageTransitionEvent>(window, "pageshow", (event) => {
    if (event.persisted) recordPage("back_forward");
  });
};
