/**
 * Programs that move the operating system's pointer along paths of their own, as a careful author writes them after the literature on
 * aiming: minimum-jerk movements (Flash and Hogan 1985), durations by Fitts's law, overshoots and corrections, overlapping submovements
 * (Meyer 1988), log-normal speeds (Plamondon 1995), tremor. A minute of steady use each. Pure; deterministic.
 */
import { between, integerBetween, type Random, roughlyNormal, seededRandom } from "./live/randomness.js";
import type { Trace, TraceRow } from "./trace-sessions.js";

/** Where targets are, px. */
interface Area {
  readonly width: number;
  readonly height: number;
}

export interface OwnDriver {
  readonly name: string;
  /** A minute of it; each seed is a program with habits of its own. The area is a large window's unless told otherwise. */
  readonly trace: (seed: number, area?: Area) => Trace;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Share of the way by share of the time. */
type Profile = (share: number) => number;

/** One aimed movement, `fromMs` after the start of the whole, bent to the side by a share of its length. */
interface Submovement {
  readonly fromMs: number;
  readonly ms: number;
  readonly way: Point;
  readonly bow: number;
  readonly profile: Profile;
}

/** What an author sets once for a program. */
interface Habits {
  readonly reportMs: number;
  /** Fitts's law: ms for any movement, and ms a bit of difficulty. */
  readonly startMs: number;
  readonly bitMs: number;
  readonly bow: number;
  readonly clickShare: number;
  readonly pauseMs: number;
  /** px */
  readonly tremor: number;
  /** The machine is so busy that moves are late, by some ms each and a frame or more now and then. */
  readonly isBusy: boolean;
}

/** The submovements to a target of a width, some after a pause, which is a gap between their times. */
type Plan = (random: Random, way: Point, width: number, habits: Habits) => Submovement[];

const minuteMs = 60_000;
const windowArea: Area = { width: 1500, height: 850 };
const margin = 20;
const lengthOf = ({ x, y }: Point) => Math.hypot(x, y);
const plus = (one: Point, other: Point): Point => ({ x: one.x + other.x, y: one.y + other.y });

/** `along` times the way, and `across` times it to the side. */
const turned = ({ x, y }: Point, along: number, across: number): Point => ({
  x: x * along - y * across,
  y: y * along + x * across,
});

const minimumJerk: Profile = (share) => share ** 3 * (10 - 15 * share + 6 * share * share);

/** Speed is log-normal with this spread of its logarithm; the ends are where nothing is left. */
function logNormal(spread: number): Profile {
  const [earliest, latest] = [Math.exp(-3 * spread), Math.exp(3 * spread)];
  const cumulative = (z: number) => 1 / (1 + Math.exp(-1.702 * z));
  const [low, high] = [cumulative(-3), cumulative(3)];
  return (share) => (cumulative(Math.log(earliest + share * (latest - earliest)) / spread) - low) / (high - low);
}

/** A mass that a spring draws to the target, damped so that it just does not swing over. */
const spring: Profile = (share) => 1 - (1 + 8 * share) * Math.exp(-8 * share);

function habitsOf(random: Random, tremor: number, isBusy: boolean): Habits {
  return {
    reportMs: integerBetween(random, 7, 16),
    startMs: between(random, 80, 180),
    bitMs: between(random, 90, 160),
    bow: between(random, 0.02, 0.1),
    clickShare: between(random, 0.4, 0.9),
    pauseMs: between(random, 350, 900),
    tremor: tremor * between(random, 0.6, 1.4),
    isBusy,
  };
}

const durationMs = (random: Random, distance: number, width: number, { startMs, bitMs }: Habits) =>
  (startMs + bitMs * Math.log2(distance / width + 1)) * Math.exp(0.12 * roughlyNormal(random));

/** Straight to the target, with one profile of speed. */
const inOneGo =
  (profile: Profile = minimumJerk): Plan =>
  (random, way, width, habits) => [
    {
      fromMs: 0,
      ms: durationMs(random, lengthOf(way), width, habits),
      way,
      bow: habits.bow * roughlyNormal(random),
      profile,
    },
  ];

/** Each movement has its peak of speed elsewhere: time runs faster at first, or at last. */
const anyProfile: Plan = (random, way, width, habits) => {
  const warp = Math.exp(0.35 * roughlyNormal(random));
  return inOneGo((share) => minimumJerk(share ** warp))(random, way, width, habits);
};

/** Every other movement misses by a few per cent, and is corrected a moment later. */
const overshooting: Plan = (random, way, width, habits) => {
  const [first] = inOneGo()(random, way, width, habits);
  if (random() < 0.5) return [first!];
  const reached = turned(way, 1 + between(random, -0.06, 0.1), 0.03 * roughlyNormal(random));
  const rest = { x: way.x - reached.x, y: way.y - reached.y };
  if (lengthOf(rest) < 4) return [first!];
  const fromMs = first!.ms + between(random, 50, 170);
  return [
    { ...first!, way: reached },
    { fromMs, ms: between(random, 110, 280), way: rest, bow: 0, profile: minimumJerk },
  ];
};

/** A first submovement that falls short, and one or two more that begin before it has ended. */
const overlapping: Plan = (random, way, width, habits) => {
  const [first] = inOneGo()(random, way, width, habits);
  const parts: Submovement[] = [];
  let rest = way;
  let fromMs = 0;
  let ms = first!.ms * between(random, 0.6, 0.8);
  const count = integerBetween(random, 1, 3);
  for (let index = 1; index <= count; index++) {
    const along = between(random, 0.8, 1.02);
    const part = index === count ? rest : turned(rest, along, 0.04 * roughlyNormal(random));
    parts.push({ fromMs, ms, way: part, bow: habits.bow * roughlyNormal(random), profile: minimumJerk });
    rest = { x: rest.x - part.x, y: rest.y - part.y };
    fromMs += ms * between(random, 0.55, 0.95);
    ms = between(random, 120, 300);
  }
  return parts;
};

/** Writes a trace as a driver sends it: whole pixels at whole milliseconds, a report every so often, none that repeats a place. */
class Writer {
  readonly rows: TraceRow[] = [];
  t = 300;
  at: Point;
  private readonly random: Random;
  private readonly habits: Habits;
  private last: TraceRow | null = null;
  private drift: Point = { x: 0, y: 0 };
  private readonly hertz: number;
  private readonly area: Area;

  constructor(random: Random, habits: Habits, area: Area) {
    this.random = random;
    this.habits = habits;
    this.area = area;
    this.hertz = between(random, 8, 12);
    this.at = this.somewhere();
  }

  somewhere(): Point {
    const { width, height } = this.area;
    return { x: between(this.random, margin, width - margin), y: between(this.random, margin, height - margin) };
  }

  /** Goes the sum of the parts and ends exactly there. */
  move(parts: readonly Submovement[]): void {
    const { at, t } = this;
    const ms = Math.max(...parts.map((part) => part.fromMs + part.ms));
    for (let now = 0; now < ms; ) {
      now = Math.min(ms, now + Math.max(4, this.habits.reportMs + 0.7 * roughlyNormal(this.random)));
      this.at = at;
      for (const part of parts) {
        const done = part.profile(Math.max(0, Math.min(1, (now - part.fromMs) / part.ms)));
        this.at = plus(this.at, turned(part.way, done, part.bow * Math.sin(Math.PI * done)));
      }
      this.t = Math.max(this.t + 1, t + now + this.lateness());
      this.report(now < ms ? plus(this.at, this.tremor()) : this.at);
    }
  }

  /** ms */
  private lateness(): number {
    if (!this.habits.isBusy) return 0;
    const stall = this.random() < 0.04 ? between(this.random, 20, 60) : 0;
    return stall - 2 * Math.log(1 - this.random());
  }

  /** A wave of 8 to 12 Hz on a slow drift. */
  private tremor(): Point {
    const { tremor } = this.habits;
    const kick = () => 0.3 * tremor * roughlyNormal(this.random);
    this.drift = { x: 0.85 * this.drift.x + kick(), y: 0.85 * this.drift.y + kick() };
    const turn = (2 * Math.PI * this.hertz * this.t) / 1000;
    return plus(this.drift, { x: 0.5 * tremor * Math.sin(turn), y: 0.5 * tremor * Math.cos(1.1 * turn) });
  }

  private report({ x, y }: Point): void {
    const row: TraceRow = [Math.round(this.t), "m", Math.round(x), Math.round(y)];
    if (this.last !== null && this.last[2] === row[2] && this.last[3] === row[3]) return;
    this.last = row;
    this.rows.push(row);
  }

  click(): void {
    const [x, y] = [Math.round(this.at.x), Math.round(this.at.y)];
    this.t += between(this.random, 60, 260);
    this.rows.push([Math.round(this.t), "d", x, y]);
    this.t += Math.max(40, 95 + 22 * roughlyNormal(this.random));
    this.rows.push([Math.round(this.t), "u", x, y]);
  }

  rest(): void {
    this.t += this.habits.pauseMs * Math.exp(0.6 * roughlyNormal(this.random));
  }
}

/** Small moves by which a hand at rest shows that it is there. */
function fidget(writer: Writer, random: Random): void {
  const way = { x: 8 * roughlyNormal(random), y: 8 * roughlyNormal(random) };
  writer.move([{ fromMs: 0, ms: between(random, 250, 700), way, bow: 0.1, profile: minimumJerk }]);
  writer.t += between(random, 100, 600);
}

function ownDriver(name: string, plan: Plan, tremor: number, { fidgetShare = 0, isBusy = false } = {}): OwnDriver {
  const trace = (seed: number, area = windowArea): Trace => {
    const random = seededRandom(seed);
    const habits = habitsOf(random, tremor, isBusy);
    const writer = new Writer(random, habits, area);
    while (writer.t < minuteMs) {
      const width = between(random, 20, 120);
      const target = writer.somewhere();
      const off = () => Math.max(-0.4, Math.min(0.4, 0.17 * roughlyNormal(random))) * width;
      const way = { x: target.x + off() - writer.at.x, y: target.y + off() - writer.at.y };
      writer.move(plan(random, way, width, habits));
      if (random() < habits.clickShare) writer.click();
      writer.rest();
      if (random() < fidgetShare) fidget(writer, random);
    }
    const id = `own/${name}#${seed}`;
    return { id, source: "own", label: "bot", generator: name, user: id, events: writer.rows };
  };
  return { name, trace };
}

export const ownDrivers: readonly OwnDriver[] = [
  ownDriver("minimum jerk", inOneGo(), 0),
  ownDriver("minimum jerk, tremor", inOneGo(), 0.8),
  ownDriver("overshoots and corrections, tremor", overshooting, 0.8),
  ownDriver("overlapping submovements, tremor", overlapping, 0.8),
  ownDriver("log-normal speeds, tremor", inOneGo(logNormal(0.35)), 0.8),
  ownDriver("overlapping submovements, tremor, fidgets", overlapping, 0.8, { fidgetShare: 0.4 }),
  ownDriver("overshoots and corrections, tremor, on a busy machine", overshooting, 0.8, { isBusy: true }),
  ownDriver("overlapping submovements, strong tremor", overlapping, 2.5),
  ownDriver("a spring, tremor", inOneGo(spring), 0.8),
  ownDriver("any profile, tremor", anyProfile, 0.8),
];

/** What a trace shows in its first `ms`. */
export function firstOf(trace: Trace, ms: number): Trace {
  return { ...trace, events: trace.events.filter(([t]) => t <= ms) };
}
