/** Does a job with a browser tool: as its first pages of documentation do it, or after an hour of effort. */
import { moveAlongBezier, type Point, scrollInSteps, typeWithPauses } from "../live/behaviors.js";
import type { DrivenPage } from "../live/driven-page.js";
import { pause } from "../live/pause.js";
import { between, type Random } from "../live/randomness.js";
import { type Step, servedName } from "./jobs.js";
import type { ShopVisit } from "./shop.js";

/** How long a tool waits for a page or for an automatic challenge to let it on. */
const stepMsMax = 10_000;
/** How long a page loads that a challenge let in: a tool that acts before that breaks by itself, whoever challenged it. */
const reloadMs = 1500;

/** The job can't go on: the shop said no. */
class Stopped extends Error {}

/** `documented`: go there, fill, click. `attached`: by links where there are such. `effort`: looks about, waits, moves along curves, types with pauses, follows links. */
export type Manner = "documented" | "attached" | "effort";

/** Does all steps; rejects with `Stopped` where the shop keeps it out. A challenge that lets it on by itself is waited for, and a form sent once more. */
export async function doInBrowser(
  page: DrivenPage,
  steps: readonly Step[],
  visit: ShopVisit,
  manner: Manner,
  random: Random,
): Promise<void> {
  const hand = new DrivenHand(page, random);
  for (const step of steps) {
    const isServed = () => visit.served.has(servedName(step));
    for (let attempt = 1; !isServed(); attempt++) {
      const before = visit.judged.length;
      const passes = visit.passes;
      if (step.kind === "read") await goTo(page, hand, step.path, visit, manner);
      else await sendForm(page, hand, step, visit, manner);
      await settle(visit, before, isServed);
      if (isServed()) {
        if (step.kind === "read") await takeText(page);
        break;
      }
      if (isKeptOut(visit, before) || attempt === 2) throw new Stopped(servedName(step));
      // A challenge's page computes, and loads the address again once it has passed.
      const goesOn = ({ isRefused, passes: now }: ShopVisit) => isRefused || now > passes || isServed();
      await visit.until(goesOn, "the challenge", stepMsMax).catch(() => {});
      if (visit.isRefused) throw new Stopped(servedName(step));
      if (step.kind === "read") await visit.until(isServed, "the page", stepMsMax / 2).catch(() => {});
      await pause(reloadMs);
      if (step.kind === "read" && isServed()) await takeText(page);
    }
  }
}

/** What a page is read for. */
async function takeText(page: DrivenPage): Promise<void> {
  await Promise.race([page.run("document.body.innerText").catch(() => {}), pause(stepMsMax)]);
}

/** Until the shop served the step, or its gate said something else of a request. */
async function settle(visit: ShopVisit, before: number, isServed: () => boolean): Promise<void> {
  const isJudged = () => isServed() || isDenied(visit, before);
  await visit.until(isJudged, "an answer", stepMsMax).catch(() => {});
}

function isDenied({ judged }: ShopVisit, since: number): boolean {
  return judged.slice(since).some(({ action }) => action === "block" || action === "challenge");
}

function isKeptOut({ judged, isRefused }: ShopVisit, since: number): boolean {
  return isRefused || judged.slice(since).some(({ action }) => action === "block");
}

async function goTo(page: DrivenPage, hand: DrivenHand, path: string, visit: ShopVisit, manner: Manner): Promise<void> {
  const url = new URL(path, visit.url).href;
  if (manner === "documented") return page.open(url);
  const link = `a[href="${path}"]`;
  if (manner === "attached") {
    await page.run("document.body.innerText");
    // The page of a challenge has no links of the shop.
    if (visit.shownPath === null) return page.open(url);
    // Who works in a person's window does not leave a page that it is on.
    return visit.shownPath === path ? undefined : page.click(link);
  }
  // Who works in a person's window does not leave a page that it is on.
  if (visit.shownPath === path) return hand.lookAbout();
  const hasLink = await page.run(`document.querySelector(${JSON.stringify(link)}) !== null`).catch(() => false);
  if (hasLink !== true) {
    await page.open(url);
    return hand.lookAbout();
  }
  await hand.lookAbout();
  await hand.click(link);
}

async function sendForm(
  page: DrivenPage,
  hand: DrivenHand,
  { page: at, path, fields }: Extract<Step, { kind: "send" }>,
  visit: ShopVisit,
  manner: Manner,
): Promise<void> {
  const before = visit.judged.length;
  await goTo(page, hand, at, visit, manner);
  // The form's own page may be challenged, and let in.
  const isThere = () =>
    visit.judged.slice(before).some(({ action }) => action === "allow") || visit.served.has(`GET ${at}`);
  await visit.until(() => isThere() || isKeptOut(visit, before), "the form", stepMsMax).catch(() => {});
  if (!isThere()) throw new Stopped(`GET ${at}`);
  if (isDenied(visit, before)) await pause(reloadMs);
  if (manner === "effort") await pause(400);
  const button = `form[action="${path}"] button`;
  for (const [name, value] of Object.entries(fields)) {
    if (page.fill !== undefined) await page.fill(`#${name}`, value);
    else if (manner === "documented") {
      await page.click(`#${name}`);
      await page.type(value, 0);
    } else {
      await hand.click(`#${name}`);
      await hand.type(value);
    }
  }
  const clicked = manner === "effort" ? hand.click(button) : page.click(button);
  // Tools wait for the navigation that a click causes, in their own ways: the shop's word counts.
  await Promise.race([clicked, pause(stepMsMax)]);
}

/** What a careful script makes of a pointer and keys. */
class DrivenHand {
  readonly #page: DrivenPage;
  readonly #random: Random;
  #at: Point;

  constructor(page: DrivenPage, random: Random) {
    this.#page = page;
    this.#random = random;
    this.#at = { x: between(random, 200, 700), y: between(random, 100, 400) };
  }

  /** One to three seconds of reading. */
  async lookAbout(): Promise<void> {
    await pause(between(this.#random, 500, 1500));
    await scrollInSteps(this.#page, this.#random);
    // Up again: what is clicked stands at the top.
    for (let step = 0; step < 5; step++) {
      await this.#page.wheel(-240);
      await pause(between(this.#random, 60, 200));
    }
  }

  async click(selector: string): Promise<void> {
    const random = this.#random;
    this.#at = await moveAlongBezier(this.#page, random, this.#at, await this.#page.box(selector));
    await pause(between(random, 40, 200));
    await this.#page.down();
    await pause(between(random, 50, 130));
    await this.#page.up();
    await pause(between(random, 200, 500));
  }

  type(text: string): Promise<void> {
    return typeWithPauses(this.#page, text, this.#random);
  }
}
