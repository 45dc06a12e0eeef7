/**
 * How a driven visitor behaves: every one looks around, clicks some buttons, fills two fields, scrolls and sends, in the manner
 * that its name says. A tool times a behaviour is a row of the measurement.
 */
import { createRequire } from "node:module";
import type { Box, DrivenPage } from "./driven-page.js";
import { pause } from "./pause.js";
import { between, integerBetween, type Random, roughlyNormal } from "./randomness.js";
import { buttonIds } from "./site-page.js";

/** Carries out a visit on an open page; takes at most about ten seconds. */
type Behavior = (page: DrivenPage, random: Random) => Promise<void>;

const names = ["Ada Lovelace", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov"];
const messages = ["Is the small one in stock?", "Do you ship to Portugal?", "What wood is it made of?"];

const pick = (random: Random, from: readonly string[]) => from[integerBetween(random, 0, from.length - 1)]!;

/** Buttons of this visit in the order in which they are clicked, the form's not among them. */
function someButtons(random: Random, count = 4): string[] {
  const order = buttonIds.slice(0, 4).map((id) => ({ id, at: random() }));
  return order
    .sort((one, other) => one.at - other.at)
    .map((each) => `#${each.id}`)
    .slice(0, count);
}

/** As the tools' first pages of documentation do it: click elements, type into fields. */
async function documented(page: DrivenPage, random: Random): Promise<void> {
  for (const button of someButtons(random)) await page.click(button);
  await page.click("#name");
  await page.type(pick(random, names), 0);
  await page.click("#message");
  await page.type(pick(random, messages), 0);
  await page.click("#send");
  await page.wheel(400);
  await pause(300);
  await page.wheel(500);
}

/** Moves the pointer in straight, even steps to the middle of things and clicks there. */
async function straightSteps(page: DrivenPage, random: Random): Promise<void> {
  const go = async (selector: string) => {
    const { x, y, width, height } = await page.box(selector);
    await page.move(x + width / 2, y + height / 2, integerBetween(random, 12, 25));
    await page.down();
    await page.up();
    await pause(between(random, 60, 220));
  };
  for (const button of someButtons(random)) await go(button);
  await go("#name");
  await page.type(pick(random, names), 50);
  await go("#message");
  await page.type(pick(random, messages).slice(0, 12), 50);
  await go("#send");
  for (let step = 0; step < 4; step++) {
    await page.wheel(200);
    await pause(150);
  }
}

/** Never touches the pointer: scripts in the page click elements, set values and scroll. */
async function scriptClicks(page: DrivenPage, random: Random): Promise<void> {
  for (const button of someButtons(random)) {
    await page.run(`document.querySelector("${button}").click()`);
    await pause(between(random, 200, 600));
  }
  await page.run(`document.querySelector("#name").value = "${pick(random, names)}"`);
  await page.run(`document.querySelector("#message").value = "${pick(random, messages)}"`);
  await pause(between(random, 200, 600));
  for (let step = 1; step < 4; step++) {
    await page.run(`window.scrollTo(0, ${step * 250})`);
    await pause(200);
  }
  await page.run(`document.querySelector("#send").click()`);
}

/** Types as a careful script does: random pauses, keys that are held. */
export async function typeWithPauses(page: DrivenPage, text: string, random: Random): Promise<void> {
  for (const key of text) {
    await page.keyDown(key);
    await pause(between(random, 30, 90));
    await page.keyUp(key);
    await pause(between(random, 20, 140));
  }
}

export async function scrollInSteps(page: DrivenPage, random: Random): Promise<void> {
  for (let step = 0; step < 5; step++) {
    await page.wheel(integerBetween(random, 60, 180));
    await pause(between(random, 80, 300));
  }
}

/** Goes to things by `moveTo`, clicks off their middle with a hold, types with pauses, scrolls in steps. */
async function careful(
  page: DrivenPage,
  random: Random,
  moveTo: (target: Box) => Promise<void>,
  buttons = 3,
): Promise<void> {
  const go = async (selector: string) => {
    await moveTo(await page.box(selector));
    await pause(between(random, 40, 200));
    await page.down();
    await pause(between(random, 50, 130));
    await page.up();
    await pause(between(random, 100, 400));
  };
  for (const button of someButtons(random, buttons)) await go(button);
  await go("#name");
  await typeWithPauses(page, pick(random, names).slice(0, 9), random);
  await go("#message");
  await typeWithPauses(page, pick(random, messages).slice(0, 9), random);
  await go("#send");
  await scrollInSteps(page, random);
}

/** A point inside a box, off its middle. */
function pointIn(box: Box, random: Random): { x: number; y: number } {
  return {
    x: box.x + box.width * between(random, 0.2, 0.8),
    y: box.y + box.height * between(random, 0.2, 0.8),
  };
}

/** A cubic Bezier path with a slow start and end, trembling and uneven sampling, to a point in the box, which it returns. */
export async function moveAlongBezier(page: DrivenPage, random: Random, from: Point, box: Box): Promise<Point> {
  const to = pointIn(box, random);
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  const bend = () => roughlyNormal(random) * 0.15 * distance;
  const first = { x: from.x + (to.x - from.x) * 0.3 + bend(), y: from.y + (to.y - from.y) * 0.3 + bend() };
  const second = { x: from.x + (to.x - from.x) * 0.7 + bend(), y: from.y + (to.y - from.y) * 0.7 + bend() };
  const steps = Math.round(12 + distance / between(random, 18, 30));
  for (let step = 1; step <= steps; step++) {
    const even = step / steps;
    const s = even * even * (3 - 2 * even);
    const along = (axis: "x" | "y") =>
      (1 - s) ** 3 * from[axis] +
      3 * (1 - s) ** 2 * s * first[axis] +
      3 * (1 - s) * s * s * second[axis] +
      s ** 3 * to[axis] +
      (step < steps ? roughlyNormal(random) * 0.6 : 0);
    await page.move(along("x"), along("y"));
    await pause(between(random, 2, 14));
  }
  return to;
}

/** Bezier paths, random holds and pauses. */
async function bezierPaths(page: DrivenPage, random: Random): Promise<void> {
  let at = { x: between(random, 200, 700), y: between(random, 100, 400) };
  await page.move(at.x, at.y);
  await careful(page, random, async (box) => {
    at = await moveAlongBezier(page, random, at, box);
  });
}

/** In CSS pixels of the viewport. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The part of ghost-cursor that is used; the package names types of a package that is not installed. */
interface GhostCursorPackage {
  path(from: Point, to: Point): Point[];
  createCursor(page: unknown): {
    click(selector: string, options?: { hesitate?: number; waitForClick?: number; moveDelay?: number }): Promise<void>;
  };
}

const loadGhostCursor = () => createRequire(import.meta.url)("ghost-cursor") as GhostCursorPackage;

/** ghost-cursor: with Puppeteer its cursor, with Playwright its paths, point by point. */
async function ghostCursor(page: DrivenPage, random: Random): Promise<void> {
  const ghost = loadGhostCursor();
  if (typeof (page.raw as { createCDPSession?: unknown }).createCDPSession === "function") {
    const cursor = ghost.createCursor(page.raw);
    const click = (selector: string) =>
      cursor.click(selector, {
        hesitate: between(random, 40, 200),
        waitForClick: between(random, 50, 130),
        moveDelay: between(random, 50, 300),
      });
    for (const button of someButtons(random, 3)) await click(button);
    await click("#name");
    await typeWithPauses(page, pick(random, names), random);
    await click("#send");
    await scrollInSteps(page, random);
    return;
  }
  let at = { x: between(random, 200, 700), y: between(random, 100, 400) };
  const follow = async (box: Box) => {
    const to = pointIn(box, random);
    for (const point of ghost.path(at, to)) await page.move(point.x, point.y);
    at = to;
  };
  // Its paths have many points, and each move waits for a frame: one button less keeps the visit short.
  await careful(page, random, follow, 2);
}

/** Every behaviour by the name that the table shows. */
export const behaviors = {
  "documented calls": documented,
  "straight steps": straightSteps,
  "script clicks": scriptClicks,
  "Bezier paths": bezierPaths,
  "ghost-cursor": ghostCursor,
} as const satisfies Record<string, Behavior>;

export type BehaviorName = keyof typeof behaviors;
