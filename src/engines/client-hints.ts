/** Compares Sec-CH-UA headers with the User-Agent: both come from one build, and a client that changes one of them often forgets the other. */
import type { ClaimedSystem } from "../contract/evidence/claimed-browser.js";

/** Sec-CH-UA names a Chromium engine with a major version that the User-Agent denies, or another maker, or comes from a browser without hints. */
export function contradictsHints(hints: string, userAgent: string): boolean {
  const claimed = /Chrome\/(\d{1,4})/.exec(userAgent)?.[1];
  if (claimed === undefined) return userAgent.includes("Firefox/") || isSafari(userAgent);
  const hinted = /"Chromium";\s?v="(\d{1,4})/.exec(hints)?.[1];
  if (hinted !== undefined && claimed !== hinted) return true;
  // Apps with Edge inside use any name.
  const isEdge = hints.includes('"Microsoft Edge"');
  return isEdge !== userAgent.includes(" Edg") && !hints.includes("WebView");
}

function isSafari(userAgent: string): boolean {
  return userAgent.includes(" Version/") && userAgent.includes(" Safari/");
}

/** Systems by the text of Sec-CH-UA-Platform. A value that is not listed (consoles, the BSDs, "Unknown") contradicts nothing. */
const hintedSystems = new Map<string, ClaimedSystem>([
  ['"Windows"', "windows"],
  ['"macOS"', "mac"],
  ['"Mac OS X"', "mac"],
  ['"Linux"', "linux"],
  ['"Android"', "android"],
  ['"Chrome OS"', "chromeos"],
  ['"Chromium OS"', "chromeos"],
  ['"iOS"', "ios"],
]);

/**
 * Sec-CH-UA-Platform names another system than the User-Agent. A telephone that requests the desktop's page claims Linux, and with some makers its
 * hints still say Android.
 */
export function contradictsPlatform(platform: string, system: ClaimedSystem | undefined): boolean {
  const hinted = hintedSystems.get(platform);
  if (hinted === undefined || system === undefined || system === "other" || hinted === system) return false;
  return !(hinted === "android" && system === "linux");
}

/** Compares Sec-CH-UA-Mobile with the word Mobile in Chromium's User-Agent: tablets have neither. */
export function contradictsMobile(mobile: string, userAgent: string): boolean | undefined {
  if (mobile !== "?0" && mobile !== "?1") return undefined;
  return (mobile === "?1") !== userAgent.includes("Mobile");
}
