/**
 * What browser a User-Agent claims to be, as far as detections need it: family, major version and form. It is only a claim. Unknown agents are
 * "other", and detections expect nothing of them.
 */
import type { BrowserFamily, ClaimedSystem } from "../contract/evidence/claimed-browser.js";

/** The claim of one user agent; `claimedBrowser` makes it. */
export interface ClaimedBrowser {
  readonly family: BrowserFamily;
  /** Major version of the engine (Chrome/, Firefox/, Version/); 0 when unknown. */
  readonly version: number;
  readonly system: ClaimedSystem;
  readonly isMobile: boolean;
  /** An app's web view, or a browser that is known to rewrite its headers: it need not send what its engine sends. */
  readonly isEmbedded: boolean;
}

const embeddedTokens = [
  "; wv)",
  "FBAN",
  "FBAV",
  "FB_IAB",
  "Instagram",
  "Line/",
  "MicroMessenger",
  "WebView",
  "GSA/",
  "Snapchat",
  "Pinterest/",
  "TikTok",
  "musical_ly",
  "BytedanceWebview",
  "KAKAOTALK",
  "NAVER(",
  "Electron/",
  "CrKey",
  "SMART-TV",
  "SmartTV",
  "Tizen",
  "Web0S",
  "PlayStation",
  "Nintendo",
  "UCBrowser",
  "QQBrowser",
  "Puffin",
  "Silk/",
  "OPR/",
  "Opera Mini",
  "DuckDuckGo/",
  "Ddg/",
  "QtWebEngine",
  "HbbTV",
  "AppleTV",
] as const;

/** Engines that name another browser besides themselves: Edge before version 79, Pale Moon, SeaMonkey, Ladybird, Servo. */
const otherEngines = [" Edge/", "Goanna/", "SeaMonkey/", "Seamonkey/", "Ladybird/", "Servo/"] as const;

/** Browsers whose requests their makers' servers or network code write anew. */
const otherNetworks = ["UCBrowser/", "Puffin/", "Opera Mini/", "QQBrowser/", "baidubrowser"] as const;

/** What browsers that send all that their engine sends name outside of brackets. */
const ordinaryProducts = new Set(
  "Mozilla AppleWebKit Chrome Chromium Mobile Safari Version Edg EdgA EdgiOS CriOS FxiOS Gecko Firefox HeadlessChrome".split(
    " ",
  ),
);

/** Parses a User-Agent by plain substring search: linear, no pattern can blow up. About half a microsecond. */
export function claimedBrowser(userAgent: string): ClaimedBrowser {
  const system = claimedSystem(userAgent);
  const isMobile = userAgent.includes("Mobile") || system === "ios" || system === "android";
  const isEmbedded = embeddedTokens.some((token) => userAgent.includes(token));
  const claim = (family: BrowserFamily, version: number): ClaimedBrowser => ({
    family,
    version,
    system,
    isMobile,
    isEmbedded:
      isEmbedded ||
      (system === "ios" && family === "safari" && version === 0) ||
      (family !== "other" && namesOtherProducts(userAgent)),
  });
  const isOther = [...otherEngines, ...otherNetworks].some((token) => userAgent.includes(token));
  if (isOther || !userAgent.includes("Mozilla/")) return claim("other", 0);
  const firefox = majorAfter(userAgent, "Firefox/");
  if (firefox > 0) return claim("firefox", firefox);
  const chrome = majorAfter(userAgent, "Chrome/");
  if (chrome > 0 && system !== "ios") return claim("chromium", chrome);
  if (!userAgent.includes("AppleWebKit/")) return claim("other", 0);
  // Safari itself always has a version, except in the apps of a telephone.
  const safari = userAgent.includes("Safari/") ? majorAfter(userAgent, "Version/") : 0;
  return safari > 0 || system === "ios" ? claim("safari", safari) : claim("other", 0);
}

/** Whether it names products outside of brackets that no ordinary browser names: an app around a web view before it, a browser of its own behind. */
function namesOtherProducts(userAgent: string): boolean {
  if (!userAgent.startsWith("Mozilla/")) return true;
  let depth = 0;
  for (const word of userAgent.split(" ")) {
    const isOutside = depth === 0 && !word.startsWith("(");
    for (let index = 0; index < word.length; index++) {
      if (word[index] === "(") depth++;
      else if (word[index] === ")") depth = Math.max(0, depth - 1);
    }
    if (isOutside && word !== "" && !ordinaryProducts.has(word.split("/", 1)[0]!)) return true;
  }
  return false;
}

/** Whether it is a browser's user agent in which an app names itself, with no words or addresses of bots. */
export function namesAppsView(userAgent: string, { family }: ClaimedBrowser): boolean {
  return family !== "other" && !/bot\b|externalhit|https?:|compatible;/i.test(userAgent);
}

function claimedSystem(userAgent: string): ClaimedSystem {
  if (userAgent.includes("Windows NT")) return "windows";
  if (userAgent.includes("Android")) return "android";
  if (userAgent.includes("iPhone") || userAgent.includes("iPad") || userAgent.includes("iPod")) return "ios";
  if (userAgent.includes("Mac OS X") || userAgent.includes("Macintosh")) return "mac";
  if (userAgent.includes("CrOS")) return "chromeos";
  return userAgent.includes("Linux") || userAgent.includes("X11") ? "linux" : "other";
}

function majorAfter(userAgent: string, token: string): number {
  const at = userAgent.indexOf(token);
  if (at < 0) return 0;
  let version = 0;
  for (let index = at + token.length; index < userAgent.length && index < at + token.length + 4; index++) {
    const digit = userAgent.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) break;
    version = version * 10 + digit;
  }
  return version;
}
