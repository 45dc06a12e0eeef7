/** Facts about the browser, read once a page. Each is read on its own: one that throws is absent, the others stay. */

import { attempt, nextTask } from "../page-hooks.js";
import type { ObservedFacts } from "../recorder.js";
import { differingFacts, withFrame } from "./contexts.js";
import { driverArtifacts, stackProbe } from "./drivers.js";
import { looksNative, tamperedNatives } from "./natives.js";

/** After so many ms a task ends: what takes long, such as a fresh frame or the list of plugins, has one nearly to itself. */
const taskMs = 1;

const text = (value: unknown) => (typeof value === "string" && value ? value.slice(0, 512) : undefined);

/**
 * The timezone. Where nobody replaced `Intl`, the younger of two ways to the same setting of the browser: the first `DateTimeFormat` of a
 * process looks through all languages.
 */
function timezone(): string {
  const format = Intl.DateTimeFormat;
  const { Temporal } = window as { Temporal?: { Now: { timeZoneId(): string } } };
  return Temporal && looksNative(format.prototype.resolvedOptions)
    ? Temporal.Now.timeZoneId()
    : format().resolvedOptions().timeZone;
}

/** The payload of the first `env` event. What takes longer, or can wait, is in probes/. */
export async function collectEnvironment(): Promise<ObservedFacts> {
  const nav = navigator as Navigator & {
    deviceMemory?: number;
    connection?: { rtt?: number };
    userAgentData?: { brands: { brand: string; version: string }[]; mobile: boolean };
  };
  const brands = nav.userAgentData?.brands;
  const payload: Record<string, unknown> = {};
  const facts: { [K in keyof ObservedFacts]: () => ObservedFacts[K] } = {
    webdriver: () => navigator.webdriver,
    driver_artifacts: driverArtifacts,
    user_agent: () => text(nav.userAgent),
    ua_brands: () => brands?.slice(0, 16).map((each) => `${each.brand}/${each.version}`.slice(0, 128)),
    ua_mobile: () => nav.userAgentData?.mobile,
    platform: () => text(nav.platform),
    languages: () => nav.languages?.slice(0, 32).map(String),
    timezone: () => text(timezone()),
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
    // One frame answers two questions: to make it takes longer than to ask.
    iframe_mismatch: () =>
      withFrame((frame) => {
        payload["native_tampered"] = attempt(() => tamperedNatives(frame));
        return differingFacts(frame);
      }),
    // biome-ignore lint/security/noGlobalEval: its text only; it is never called, so no policy is touched.
    eval_length: () => String(window["eval"]).length,
    stack_probe: stackProbe,
    rtt: () => nav.connection?.rtt,
  };
  let taskAt = 0;
  for (const [key, fact] of Object.entries(facts)) {
    if (performance.now() - taskAt > taskMs) {
      await nextTask();
      taskAt = performance.now();
    }
    payload[key] = attempt(fact as () => unknown);
  }
  return payload;
}
