/** A person's visit as the operating system delivers one: recorded movements and typing of a person in a real window. */
import { openCompositor } from "../compositor.js";
import type { CrossSessionCounts } from "../measurement.js";
import { pause } from "../pause.js";
import { between } from "../randomness.js";
import type { Keystroke, PersonRecording } from "../traces.js";
import { playMovement, playTyping, playWheel, pointOf, visitInWindow, type WindowOptions } from "./window.js";

const movementTargets = ["name", "info", "prices"] as const;

/** The same under Wayland, whose input comes with other times and fractions of pixels. */
export async function visitUnderWayland(
  around: CrossSessionCounts,
  person: PersonRecording,
  typing: readonly Keystroke[],
): Promise<void> {
  if (around.display === null) throw new Error("a compositor needs a display");
  const compositor = await openCompositor(around.display);
  try {
    await visitInRealWindow(around, person, typing, { args: ["--ozone-platform=wayland"], env: compositor.env });
  } finally {
    await compositor.close();
  }
}

/** One visit with a person's movements and a person's typing. Needs a display. */
export function visitInRealWindow(
  around: CrossSessionCounts,
  { movements }: PersonRecording,
  typing: readonly Keystroke[],
  options: WindowOptions = {},
): Promise<void> {
  const { random } = around;
  return visitInWindow(
    around,
    async (hand, place) => {
      // The last click goes where the typing goes.
      for (const [index, movement] of movements.entries()) {
        const isLast = index === movements.length - 1;
        await playMovement(hand, movement, pointOf(place, isLast ? "message" : movementTargets[index % 3]!, random));
        await pause(between(random, 200, 500));
      }
      await playTyping(hand, typing);
      await pause(between(random, 200, 500));
      await playWheel(hand, random);
    },
    options,
  );
}
