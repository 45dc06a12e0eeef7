/** Whether moves came without traces of a driver's dispatch, by what the SDK measures besides their positions. */
import { browserFamilies } from "../contract/evidence/claimed-browser.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** Input from the operating system: few moves with fractions that no window system sends, a lag of 4.2 ms in Firefox (drivers: 0.2). */
const cleanFractionsMax = 0.1;
const cleanLagMin = 1;
/** Where Firefox hides the window's position (resistFingerprinting), all movements disagree with it, and the clock is too coarse for lags. */
const hiddenPositionMin = 0.95;

/**
 * Moves that came as a hand's do: in Firefox with lags no shorter than a person's, elsewhere without fractions of pixels. There, a driver that rounds
 * its pixels looks like an accessibility aid: no clock tells them apart, see `driver-clock`.
 */
export function isCleanDispatch({ numbers: n, texts }: SessionFeatures): boolean {
  if (n[F.lagN] === 0 || n[F.fractionalN] === 0 || texts[T.driverArtifacts] !== "") return false;
  if (n[F.fractionalSum]! / n[F.fractionalN]! > cleanFractionsMax) return false;
  if (browserFamilies[n[F.browserFamily]! - 1] !== "firefox") return true;
  const hidesPosition = n[F.mismatchN]! > 0 && n[F.mismatchSum]! / n[F.mismatchN]! >= hiddenPositionMin;
  return hidesPosition || n[F.lagSum]! / n[F.lagN]! >= cleanLagMin;
}
