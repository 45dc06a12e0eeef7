/**
 * People's recordings as other browsers, displays and links would have shown them: coarse clocks, few frames, zoomed pages, jitter.
 * For measuring whether detections hold beyond the recorders that the data comes from. Pure; deterministic.
 */
import type { Trace, TraceRow } from "./trace-sessions.js";

interface Alteration {
  readonly name: string;
  readonly alter: (trace: Trace) => Trace;
}

const isPlaced = (row: TraceRow) => row[1] === "m" || row[1] === "d" || row[1] === "u";

/** Times as a clock of `tick` ms gives them, keys' releases too. */
function clock(tick: number): Alteration["alter"] {
  const seen = (t: number) => Math.floor(t / tick) * tick;
  return (trace) => {
    let releasedAt: number | null = null;
    const events = trace.events.map((row): TraceRow => {
      const [t, kind, x, y] = row;
      if (kind !== "k") return [seen(t), kind, x, y];
      const press = seen(t);
      const release = seen(t + x);
      const flight = releasedAt === null ? y : press - releasedAt;
      releasedAt = release;
      return [press, kind, release - press, flight];
    });
    return { ...trace, events };
  };
}

/** The last move of each frame of `ms`, at its end. */
function frames(ms: number): Alteration["alter"] {
  const frameOf = (row: TraceRow) => Math.floor(row[0] / ms);
  return (trace) => {
    const kept = trace.events.filter((row, index, rows) => {
      const next = rows[index + 1];
      return row[1] !== "m" || next === undefined || next[1] !== "m" || frameOf(next) !== frameOf(row);
    });
    const late = kept.map((row): TraceRow => (row[1] === "m" ? [(frameOf(row) + 1) * ms, "m", row[2], row[3]] : row));
    return { ...trace, events: late.sort((one, other) => one[0] - other[0]) };
  };
}

/** Places changed by `to`, times kept. */
function places(to: (value: number) => number): Alteration["alter"] {
  return (trace) => ({
    ...trace,
    events: trace.events.map((row): TraceRow => (isPlaced(row) ? [row[0], row[1], to(row[2]), to(row[3])] : row)),
  });
}

/** Times that stray by up to `ms` either way, in order (a fixed sequence of numbers that look drawn by lot). */
function jitter(ms: number): Alteration["alter"] {
  let state = 5;
  return (trace) => {
    let latest = Number.NEGATIVE_INFINITY;
    const events = trace.events.map((row): TraceRow => {
      state = (state * 16807) % 2147483647;
      latest = Math.max(latest, row[0] + ((2 * state) / 2147483647 - 1) * ms);
      return [latest, row[1], row[2], row[3]];
    });
    return { ...trace, events };
  };
}

const hundredths = (value: number) => Math.round(value * 100) / 100;

/** What people may have in front of them or on the way, but none of the recorders had. */
export const alterations: readonly Alteration[] = [
  { name: "a clock of 1 ms", alter: clock(1) },
  { name: "a clock of 16.7 ms (LibreWolf)", alter: clock(16.67) },
  { name: "a clock of 100 ms (Tor Browser)", alter: clock(100) },
  { name: "60 frames a second", alter: frames(16.67) },
  { name: "30 frames a second", alter: frames(33.3) },
  { name: "20 frames a second", alter: frames(50) },
  { name: "10 frames a second", alter: frames(100) },
  { name: "a page zoomed to 125 %", alter: places((value) => hundredths(value * 0.8)) },
  { name: "a page zoomed to 200 %", alter: places((value) => value / 2) },
  { name: "a scaled desktop, steps of 2 px", alter: places((value) => 2 * Math.round(value / 2)) },
  { name: "times that stray by 8 ms", alter: jitter(8) },
  { name: "times that stray by 20 ms", alter: jitter(20) },
];

/** Between windows that are joined, ms: so long that the pointer may be elsewhere afterwards. */
const joinPauseMs = 6000;

/** The windows of each person as visits of `count` windows, one after the other; what is left over makes no visit. */
export function longVisits(traces: readonly Trace[], count: number): Trace[] {
  const byPerson = new Map<string, Trace[]>();
  for (const trace of traces) {
    const key = `${trace.source} ${trace.user}`;
    const windows = byPerson.get(key);
    if (windows === undefined) byPerson.set(key, [trace]);
    else windows.push(trace);
  }
  return [...byPerson.values()].flatMap((windows) => {
    const visits: Trace[] = [];
    for (let from = 0; from + count <= windows.length; from += count) {
      visits.push(joined(windows.slice(from, from + count)));
    }
    return visits;
  });
}

function joined(windows: readonly Trace[]): Trace {
  let at = 0;
  const events = windows.flatMap(({ events: rows }) => {
    const moved = rows.map(([t, kind, x, y]): TraceRow => [at + t - (rows[0]?.[0] ?? 0), kind, x, y]);
    at = (moved.at(-1)?.[0] ?? at) + joinPauseMs;
    return moved;
  });
  return { ...windows[0]!, id: `${windows[0]!.id} and ${windows.length - 1} more`, events };
}
