/** Facts about the browser, read once a page. Each is read on its own: one that throws is absent, the others stay. */

import { attempt } from "../page-hooks.js";
import type { Observed } from "../recorder.js";
import { compareFrame } from "./contexts.js";
import { driverArtifacts, stackProbe } from "./drivers.js";
import { tamperedNatives } from "./natives.js";

/** After so many ms the page gets a turn: a fresh frame and the first question for the timezone take some each. */
const turnMs = 9;

const text = (value: unknown) => (typeof value === "string" && value ? value.slice(0, 512) : undefined);

/** The payload of the first `env` event. What takes longer, or can wait, is in probes/. */
export async function collectEnvironment(): Promise<Observed> {
  const nav = navigator as Navigator & {
    deviceMemory?: number;
    connection?: { rtt?: number };
    userAgentData?: { brands: { brand: string; version: string }[]; mobile: boolean };
  };
  const brands = nav.userAgentData?.brands;
  const facts: { [K in keyof Observed]: () => Observed[K] } = {
    webdriver: () => navigator.webdriver,
    driver_artifacts: driverArtifacts,
    user_agent: () => text(nav.userAgent),
    ua_brands: () => brands?.slice(0, 16).map((each) => `${each.brand}/${each.version}`.slice(0, 128)),
    ua_mobile: () => nav.userAgentData?.mobile,
    platform: () => text(nav.platform),
    languages: () => nav.languages?.slice(0, 32).map(String),
    timezone: () => text(Intl.DateTimeFormat().resolvedOptions().timeZone),
    tz_offset: () => new Date().getTimezoneOffset(),
    cpu: () => nav.hardwareConcurrency,
    memory: () => nav.deviceMemory,
    touch_points: () => nav.maxTouchPoints,
    plugins: () => nav.plugins?.length,
    mime_types: () => nav.mimeTypes?.length,
    screen_w: () => screen.width,
    screen_h: () => screen.height,
    avail_w: () => screen.availWidth,
    avail_h: () => screen.availHeight,
    inner_w: () => innerWidth,
    inner_h: () => innerHeight,
    outer_w: () => outerWidth,
    outer_h: () => outerHeight,
    dpr: () => devicePixelRatio,
    color_depth: () => screen.colorDepth,
    chrome_object: () => "chrome" in window,
    notification_permission: () => text(window.Notification?.permission),
    native_tampered: tamperedNatives,
    iframe_mismatch: compareFrame,
    // biome-ignore lint/security/noGlobalEval: its text only; it is never called, so no policy is touched.
    eval_length: () => String(window["eval"]).length,
    stack_probe: stackProbe,
    rtt: () => nav.connection?.rtt,
  };
  const payload: Record<string, unknown> = {};
  let turnAt = 0;
  for (const [key, fact] of Object.entries(facts)) {
    if (performance.now() - turnAt > turnMs) {
      await new Promise((resolve) => setTimeout(resolve));
      turnAt = performance.now();
    }
    payload[key] = attempt(fact as () => unknown);
  }
  return payload;
}
