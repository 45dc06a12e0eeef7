/**
 * One visit of a real Chromium to a page, with or without the SDK, under a mouse that never rests: what it cost the page's
 * main thread and the network. Says nothing about whether that is much.
 */
import type { Browser, CDPSession } from "playwright-core";

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
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly data?: { readonly url?: string } };
}

/** Visits `url` on a processor that is slowed down so many times, and traces the calls into scripts whose address ends like `script`. */
export async function traceScript(
  browser: Browser,
  url: string,
  script: RegExp,
  slowdown: number,
  durationMs: number,
): Promise<ScriptTasks> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const events: TraceEvent[] = [];
    session.on("Tracing.dataCollected", ({ value }) => {
      for (const event of value as unknown as TraceEvent[]) events.push(event);
    });
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await session.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: { includedCategories: ["devtools.timeline"] },
    });
    await page.goto(url);
    const started = await moveMouse(session, 0, startMs);
    const moved = await moveMouse(session, started.moves, durationMs);
    const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
    await session.send("Tracing.end");
    await complete;
    return scriptTasks(events, script, moved.seconds);
  } finally {
    await context.close();
  }
}

/** Of a trace whose last `seconds` follow a page's start. */
export function scriptTasks(events: readonly TraceEvent[], script: RegExp, seconds: number): ScriptTasks {
  const calls = events.filter(
    ({ name, args }) => (name === "FunctionCall" || name === "EvaluateScript") && script.test(args.data?.url ?? ""),
  );
  if (calls.length === 0) throw new Error("the trace shows no call into the script");
  const first = Math.min(...calls.map(({ ts }) => ts));
  const ms = ({ tdur, dur = 0 }: TraceEvent): number => (tdur ?? dur) / 1000;
  const [start, rest] = [
    calls.filter(({ ts }) => ts < first + startMs * 1000),
    calls.filter(({ ts }) => ts >= first + startMs * 1000),
  ];
  return {
    startMs: Math.max(0, ...start.map(ms)),
    restMs: Math.max(0, ...rest.map(ms)),
    aMinuteMs: (rest.reduce((sum, each) => sum + ms(each), 0) * 60) / seconds,
  };
}

async function moveMouse(
  session: CDPSession,
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
