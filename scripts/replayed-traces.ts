/**
 * People's recordings as an attacker plays them again: at another pace, moved, turned, scaled, with noise, a move a frame. Other numbers than
 * those of the recorded data's own replays, and sources that those lack. Pure; deterministic.
 */
import { seededRandom } from "./live/randomness.js";
import type { Trace, TraceRow } from "./trace-sessions.js";

interface Replay {
  readonly name: string;
  readonly play: (trace: Trace) => Trace;
}

const movesMin = 60;
const reachMin = 1000;

/** Enough moves, far enough, that there is a path to know again. */
export function isWorthPlaying({ events }: Trace): boolean {
  const moves = events.filter(([, kind]) => kind === "m");
  const reach = moves.reduce((sum, [, , x, y], index) => {
    const [, , beforeX, beforeY] = moves[Math.max(0, index - 1)]!;
    return sum + Math.hypot(x - beforeX, y - beforeY);
  }, 0);
  return moves.length >= movesMin && reach >= reachMin;
}

const isPlaced = ([, kind]: TraceRow) => kind === "m" || kind === "d" || kind === "u";

/** The recording under another name, each row changed. */
function changed(trace: Trace, change: (row: TraceRow, index: number) => TraceRow): Trace {
  return { ...trace, id: `${trace.id} again`, label: "bot", events: trace.events.map(change) };
}

/** A number for each trace, the same in every run. */
function randomOf(trace: Trace): () => number {
  let seed = 17;
  for (const letter of trace.id) seed = (Math.imul(seed, 31) + letter.charCodeAt(0)) | 0;
  return seededRandom(seed);
}

function atPace(trace: Trace): Trace {
  const pace = 0.6 + randomOf(trace)();
  return changed(trace, ([t, kind, x, y]) => [pace * t, kind, x, y]);
}

/** Turned by up to half a circle, scaled by 0.6 to 1.6, at another pace. */
function turned(trace: Trace): Trace {
  const random = randomOf(trace);
  const angle = Math.PI * (2 * random() - 1);
  const scale = 0.6 + random();
  const pace = 0.7 + 0.6 * random();
  const [cosine, sine] = [scale * Math.cos(angle), scale * Math.sin(angle)];
  return changed(trace, (row) => {
    const [t, kind, x, y] = row;
    if (!isPlaced(row)) return [pace * t, kind, x, y];
    return [pace * t, kind, Math.round(600 + cosine * x - sine * y), Math.round(400 + sine * x + cosine * y)];
  });
}

/** Each place up to so many pixels off, either way. */
function noisy(pixels: number): Replay["play"] {
  return (trace) => {
    const random = randomOf(trace);
    const off = () => Math.round(pixels * (2 * random() - 1));
    return changed(trace, (row) => {
      const [t, kind, x, y] = row;
      return isPlaced(row) ? [t, kind, x + off(), y + off()] : row;
    });
  };
}

/** A move every 16.7 ms, whatever the times of the recording. */
function frameByFrame(trace: Trace): Trace {
  return changed(turned(trace), ([, kind, x, y], index) => [16.7 * index, kind, x, y]);
}

export const replays: readonly Replay[] = [
  { name: "as it is", play: (trace) => changed(trace, (row) => row) },
  { name: "at 0.6 to 1.6 times the pace", play: atPace },
  { name: "moved, turned, scaled by 0.6 to 1.6", play: turned },
  { name: "the same, a move a frame", play: frameByFrame },
  { name: "with noise of 2 px", play: noisy(2) },
  { name: "with noise of 4 px", play: noisy(4) },
];
