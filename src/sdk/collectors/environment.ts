/**
 * What is known of the browser when the script starts, in under 2 ms together, so that it can leave with whatever leaves the page first. Each
 * fact is read on its own: one that throws is absent, the others stay. What takes longer, asks for a layout, or can wait, is in probes/.
 */
import { own } from "../bare.js";
import { attempt } from "../page-hooks.js";
import type { ObservedFacts } from "../recorder.js";

const text = (value: unknown) => (typeof value === "string" && value ? value.slice(0, 512) : undefined);

/** The payload of a page's first `env` event. */
export function collectEnvironment(driver_artifacts: string[] | undefined): ObservedFacts {
  const nav = navigator as Navigator & {
    deviceMemory?: number;
    connection?: { rtt?: number };
    userAgentData?: { brands: { brand: string; version: string }[]; mobile: boolean };
  };
  const facts: { [K in keyof ObservedFacts]: () => ObservedFacts[K] } = {
    webdriver: () => nav.webdriver,
    driver_artifacts: () => driver_artifacts,
    user_agent: () => text(nav.userAgent),
    ua_brands: () =>
      nav.userAgentData?.brands.slice(0, 16).map((each) => `${each.brand}/${each.version}`.slice(0, 128)),
    ua_mobile: () => nav.userAgentData?.mobile,
    platform: () => text(nav.platform),
    languages: () => nav.languages?.slice(0, 32).map(String),
    // The younger and faster of two ways; what the other one says, among the probes, outweighs it.
    timezone: () => text(own<{ Now: { timeZoneId(): string } }>("Temporal")?.Now.timeZoneId()),
    tz_offset: () => new Date().getTimezoneOffset(),
    cpu: () => nav.hardwareConcurrency,
    memory: () => nav.deviceMemory,
    touch_points: () => nav.maxTouchPoints,
    screen_w: () => screen.width,
    screen_h: () => screen.height,
    avail_w: () => screen.availWidth,
    avail_h: () => screen.availHeight,
    outer_w: () => outerWidth,
    outer_h: () => outerHeight,
    dpr: () => devicePixelRatio,
    color_depth: () => screen.colorDepth,
    chrome_object: () => !!own("chrome"),
    // biome-ignore lint/security/noGlobalEval: its text only; it is never called, so no policy is touched.
    eval_length: () => String(window["eval"]).length,
    rtt: () => nav.connection?.rtt,
  };
  const payload: Record<string, unknown> = {};
  for (const [key, fact] of Object.entries(facts)) payload[key] = attempt(fact as () => unknown);
  return payload;
}
