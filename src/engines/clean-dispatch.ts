/** Whether moves came without traces of a driver's dispatch, by what the SDK measures besides their positions. */
import { browserFamilies, claimedSystems } from "../contract/claimed-browser.js";
import { F, type SessionFeatures, T } from "./session-features.js";

/** Input from the operating system: few moves with fractions, a lag of 4.2 ms in Firefox (drivers: 0.2), times on the grid. */
const cleanFractionsMax = 0.1;
const cleanLagMin = 1;
const cleanGridMin = 0.9;
/** Times between moves needed to tell the grid that they lie on. */
const gapsMin = 20;

/**
 * Moves that came as a hand's do. On Linux the clock of Chromium shows a driver, in Firefox lags shorter than a person's, and elsewhere fractions of
 * pixels. There, a driver that rounds its pixels looks like an accessibility aid.
 */
export function isCleanDispatch({ numbers: n, texts }: SessionFeatures): boolean {
  if (n[F.lagN] === 0 || n[F.fractionalN] === 0 || texts[T.driverArtifacts] !== "") return false;
  if (n[F.fractionalSum]! / n[F.fractionalN]! > cleanFractionsMax) return false;
  const family = browserFamilies[n[F.browserFamily]! - 1];
  if (family === "firefox") return n[F.lagSum]! / n[F.lagN]! >= cleanLagMin;
  if (family !== "chromium" || claimedSystems[n[F.browserSystem]! - 1] !== "linux") return true;
  return n[F.rowGaps]! >= gapsMin && n[F.rowGapsWhole]! / n[F.rowGaps]! >= cleanGridMin;
}
