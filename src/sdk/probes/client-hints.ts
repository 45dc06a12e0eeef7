/** What Chromium says of itself only when it is asked: who invents a user agent often leaves it empty. Absent in other browsers. */
import type { ObservedFacts } from "../recorder.js";

interface HintedNavigator {
  userAgentData?: {
    platform: string;
    getHighEntropyValues(names: string[]): Promise<Record<string, unknown>>;
  };
}

/** Payload keys by the names of the hints. */
const hints = {
  ua_architecture: "architecture",
  ua_bitness: "bitness",
  ua_full_version: "uaFullVersion",
} as const;

/** Facts by payload key; an empty text is one that the browser gave. */
export async function clientHints(): Promise<ObservedFacts> {
  const data = (navigator as HintedNavigator).userAgentData;
  if (!data) return {};
  const values = await data.getHighEntropyValues(Object.values(hints));
  const found: Record<string, unknown> = { ua_platform: data.platform };
  for (const [key, name] of Object.entries(hints)) if (typeof values[name] === "string") found[key] = values[name];
  return found;
}
