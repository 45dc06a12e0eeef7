/** What the environment that a page reports comes to, beside single facts: how much of it there is, and what of it is another system's. */
import { type ClaimedSystem, claimedSystems } from "../contract/claimed-browser.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** The system of the user agent; undefined where none was sent. */
export function claimedSystem(n: readonly number[]): ClaimedSystem | undefined {
  return n[F.browserFamily] === 0 ? undefined : claimedSystems[n[F.browserSystem]! - 1];
}

/** Whether fonts of another system are there, and none of the claimed one; undefined for systems that have no bit, and where no font is known. */
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

/** How many of ten things that every browser tells a page were reported. */
export function environmentFacts({ numbers, texts }: SessionFeatures): number {
  let count = (texts[T.platform] === "" ? 0 : 1) + (texts[T.timezone] === "" ? 0 : 1);
  for (const position of commonFacts) if (!Number.isNaN(numbers[position])) count += 1;
  return count;
}
