/** Programs with paths of their own in a real window: xdotool plays them for a minute, nothing talks to the page. */
import { type OwnDriver, ownDrivers } from "../../own-drivers.js";
import { missingProgram } from "../chromium.js";
import { screenSize } from "../display.js";
import type { CrossSessionCounts, LiveCase } from "../measurement.js";
import { integerBetween } from "../randomness.js";
import type { Movement, MovementStep } from "../traces.js";
import { pageTop, playMovement, visitInWindow } from "./window.js";

/** Those whose speeds come from one formula, from the plainest to the most careful. */
const played = [
  "minimum jerk, tremor",
  "overshoots and corrections, tremor",
  "overlapping submovements, tremor, fidgets",
];

function visitByPaths(around: CrossSessionCounts, { trace }: OwnDriver): Promise<void> {
  return visitInWindow(around, async (hand, place) => {
    const { events } = trace(integerBetween(around.random, 1, 1_000_000), {
      width: Math.min(place.innerWidth, screenSize.width),
      height: Math.min(place.innerHeight, screenSize.height - pageTop(place)),
    });
    const movement: Movement = events.map(
      ([atMs, kind, x, y]): MovementStep => ({ atMs, kind: kind === "d" || kind === "u" ? kind : "m", x, y }),
    );
    await playMovement(hand, movement, { x: 0, y: pageTop(place) });
  });
}

export const ownPathCases: readonly LiveCase[] = ownDrivers
  .filter(({ name }) => played.includes(name))
  .map((driver) => ({
    goal: "ownPaths",
    tool: "Chromium in a window, xdotool",
    behavior: driver.name,
    needsDisplay: true,
    missing: () => missingProgram("chromium", "Xvfb", "xdotool"),
    carryOut: (around) => visitByPaths(around, driver),
  }));
