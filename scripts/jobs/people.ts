/**
 * People on the shop: Chromium and Firefox in a window without a driver, recorded movements and typing of people by the operating system's input. Each
 * recording is played once.
 */

import type { ChildProcess } from "node:child_process";
import { awaitOutput, endChild, startChild } from "../live/child-process.js";
import { programs } from "../live/chromium.js";
import { type Display, openDisplay } from "../live/display.js";
import { pause } from "../live/pause.js";
import { between, type Random } from "../live/randomness.js";
import { type Hand, playMovement, playTyping, playWheel, pointOf, visitInWindow } from "../live/tools/window.js";
import { type Keystroke, type Movement, personSources, readPersonRecordings, readTyping } from "../live/traces.js";
import type { JobName } from "./jobs.js";
import type { ShopVisit } from "./shop.js";

const pageMsMax = 7000;
const attemptsMax = 6;
const remoteMsMax = 60_000;

type Act = { readonly click: string } | { readonly type: string } | { readonly read: true };

const form = (link: string, ...fields: string[]): Act[] => [
  { click: link },
  ...fields.map((field): Act => ({ type: field })),
  { click: "send" },
];

/** What a person does of each job: less than a bot, and with a look at it. */
const acts: Readonly<Record<JobName, readonly Act[]>> = {
  catalogue: [{ click: "catalogue" }, { read: true }, { click: "next" }, { click: "next" }, { read: true }],
  search: form("search", "q"),
  price: [{ click: "p3" }, { read: true }, { click: "home" }, { click: "p8" }],
  "log-in": form("login", "user", "secret"),
  "sign-up": form("signup", "mail", "secret"),
  contact: form("contact", "mail", "message"),
  checkout: [{ click: "p7" }, { read: true }, { click: "buy" }, { type: "name" }, { type: "card" }, { click: "send" }],
  delivery: form("delivery", "name", "street", "town"),
  account: form("enter", "mail", "secret"),
};

/** Recordings of people, each given out once. */
export class Recordings {
  readonly #movements: Movement[];
  readonly #typing: readonly Keystroke[][];
  #typed = 0;

  constructor() {
    const bySource = readPersonRecordings();
    // Source after source: a visit should be one person's, as far as a recording lasts.
    const people = personSources.flatMap((source) => [...(bySource.get(source) ?? [])]);
    this.#movements = people.flatMap(({ movements }) => movements.filter(isClick));
    this.#typing = readTyping();
  }

  /** A movement that ends in a click. */
  movement(): Movement {
    const next = this.#movements.shift();
    if (next === undefined) throw new Error("there are no more recordings of people");
    return next;
  }

  /** The rhythm of one person's typing. */
  typing(): readonly Keystroke[] {
    return this.#typing[this.#typed++ % this.#typing.length]!;
  }
}

/** One press and release at about the same place: what drags something clicks no link. */
function isClick(movement: Movement): boolean {
  const presses = movement.filter(({ kind }) => kind === "d");
  const release = movement.find(({ kind }) => kind === "u");
  if (presses.length !== 1 || release === undefined) return false;
  return Math.hypot(release.x - presses[0]!.x, release.y - presses[0]!.y) < 3;
}

/** How a person sits before the browser: an ordinary window, a kiosk without bars, or another machine's screen by VNC. */
export type Seat = "window" | "kiosk" | "VNC";

/** Shows `display` on another screen by VNC; a hand there works in the first. */
async function openRemoteSeat(display: Display): Promise<Display> {
  const seat = await openDisplay();
  const server = startChild(programs.x11vnc, [
    "-display",
    display.name,
    "-localhost",
    "-nopw",
    "-forever",
    "-noxrecord",
  ]);
  const close = async (...children: ChildProcess[]) => {
    for (const child of children) await endChild(child);
    await seat.close();
  };
  try {
    const [, port] = await awaitOutput(server, /PORT=(\d+)/, remoteMsMax);
    const viewer = startChild(programs.vncviewer, ["-Shared", `127.0.0.1::${port}`], {
      env: { ...process.env, DISPLAY: seat.name },
    });
    await awaitOutput(server, /client_set_net|Pixel format for client/i, remoteMsMax).catch(async (error) => {
      await endChild(viewer);
      throw error;
    });
    return { name: seat.name, close: () => close(viewer, server) };
  } catch (error) {
    await close(server);
    throw error;
  }
}

/** One visit; rejects where the window shows no next page. Whether the shop let it through is the shop's to say. */
export async function doAsPerson(
  browser: "chromium" | "firefox",
  job: JobName,
  visit: ShopVisit,
  display: Display,
  recordings: Recordings,
  random: Random,
  at: Seat = "window",
): Promise<void> {
  const typing = recordings.typing();
  const seat = at === "VNC" ? await openRemoteSeat(display) : undefined;
  const options = { browser, ...(at === "kiosk" && { args: ["--kiosk"] }), ...(seat !== undefined && { seat }) };
  await visitInWindow(
    { visit, display },
    async (hand) => {
      for (const act of acts[job]) {
        if ("read" in act) await playWheelUp(hand, random);
        else if ("click" in act) await clickOn(hand, visit, act.click, recordings, random);
        else {
          const place = visit.place!;
          await playMovement(hand, recordings.movement(), pointOf(place, act.type, random));
          await playTyping(hand, typing.slice(0, 12));
        }
        await pause(between(random, 250, 900));
      }
      await pause(between(random, 800, 1500));
    },
    options,
  ).finally(() => seat?.close());
}

/** Down the page and up again, where the links are. */
export async function playWheelUp(hand: Hand, random: Random): Promise<void> {
  await playWheel(hand, random);
  for (let notch = 0; notch < 16; notch++) {
    hand.say("click 4");
    await pause(between(random, 25, 90));
  }
}

/** Who missed a link clicks again. */
export async function clickOn(
  hand: Hand,
  visit: ShopVisit,
  id: string,
  recordings: Recordings,
  random: Random,
): Promise<void> {
  const place = visit.place!;
  const isNext = (each: ShopVisit) => each.place?.loadedAt !== place.loadedAt;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    await playMovement(hand, recordings.movement(), pointOf(place, id, random));
    const isThere = await visit.until(isNext, `the page after ${id}`, pageMsMax).then(
      () => true,
      () => false,
    );
    if (isThere) return;
  }
  throw new Error(`no page after ${id}`);
}
