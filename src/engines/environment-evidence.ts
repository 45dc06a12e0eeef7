/** Evidence from the environment that a page reports, besides single facts: how complete it is, and which parts belong to another system. */
import { type ClaimedSystem, claimedSystems } from "../contract/evidence/claimed-browser.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** The system of the user agent; `undefined` if none was sent. */
export function claimedSystem(n: readonly number[]): ClaimedSystem | undefined {
  return n[F.browserFamily] === 0 ? undefined : claimedSystems[n[F.browserSystem]! - 1];
}

/**
 * Whether pointers have no fractions of pixels there but those of 256ths, which the SDK does not count: an unscaled display of Windows, or of Linux with X11 or
 * Wayland. A window that fills the screen may be a kiosk without a window system. The user agent alone proves no system.
 */
export function hasPixelGrid({ numbers: n, texts }: SessionFeatures): boolean {
  if (n[F.dpr] !== 1 || n[F.platformForeign]! > 0) return false;
  const system = claimedSystem(n);
  const platform = texts[T.platform]!;
  if (system === "windows") return platform.startsWith("Win");
  if (system !== "linux" || !platform.startsWith("Linux")) return false;
  return !mayFillScreen(n);
}

/** Whether a mouse of Linux was on whole pixels alone, in a few places at least. Tablets that call themselves Linux have fingers. */
export function isOnLinuxPixels(n: readonly number[]): boolean {
  return isLinuxDesktop(n) && n[F.points]! >= 3 && n[F.fractionPoints] === 0;
}

/** Linux without a touch screen: tablets of Android that ask for desktop pages call themselves Linux too, and have clocks of their own. */
export function isLinuxDesktop(n: readonly number[]): boolean {
  return claimedSystem(n) === "linux" && n[F.touchPoints] === 0;
}

/**
 * Whether the browser knows its pointers, and none of its pages ever told of a touch screen: neither touch points nor a coarse pointer. A page tells both
 * once, as it loads; whoever has a touch screen in one of the session's pages has it in all.
 */
export function hasNoTouchScreen(n: readonly number[]): boolean {
  return n[F.touchPoints] === 0 && n[F.anyPointer]! % 2 === 1 && n[F.touchScreens] === 0;
}

/**
 * Whether the window may fill the screen. The outer size comes with a page's first report, the inner one some time later, and now and then a page that just
 * opened has an outer one of 0: so a size that is not known may fill it, and one that is smaller settles it.
 */
function mayFillScreen(n: readonly number[]): boolean {
  const mayFill = (w: number, h: number) => !(n[w]! > 0) || (n[w]! >= n[F.screenW]! && n[h]! >= n[F.screenH]!);
  return mayFill(F.innerW, F.innerH) && mayFill(F.outerW, F.outerH);
}

/** Whether it has fonts of another system and none of the claimed one; `undefined` for systems without a bit, and if no font is known. */
export function fontsForeign(n: readonly number[]): boolean | undefined {
  const bit = { windows: 1, mac: 2, linux: 4 }[claimedSystem(n) as string];
  const fonts = n[F.systemFonts]!;
  return bit === undefined || !(fonts > 0) ? undefined : (fonts & bit) === 0;
}

const commonFacts = [
  F.languageCount,
  F.tzOffset,
  F.cpu,
  F.touchPoints,
  F.screenW,
  F.innerW,
  F.colorDepth,
  F.evalLength,
];

/** How many of ten facts that every browser tells a page were reported. */
export function environmentFacts({ numbers, texts }: SessionFeatures): number {
  let count = (texts[T.platform] === "" ? 0 : 1) + (texts[T.timezone] === "" ? 0 : 1);
  for (const position of commonFacts) if (!Number.isNaN(numbers[position])) count += 1;
  return count;
}
