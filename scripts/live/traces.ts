/**
 * Recordings of people (the dev split of the project's trace data) as movements that fit a browser window: some seconds of moves
 * that end in a press and release of the button. Reads files; plays nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Folder of the traces: below `VERDICTD_TRACES`, or below `../shared/data` beside the project. */
const folder = join(process.env["VERDICTD_TRACES"] ?? resolve(root, "../shared/data"), "traces");

/** Why the recordings can't be read; null when they can. */
export function missingTraces(): string | null {
  const file = join(folder, "dev.jsonl.gz");
  return existsSync(file) ? null : `${file} is missing`;
}

type Kind = "m" | "d" | "u" | "s" | "k";
/** t in ms, what, and x, y in pixels (`k`: dwell and flight in ms). */
type TraceEvent = readonly [t: number, kind: Kind, x: number, y: number];

interface Trace {
  readonly source: string;
  readonly label: "human" | "bot";
  readonly user: string;
  readonly events: readonly TraceEvent[];
}

/** A step of a recorded movement: ms since its start, whole pixels relative to where the button is pressed at its end. */
export interface MovementStep {
  readonly atMs: number;
  readonly kind: "m" | "d" | "u";
  readonly x: number;
  readonly y: number;
}

/** A movement to a target and the click there, as recorded; the moves alone where the recording shows no click. */
export type Movement = readonly MovementStep[];

/** Some seconds of one person: movements in the order in which they were recorded. */
export interface PersonRecording {
  readonly source: string;
  readonly user: string;
  readonly movements: readonly Movement[];
}

/** Sources of people with a mouse in their hand; touch screens and path-only recordings can't be replayed as a mouse. */
export const personSources = ["barkworth", "delbot", "omniglot", "balabit"] as const;

function readTraces(name: string): Trace[] {
  const lines = gunzipSync(readFileSync(join(folder, name)))
    .toString("utf8")
    .split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Trace);
}

/** Longest movement, and all of a visit. */
const durationMsMax = 3500;
const visitDurationMsMax = 5500;
const movesMin = 20;
/** How far a movement may stray from its press, so that it stays inside the page. */
const reach = { left: 260, right: 900, up: 180, down: 420 };

/** The events since `from` that lead to a press and its release, or null when they are too few or too long. */
function movementBefore(events: readonly TraceEvent[], down: number, from: number): Movement | null {
  const [pressedAt, , x, y] = events[down]!;
  const release = events.findIndex((event, index) => index > down && event[1] === "u");
  if (release < 0 || events[release]![0] - pressedAt > 600) return null;
  let first = down;
  while (first > from && pressedAt - events[first - 1]![0] <= durationMsMax) {
    const before = events[first - 1]!;
    if (before[1] === "m" || before[1] === "d" || before[1] === "u") {
      if (!isInReach(before[2] - x, before[3] - y)) break;
    }
    first--;
  }
  const startedAt = events[first]![0];
  const steps: MovementStep[] = [];
  let pressed = false;
  for (let index = first; index <= release; index++) {
    const [t, kind, px, py] = events[index]!;
    if (kind !== "m" && kind !== "d" && kind !== "u") continue;
    if (kind === "u" && !pressed) continue;
    if (kind !== "m") pressed = kind === "d";
    steps.push({ atMs: t - startedAt, kind, x: Math.round(px - x), y: Math.round(py - y) });
  }
  const moves = steps.filter((step) => step.kind === "m").length;
  return moves < movesMin || steps.at(-1)!.atMs > 2 * durationMsMax ? null : steps;
}

function isInReach(dx: number, dy: number): boolean {
  return dx >= -reach.left && dx <= reach.right && dy >= -reach.up && dy <= reach.down;
}

/** The first seconds of moves of a recording in which nobody presses a button in reach; null when they are too few or too wide. */
function movesAlone(events: readonly TraceEvent[]): Movement | null {
  const moves = events.filter((event) => event[1] === "m");
  const startedAt = moves[0]?.[0] ?? 0;
  const own = moves.filter((event) => event[0] - startedAt <= durationMsMax);
  const last = own.at(-1);
  if (last === undefined || own.length < movesMin) return null;
  if (!own.every(([, , x, y]) => isInReach(x - last[2], y - last[3]))) return null;
  return own.map(([t, , x, y]) => ({
    atMs: t - startedAt,
    kind: "m",
    x: Math.round(x - last[2]),
    y: Math.round(y - last[3]),
  }));
}

/** The movements of a recording, none overlapping another, as many as fit a visit. */
function movementsOf(events: readonly TraceEvent[]): Movement[] {
  const found: Movement[] = [];
  let from = 0;
  let durationMs = 0;
  for (const [index, event] of events.entries()) {
    if (event[1] !== "d" || index < from) continue;
    const movement = movementBefore(events, index, from);
    if (movement === null) continue;
    durationMs += movement.at(-1)!.atMs;
    if (found.length > 0 && durationMs > visitDurationMsMax) break;
    found.push(movement);
    from = index + 1;
  }
  const alone = found.length === 0 ? movesAlone(events) : null;
  return alone === null ? found : [alone];
}

/** Recordings of people by source, as many different people as there are first. */
export function readPersonRecordings(): ReadonlyMap<string, readonly PersonRecording[]> {
  const bySource = new Map<string, Map<string, PersonRecording[]>>();
  for (const trace of readTraces("dev.jsonl.gz")) {
    if (trace.label !== "human" || !(personSources as readonly string[]).includes(trace.source)) continue;
    const movements = movementsOf(trace.events);
    if (movements.length === 0) continue;
    const users = bySource.get(trace.source) ?? new Map<string, PersonRecording[]>();
    bySource.set(trace.source, users);
    const of = users.get(trace.user) ?? [];
    users.set(trace.user, of);
    of.push({ source: trace.source, user: trace.user, movements });
  }
  return new Map([...bySource].map(([source, users]) => [source, byTurns([...users.values()])]));
}

/** The first of each list, then the second of each, and so on. */
function byTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const result: T[] = [];
  for (let index = 0; index < longest; index++) {
    for (const list of lists) if (index < list.length) result.push(list[index]!);
  }
  return result;
}

/** A keystroke of a person: ms from the release before it to its press, and how long it is held. */
export interface Keystroke {
  readonly flightMs: number;
  readonly dwellMs: number;
}

const keystrokesOfVisit = 20;
const typingMsMax = 5000;

/** Typing rhythms of people, one a person, 20 keystrokes in at most five seconds each. For measuring only, as their licence asks. */
export function readTyping(): readonly Keystroke[][] {
  const byUser = new Map<string, Keystroke[]>();
  for (const trace of readTraces("keys_nc_dev.jsonl.gz")) {
    if (byUser.has(trace.user)) continue;
    const keystrokes = trace.events
      .filter(([, kind, dwell, flight]) => kind === "k" && dwell > 0 && dwell < 400 && Math.abs(flight) < 900)
      .slice(0, keystrokesOfVisit)
      .map(([, , dwellMs, flightMs]) => ({ dwellMs, flightMs }));
    const ms = keystrokes.reduce((sum, each) => sum + each.dwellMs + each.flightMs, 0);
    if (keystrokes.length === keystrokesOfVisit && ms <= typingMsMax) byUser.set(trace.user, keystrokes);
  }
  return [...byUser.values()];
}
