/**
 * One visit of a real Chromium to a page, with or without the SDK, under a mouse that never rests: what it cost the page's
 * main thread and the network. Says nothing about whether that is much.
 */
import type { Browser } from "playwright-core";

/** What one visit cost, from the navigation on. */
export interface PageCost {
  readonly seconds: number;
  /** Tasks of 50 ms and more on the main thread, and ms they took together. */
  readonly longTasks: number;
  readonly longTaskMs: number;
  /** Ms of the main thread in scripts, and in all tasks. */
  readonly scriptMs: number;
  readonly taskMs: number;
  /** Reports sent, and bytes of their bodies. */
  readonly reports: number;
  readonly reportBytes: number;
  readonly moves: number;
}

/** A mouse at 125 Hz, as most are. */
const moveEveryMs = 8;

/** Visits `url` and moves the mouse for `durationMs` after the page has loaded. */
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
    await page.goto(url);
    const start = performance.now();
    let moves = 0;
    for (let due = start; due < start + durationMs; due += moveEveryMs) {
      // Each move is waited for; a slow machine gets fewer of them, never a heap.
      const { x, y } = wayPoint(moves++);
      await session.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
      const now = performance.now();
      if (now < due) await new Promise((resolve) => setTimeout(resolve, due - now));
      else due = now;
    }
    const seconds = (performance.now() - start) / 1000;
    const { metrics } = await session.send("Performance.getMetrics");
    const metricMs = (name: string): number => 1000 * (metrics.find((each) => each.name === name)?.value ?? Number.NaN);
    const tasks = (await page.evaluate("longTasks")) as number[];
    return {
      seconds,
      longTasks: tasks.length,
      longTaskMs: tasks.reduce((sum, each) => sum + each, 0),
      scriptMs: metricMs("ScriptDuration"),
      taskMs: metricMs("TaskDuration"),
      reports,
      reportBytes,
      moves,
    };
  } finally {
    await context.close();
  }
}

/** A curve that keeps changing its direction, with fractions as a hand leaves them. */
function wayPoint(step: number): { x: number; y: number } {
  return { x: 400 + 300 * Math.sin(step / 37), y: 300 + 200 * Math.sin(step / 23) };
}
