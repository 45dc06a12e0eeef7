/** Evidence from the environment that a page reports, besides single facts: how complete it is, and which parts belong to another system. */
import { type ClaimedSystem, claimedSystems } from "../contract/claimed-browser.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** The system of the user agent; `undefined` if none was sent. */
export function claimedSystem(n: readonly number[]): ClaimedSystem | undefined {
  return n[F.browserFamily] === 0 ? undefined : claimedSystems[n[F.browserSystem]! - 1];
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
