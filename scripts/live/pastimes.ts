/**
 * What people do on the demo page, by mouse, wheel and keys of the operating system: pointing with a hand's speed and tremor, flicks of the
 * wheel, typing in bursts. For traffic of a usual shape; nobody's detection is measured with it.
 */
import { pause } from "./pause.js";
import { between, integerBetween, type Random, roughlyNormal } from "./randomness.js";
import type { Hand } from "./tools/window.js";

export type Pastime = "reads" | "draws" | "writes" | "looks around";

/** Boxes by name: left, top, width, height in pixels of what they were measured in, the page or the screen. */
export type Places = Readonly<Record<string, readonly [number, number, number, number]>>;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A mouse at 125 Hz. */
const everyMs = 8;
/** How much the speed ripples, as a share; how far a sample is from its time, ms; how far a hand trembles, px. */
const rippleShare = 0.3;
const sampleErrorMs = 0.7;
const tremor = 0.8;
const sentence = "wedosellsmalllampsanditakethebluone".split("");

export class Person {
  readonly #hand: Hand;
  readonly #places: Places;
  readonly #random: Random;
  #at: Point;
  /** Notches of the wheel that the page is scrolled by. */
  #scrolled = 0;

  constructor(hand: Hand, places: Places, random: Random) {
    this.#hand = hand;
    this.#places = places;
    this.#random = random;
    this.#at = { x: Math.round(between(random, 200, 900)), y: Math.round(between(random, 200, 600)) };
  }

  /** Until the clock of `performance` says `untilMs`. */
  async pass(pastime: Pastime, untilMs: number): Promise<void> {
    const acts: Record<Pastime, readonly (() => Promise<void>)[]> = {
      reads: [() => this.#scroll(), () => this.#wander(), () => this.#rest(6000)],
      draws: [() => this.#draw(), () => this.#catchDot(), () => this.#rest(2500)],
      writes: [() => this.#write("name"), () => this.#write("why"), () => this.#click("send"), () => this.#rest(4000)],
      "looks around": [() => this.#wander(), () => this.#scroll(), () => this.#catchDot(), () => this.#rest(3500)],
    };
    for (let turn = 0; performance.now() < untilMs; turn++) {
      const own = acts[pastime];
      await own[turn % own.length]!();
      await this.#rest(900);
    }
  }

  async #rest(mostMs: number): Promise<void> {
    await pause(between(this.#random, 0.2 * mostMs, mostMs));
  }

  /** A fast movement that ends before its aim or beyond it, and one or two slow corrections. */
  async #move(to: Point): Promise<void> {
    const random = this.#random;
    const from = this.#at;
    const far = Math.hypot(to.x - from.x, to.y - from.y);
    if (far > 60) {
      const reach = 1 + 0.06 * roughlyNormal(random) - 0.03;
      const aside = (20 * far) / (far + 400);
      const near = {
        x: from.x + (to.x - from.x) * reach + roughlyNormal(random) * aside,
        y: from.y + (to.y - from.y) * reach + roughlyNormal(random) * aside,
      };
      await this.#sweep(near, 1);
      for (let corrections = integerBetween(random, 0, 1); corrections > 0; corrections--) {
        await pause(between(random, 20, 120));
        const part = between(random, 0.5, 0.9);
        const at = this.#at;
        await this.#sweep({ x: at.x + (to.x - at.x) * part, y: at.y + (to.y - at.y) * part }, 1.7);
      }
      await pause(between(random, 20, 120));
    }
    await this.#sweep(to, far > 60 ? 1.7 : 1);
  }

  /**
   * Speeds up sooner or later, slows down and bends; its speed ripples, and it trembles, in waves of 8 to 12 Hz as muscles do. `slowness` 1: as fast as a hand
   * goes.
   */
  async #sweep(to: Point, slowness: number): Promise<void> {
    const random = this.#random;
    const from = this.#at;
    const distance = Math.hypot(to.x - from.x, to.y - from.y);
    const durationMs = slowness * between(random, 0.75, 1.3) * (110 + 90 * Math.log2(1 + distance / 24));
    const bend = roughlyNormal(random) * 0.08 * distance;
    const rise = between(random, 0.55, 1.5);
    const pace = (2 * Math.PI * between(random, 8, 12)) / 1000;
    const startedAt = performance.now();
    for (let atMs = everyMs; atMs <= durationMs; atMs += everyMs) {
      await pause(atMs - (performance.now() - startedAt));
      const ripple = (rippleShare / pace) * Math.sin(pace * (startedAt + atMs));
      const sampledMs = atMs + ripple + sampleErrorMs * roughlyNormal(random);
      const share = Math.max(0, Math.min(1, sampledMs / durationMs)) ** rise;
      const done = share ** 3 * (10 - 15 * share + 6 * share * share);
      const aside = bend * Math.sin(Math.PI * done) + tremor * Math.sin(1.3 * pace * (startedAt + atMs));
      const x = from.x + (to.x - from.x) * done - ((to.y - from.y) / (distance || 1)) * aside;
      const y = from.y + (to.y - from.y) * done + ((to.x - from.x) / (distance || 1)) * aside;
      this.#hand.say(`mousemove ${Math.max(0, Math.round(x))} ${Math.max(0, Math.round(y))}`);
    }
    this.#at = to;
  }

  #pointIn([left, top, width, height]: readonly [number, number, number, number]): Point {
    return {
      x: left + width * between(this.#random, 0.15, 0.85),
      y: top + height * between(this.#random, 0.2, 0.8),
    };
  }

  /** Over the page, to no end, as the eye does. */
  async #wander(): Promise<void> {
    for (let count = integerBetween(this.#random, 1, 3); count > 0; count--) {
      await this.#move({ x: between(this.#random, 100, 1200), y: between(this.#random, 100, 800) });
      await this.#rest(1200);
    }
  }

  async #press(): Promise<void> {
    await pause(between(this.#random, 60, 200));
    this.#hand.say("mousedown 1");
    await pause(between(this.#random, 55, 130));
    this.#hand.say("mouseup 1");
  }

  async #click(name: string): Promise<void> {
    await this.#backToTop();
    await this.#move(this.#pointIn(this.#places[name]!));
    await this.#press();
  }

  async #catchDot(): Promise<void> {
    for (let count = integerBetween(this.#random, 1, 3); count > 0; count--) await this.#click("field");
  }

  async #draw(): Promise<void> {
    await this.#backToTop();
    const pad = this.#places["pad"]!;
    await this.#move(this.#pointIn(pad));
    this.#hand.say("mousedown 1");
    for (let count = integerBetween(this.#random, 2, 5); count > 0; count--) await this.#sweep(this.#pointIn(pad), 1);
    this.#hand.say("mouseup 1");
  }

  async #write(field: string): Promise<void> {
    await this.#click(field);
    for (let count = integerBetween(this.#random, 8, 20); count > 0; count--) {
      const key = sentence[integerBetween(this.#random, 0, sentence.length - 1)]!;
      this.#hand.say(`keydown ${key}`);
      await pause(between(this.#random, 55, 120));
      this.#hand.say(`keyup ${key}`);
      await pause(between(this.#random, 25, 210));
    }
  }

  async #scroll(): Promise<void> {
    for (let flick = integerBetween(this.#random, 1, 3); flick > 0; flick--) {
      const isDown = this.#scrolled < 6 && this.#random() < 0.7;
      for (let notch = integerBetween(this.#random, 1, 4); notch > 0; notch--) await this.#notch(isDown);
      await this.#rest(1500);
    }
  }

  async #backToTop(): Promise<void> {
    while (this.#scrolled > 0) await this.#notch(false);
  }

  /** Beyond the page's ends a notch does nothing: it is counted there too, so that enough of them lead back. */
  async #notch(isDown: boolean): Promise<void> {
    this.#scrolled = Math.max(0, this.#scrolled + (isDown ? 1 : -1));
    this.#hand.say(`click ${isDown ? 5 : 4}`);
    await pause(between(this.#random, 25, 110));
  }
}
