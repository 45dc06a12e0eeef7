/**
 * One visit of a real Chromium to a page, with or without the SDK, under a mouse that never rests: what it cost the page's
 * main thread and the network. Says nothing about whether that is much.
 */
import type { Browser, CDPSession } from "playwright-core";
import { openPlainPage, type PlainPage } from "./plain-page.js";

/** What a part of a visit cost the main thread. Times are of the clock: they hold what the machine did meanwhile. */
export interface PartCost {
  readonly seconds: number;
  /** Tasks of 50 ms and more, and ms they took together. */
  readonly longTasks: number;
  readonly longTaskMs: number;
  /** Ms in scripts, and in all tasks. */
  readonly scriptMs: number;
  readonly taskMs: number;
  readonly moves: number;
}

/** What one visit cost. */
export interface PageCost {
  /** From the navigation to `startMs` after the page has loaded: the SDK looks at the browser once. */
  readonly start: PartCost;
  /** What follows: the mouse moves, reports go out. */
  readonly rest: PartCost;
  /** Reports sent, and bytes of their bodies. */
  readonly reports: number;
  readonly reportBytes: number;
}

/** A mouse at 125 Hz, as most are. */
const moveEveryMs = 8;

/** The first report is sent half a second after the page has loaded. */
const startMs = 2000;

/** Visits `url` and moves the mouse for `startMs` and `durationMs` after the page has loaded. */
export async function visit(browser: Browser, url: string, durationMs: number): Promise<PageCost> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    let reports = 0;
    let reportBytes = 0;
    page.on("request", (request) => {
      if (request.method() !== "POST") return;
      reports++;
      reportBytes += request.postDataBuffer()?.length ?? 0;
    });
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    const totals = async (): Promise<Omit<PartCost, "seconds" | "moves">> => {
      const { metrics } = await session.send("Performance.getMetrics");
      const ms = (name: string): number => 1000 * (metrics.find((each) => each.name === name)?.value ?? Number.NaN);
      const tasks = (await page.evaluate("longTasks")) as number[];
      const longTaskMs = tasks.reduce((sum, each) => sum + each, 0);
      return { longTasks: tasks.length, longTaskMs, scriptMs: ms("ScriptDuration"), taskMs: ms("TaskDuration") };
    };
    await page.goto(url);
    const started = await moveMouse(session, 0, startMs);
    const first = await totals();
    const moved = await moveMouse(session, started.moves, durationMs);
    const last = await totals();
    return {
      start: { ...started, ...first },
      rest: {
        ...moved,
        longTasks: last.longTasks - first.longTasks,
        longTaskMs: last.longTaskMs - first.longTaskMs,
        scriptMs: last.scriptMs - first.scriptMs,
        taskMs: last.taskMs - first.taskMs,
      },
      reports,
      reportBytes,
    };
  } finally {
    await context.close();
  }
}

/** What scripts of verdictd did to the main thread, ms of its processor time: others at work on the machine don't count. */
export interface ScriptTasks {
  /** The longest of a page's start, until `startMs` after it has loaded, and the longest of what follows. */
  readonly startMs: number;
  readonly restMs: number;
  /** Of all that follows the start, a minute. */
  readonly aMinuteMs: number;
}

/** One event of Chromium's trace: times in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly pid?: number;
  readonly tid?: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly data?: { readonly url?: string } };
}

/** Runs of scripts that say whose they are, and of those that don't: what goes on after an `await` has no address. */
const addressed = /^(EvaluateScript|FunctionCall|v8\.evaluateModule)$/;
const unaddressed = /^(TimerFire|FireIdleCallback|RunMicrotasks)$/;

/**
 * Visits `url` on a processor that is slowed down so many times, and traces the runs of scripts whose address ends like `script`. The page
 * itself must set no timers: those are taken for the script's.
 */
export async function traceScript(
  browser: Browser,
  url: string,
  script: RegExp,
  slowdown: number,
  durationMs: number,
): Promise<ScriptTasks> {
  const page = await openPlainPage(browser);
  try {
    const events: TraceEvent[] = [];
    page.on("Tracing.dataCollected", (data) => {
      for (const event of (data as { value: TraceEvent[] }).value) events.push(event);
    });
    await page.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: { includedCategories: ["devtools.timeline"] },
    });
    await page.goto(url);
    const started = await moveMouse(page, 0, startMs);
    const moved = await moveMouse(page, started.moves, durationMs);
    const complete = new Promise((resolve) => page.on("Tracing.tracingComplete", resolve));
    await page.send("Tracing.end");
    await complete;
    return scriptTasks(events, script, moved.seconds);
  } finally {
    await page.close();
  }
}

/** Of a trace whose last `seconds` follow a page's start. */
export function scriptTasks(events: readonly TraceEvent[], script: RegExp, seconds: number): ScriptTasks {
  const isOwn = ({ name, args }: TraceEvent): boolean => addressed.test(name) && script.test(args.data?.url ?? "");
  const begin = events.filter(isOwn).reduce<TraceEvent | null>((a, b) => (a === null || b.ts < a.ts ? b : a), null);
  if (begin === null) throw new Error("the trace shows no call into the script");
  const runs = events
    .filter(({ pid, tid }) => pid === begin.pid && tid === begin.tid)
    .filter((event) => event.ts >= begin.ts && (isOwn(event) || unaddressed.test(event.name)))
    .sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  let end = 0;
  // What runs inside of another one is in its time.
  const tasks = runs.filter(({ ts, dur = 0 }) => {
    if (ts < end) return false;
    end = ts + dur;
    return true;
  });
  const ms = ({ tdur, dur = 0 }: TraceEvent): number => (tdur ?? dur) / 1000;
  const isStart = ({ ts }: TraceEvent): boolean => ts < begin.ts + startMs * 1000;
  const rest = tasks.filter((task) => !isStart(task));
  return {
    startMs: Math.max(0, ...tasks.filter(isStart).map(ms)),
    restMs: Math.max(0, ...rest.map(ms)),
    aMinuteMs: (rest.reduce((sum, each) => sum + ms(each), 0) * 60) / seconds,
  };
}

async function moveMouse(
  session: Pick<CDPSession, "send"> | PlainPage,
  from: number,
  durationMs: number,
): Promise<Pick<PartCost, "seconds" | "moves">> {
  const start = performance.now();
  let moves = 0;
  for (let due = start; due < start + durationMs; due += moveEveryMs) {
    // Each move is waited for; a slow machine gets fewer of them, never a heap.
    const { x, y } = wayPoint(from + moves++);
    await session.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    const now = performance.now();
    if (now < due) await new Promise((resolve) => setTimeout(resolve, due - now));
    else due = now;
  }
  return { seconds: (performance.now() - start) / 1000, moves };
}

/** A curve that keeps changing its direction, with fractions as a hand leaves them. */
function wayPoint(step: number): { x: number; y: number } {
  return { x: 400 + 300 * Math.sin(step / 37), y: 300 + 200 * Math.sin(step / 23) };
}
