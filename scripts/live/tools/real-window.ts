/**
 * A person's visit as the operating system delivers one: Chromium in a real window, started like anybody's, with no automation
 * switch and no debugger; xdotool plays the recorded movements and typing of a person into the screen. Nothing talks to the page.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { endChild, startChild } from "../child-process.js";
import { programs, quietArgs } from "../chromium.js";
import { type Display, screenSize } from "../display.js";
import type { Surroundings } from "../measurement.js";
import { pause } from "../pause.js";
import { between, integerBetween, type Random } from "../randomness.js";
import { scratchFolder } from "../scratch-folder.js";
import type { PagePlace } from "../site.js";
import type { Movement, PersonRecording, Stroke } from "../traces.js";

const openMsMax = 20_000;
const movementTargets = ["name", "info", "prices"] as const;
const letters = "ilikethesmalllampverymuch";

/** xdotool reading commands from a pipe, so that each happens when it is written. */
interface Hand {
  say(command: string): void;
  close(): Promise<void>;
}

function openHand(display: Display): Hand {
  const child: ChildProcess = spawn(programs.xdotool, ["-"], {
    env: { ...process.env, DISPLAY: display.name },
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    say: (command) => void child.stdin!.write(`${command}\n`),
    close: async () => {
      child.stdin!.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Where the page's corner is on the screen: the window stands at the corner, its bars above the page. */
function pageTop(place: PagePlace): number {
  return place.outerHeight - place.innerHeight;
}

/** Plays a movement so that its press hits `target`, in pixels of the screen, at the recorded times. */
async function playMovement(hand: Hand, movement: Movement, target: { x: number; y: number }): Promise<void> {
  const startedAt = performance.now();
  for (const step of movement) {
    await pause(step.atMs - (performance.now() - startedAt));
    if (step.kind === "m") {
      const x = Math.min(screenSize.width - 1, Math.max(0, target.x + step.x));
      const y = Math.min(screenSize.height - 1, Math.max(0, target.y + step.y));
      hand.say(`mousemove ${x} ${y}`);
    } else hand.say(step.kind === "d" ? "mousedown 1" : "mouseup 1");
  }
}

/** Presses and releases keys at a person's times; keys overlap where the person's did. */
async function playTyping(hand: Hand, strokes: readonly Stroke[]): Promise<void> {
  const actions: { atMs: number; command: string }[] = [];
  let releasedAt = 0;
  for (const [index, stroke] of strokes.entries()) {
    const key = letters[index % letters.length]!;
    const pressedAt = Math.max(0, releasedAt + stroke.flightMs);
    releasedAt = pressedAt + stroke.dwellMs;
    actions.push({ atMs: pressedAt, command: `keydown ${key}` }, { atMs: releasedAt, command: `keyup ${key}` });
  }
  const startedAt = performance.now();
  for (const action of actions.sort((one, other) => one.atMs - other.atMs)) {
    await pause(action.atMs - (performance.now() - startedAt));
    hand.say(action.command);
  }
}

/** Turns the wheel in flicks, as a finger does. */
async function playWheel(hand: Hand, random: Random): Promise<void> {
  for (let flick = 0; flick < 3; flick++) {
    for (let notch = integerBetween(random, 2, 5); notch > 0; notch--) {
      hand.say("click 5");
      await pause(between(random, 25, 110));
    }
    await pause(between(random, 250, 600));
  }
}

/** A point of the screen inside an element of the page. */
function pointOf(place: PagePlace, id: string, random: Random): { x: number; y: number } {
  const [left, top, width, height] = place.boxes[id]!;
  return {
    x: Math.round(left + width * between(random, 0.15, 0.7)),
    y: Math.round(pageTop(place) + top + height * between(random, 0.3, 0.7)),
  };
}

/** One visit with a person's movements and a person's typing. Needs a display. */
export async function visitInRealWindow(
  { visit, random, display }: Surroundings,
  { movements }: PersonRecording,
  typing: readonly Stroke[],
): Promise<void> {
  if (display === null) throw new Error("a real window needs a display");
  const profile = await scratchFolder();
  const browser = startChild(
    programs.chromium,
    [
      ...quietArgs,
      "--window-position=0,0",
      `--window-size=${screenSize.width},${screenSize.height}`,
      `--user-data-dir=${profile.path}`,
      visit.url,
    ],
    { env: { ...process.env, DISPLAY: display.name } },
  );
  const hand = openHand(display);
  const died = new Promise<never>((_, reject) => browser.once("exit", () => reject(new Error("chromium ended"))));
  died.catch(() => {});
  try {
    const opened = visit.until(({ token, place }) => token !== null && place !== null, "the page", openMsMax);
    await Promise.race([opened, died]);
    const place = visit.place!;
    // The last click goes where the typing goes.
    for (const [index, movement] of movements.entries()) {
      const isLast = index === movements.length - 1;
      await playMovement(hand, movement, pointOf(place, isLast ? "message" : movementTargets[index % 3]!, random));
      await pause(between(random, 200, 500));
    }
    await playTyping(hand, typing);
    await pause(between(random, 200, 500));
    await playWheel(hand, random);
    await pause(1300);
  } finally {
    await hand.close();
    await endChild(browser);
    await profile.erase();
  }
}
