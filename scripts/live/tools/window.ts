/**
 * Chromium in a real window, started like anybody's, with no automation switch and no debugger, and a hand before it: xdotool
 * plays the recorded movements and typing of a person into the screen. Nothing talks to the page.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endChild, startChild } from "../child-process.js";
import { programs, quietArgs } from "../chromium.js";
import { type Display, screenSize } from "../display.js";
import { pause } from "../pause.js";
import { between, integerBetween, type Random } from "../randomness.js";
import { scratchFolder } from "../scratch-folder.js";
import type { PagePlace } from "../site.js";
import type { Keystroke, Movement } from "../traces.js";

const openMsMax = 60_000;
/** Batches are at most a second late. */
const lastBatchMs = 1300;
const addressesMax = 4;
const addressMs = 4000;
const letters = "ilikethesmalllampverymuch";

/** xdotool reading commands from a pipe, so that each happens when it is written. */
export interface Hand {
  say(command: string): void;
  close(): Promise<void>;
}

/** A hand before a screen. */
export function openHand(display: Display): Hand {
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
export function pageTop(place: PagePlace): number {
  return place.outerHeight - place.innerHeight;
}

/** A recording's clock: resolves when a step is due. Who is late goes on from there, or a busy machine would press and release at once. */
function recordedClock(): (atMs: number) => Promise<void> {
  let startedAt = performance.now();
  return async (atMs) => {
    await pause(startedAt + atMs - performance.now());
    startedAt = Math.max(startedAt, performance.now() - atMs);
  };
}

/** Plays a movement so that its press hits `target`, in pixels of the screen, at the recorded times. */
export async function playMovement(hand: Hand, movement: Movement, target: { x: number; y: number }): Promise<void> {
  const isDue = recordedClock();
  for (const step of movement) {
    await isDue(step.atMs);
    if (step.kind === "m") {
      const x = Math.min(screenSize.width - 1, Math.max(0, target.x + step.x));
      const y = Math.min(screenSize.height - 1, Math.max(0, target.y + step.y));
      hand.say(`mousemove ${x} ${y}`);
    } else hand.say(step.kind === "d" ? "mousedown 1" : "mouseup 1");
  }
}

/** Presses and releases keys at a person's times; keys overlap where the person's did. */
export async function playTyping(hand: Hand, keystrokes: readonly Keystroke[]): Promise<void> {
  const actions: { atMs: number; command: string }[] = [];
  let releasedAt = 0;
  for (const [index, keystroke] of keystrokes.entries()) {
    const key = letters[index % letters.length]!;
    const pressedAt = Math.max(0, releasedAt + keystroke.flightMs);
    releasedAt = pressedAt + keystroke.dwellMs;
    actions.push({ atMs: pressedAt, command: `keydown ${key}` }, { atMs: releasedAt, command: `keyup ${key}` });
  }
  const isDue = recordedClock();
  for (const action of actions.sort((one, other) => one.atMs - other.atMs)) {
    await isDue(action.atMs);
    hand.say(action.command);
  }
}

/** Turns the wheel in flicks, as a finger does. */
export async function playWheel(hand: Hand, random: Random): Promise<void> {
  for (let flick = 0; flick < 3; flick++) {
    for (let notch = integerBetween(random, 2, 5); notch > 0; notch--) {
      hand.say("click 5");
      await pause(between(random, 25, 110));
    }
    await pause(between(random, 250, 600));
  }
}

/** A point of the screen inside an element of the page. */
export function pointOf(place: PagePlace, id: string, random: Random): { x: number; y: number } {
  const box = place.boxes[id];
  if (box === undefined) throw new Error(`nothing on the page has the id ${id}`);
  const [left, top, width, height] = box;
  return {
    x: Math.round(left + width * between(random, 0.15, 0.7)),
    y: Math.round(pageTop(place) + top + height * between(random, 0.3, 0.7)),
  };
}

/** What a window needs of a visit: its address, and what its pages told. */
interface WindowVisit {
  readonly url: string;
  readonly token: string | null;
  readonly place: PagePlace | null;
  /** The pages are without the SDK: no token comes. */
  readonly isWithoutSdk?: boolean;
  until(test: (visit: WindowVisit) => boolean, what: string, ms: number): Promise<void>;
}

/** What a visitor uses, Chromium unless told otherwise, and adds to it: switches, environment. */
export interface WindowOptions {
  readonly browser?: "chromium" | "firefox";
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The person types the address once the browser is up: extensions that change requests stall the page that it starts with. */
  readonly isAddressTyped?: boolean;
  /** What is in the profile before the browser starts. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** Firefox's settings besides those that keep it quiet. */
  readonly settings?: string;
  /** The screen before which the visitor sits, where it is not the browser's. */
  readonly seat?: Display;
}

/** Types it again until it is opened: nothing tells when a browser takes keys. */
async function typeAddress(hand: Hand, visit: WindowVisit): Promise<void> {
  for (let attempt = 1; attempt <= addressesMax && visit.place === null; attempt++) {
    await pause(addressMs / 2);
    hand.say("key ctrl+l");
    hand.say(`type --delay 20 "${visit.url}"`);
    hand.say("key Return");
    await visit.until(({ place }) => place !== null, "the page", addressMs).catch(() => {});
  }
}

/** Keeps Firefox off the network, and its own pages away. */
const firefoxSettings = [
  "browser.aboutwelcome.enabled",
  "browser.shell.checkDefaultBrowser",
  "datareporting.policy.dataSubmissionEnabled",
  "termsofuse.bypassNotification",
].map((name) => `user_pref("${name}", ${name.startsWith("termsofuse")});\n`);

/** Makes an empty folder a profile of Firefox; returns it. */
export function firefoxProfile(folder: string, settings = ""): string {
  writeFileSync(join(folder, "user.js"), firefoxSettings.join("") + settings);
  return folder;
}

function switchesOf(browser: "chromium" | "firefox", profile: string, settings?: string): string[] {
  if (browser === "firefox") return ["--no-remote", "--profile", firefoxProfile(profile, settings)];
  const size = `--window-size=${screenSize.width},${screenSize.height}`;
  return [...quietArgs, "--window-position=0,0", size, `--user-data-dir=${profile}`];
}

/** Opens the visit's page in a window, lets `act` be its visitor, and closes everything. Needs a display. */
export async function visitInWindow(
  { visit, display }: { readonly visit: WindowVisit; readonly display: Display | null },
  act: (hand: Hand, place: PagePlace) => Promise<void>,
  {
    browser: program = "chromium",
    args = [],
    env = {},
    isAddressTyped = false,
    seat,
    prepare,
    settings,
  }: WindowOptions = {},
): Promise<void> {
  if (display === null) throw new Error("a real window needs a display");
  const profile = await scratchFolder();
  await prepare?.(profile.path);
  const browser = startChild(
    programs[program],
    [...switchesOf(program, profile.path, settings), ...args, isAddressTyped ? "about:blank" : visit.url],
    {
      env: { ...process.env, DISPLAY: display.name, ...env },
    },
  );
  const hand = openHand(seat ?? display);
  const died = new Promise<never>((_, reject) => browser.once("exit", () => reject(new Error(`${program} ended`))));
  died.catch(() => {});
  try {
    const opened = visit.until(
      ({ token, place, isWithoutSdk = false }) => place !== null && (token !== null || isWithoutSdk),
      "the page",
      openMsMax,
    );
    opened.catch(() => {});
    if (isAddressTyped) await typeAddress(hand, visit);
    await Promise.race([opened, died]);
    await act(hand, visit.place!);
    await pause(lastBatchMs);
  } finally {
    await hand.close();
    await endChild(browser);
    await profile.erase();
  }
}
