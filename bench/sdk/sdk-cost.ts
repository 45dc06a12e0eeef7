/** What the SDK costs a visitor: the same page with and without it, in turn, in a real Chromium under constant movement. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";
import { longRuns, median } from "../measure.js";
import { atMost, type BenchContext, type Figure, type Scenario } from "../scenarios/scenario.js";
import { readVisits } from "../traffic/visits.js";
import { type PageCost, type PartCost, type ScriptTasks, traceScript, visit } from "./page-run.js";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
/** Length of one visit, in runs of a server: the reports of the first seconds follow faster than later ones. */
const runsPerVisit = 12;

export const sdkCostScenario: Scenario = {
  name: "sdk-cost",
  title: "a page with and without the SDK, mouse always moving",
  isExtra: true,
  readsSessions: false,
  estimateS: (options) => (2 * longRuns(options) * options.durationMs * runsPerVisit) / 1000 + 70,
  run: async (context) => ({ measured: [], goals: {}, fill: [], figures: await figures(context) }),
};

async function figures({ bed, options, say }: BenchContext): Promise<Figure[]> {
  if (!existsSync(executablePath)) {
    say(`  left out: there is no Chromium at ${executablePath}`);
    return [];
  }
  const site = await openSite(`${bed.verdictd.url}/sdk.js`, bed.keys.siteKey);
  // As a person's, which does not say that it is driven: a driven one reports in its first task.
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-blink-features=AutomationControlled"],
    ignoreDefaultArgs: ["--enable-automation"],
  });
  try {
    return await measure(browser, site.origin, longRuns(options), options.durationMs * runsPerVisit, say);
  } finally {
    await browser.close();
    site.close();
  }
}

async function measure(
  browser: Browser,
  origin: string,
  pairs: number,
  durationMs: number,
  say: (line: string) => void,
): Promise<Figure[]> {
  const without: PageCost[] = [];
  const withSdk: PageCost[] = [];
  // The first visit of a browser is slower than all others.
  await visit(browser, `${origin}/with`, 1000);
  for (let pair = 0; pair < pairs; pair++) {
    without.push(await visit(browser, `${origin}/without`, durationMs));
    withSdk.push(await visit(browser, `${origin}/with`, durationMs));
    say(`  without: ${line(without.at(-1)!)}; with: ${line(withSdk.at(-1)!)}`);
  }
  if (withSdk.some(({ reports }) => reports === 0)) throw new Error("sdk-cost: a page with the SDK reported nothing");
  const minute = await visit(browser, `${origin}/with`, 58_000);
  const tasks: ScriptTasks[] = [];
  for (let run = 0; run < tracedVisits; run++) {
    tasks.push(await traceScript(browser, `${origin}/with`, ownScripts, slowdown, durationMs));
  }
  const both = (what: string, unit: string, of: (cost: PageCost) => number): Figure[] => [
    { what: `${what}, without the SDK`, value: mean(without.map(of)), unit },
    { what: `${what}, with the SDK`, value: mean(withSdk.map(of)), unit },
  ];
  const aMinute =
    (of: (cost: PartCost) => number) =>
    ({ rest }: PageCost): number =>
      (of(rest) * 60) / rest.seconds;
  const ofMinute = (of: (cost: PartCost) => number): number => of(minute.start) + of(minute.rest);
  return [
    ...both("long tasks while a page starts", "", ({ start }) => start.longTasks),
    ...both("script time while a page starts", "ms", ({ start }) => start.scriptMs),
    ...both(
      "long tasks a minute, once it has started",
      "",
      aMinute(({ longTasks }) => longTasks),
    ),
    ...both(
      "script time a minute, once it has started",
      "ms",
      aMinute(({ scriptMs }) => scriptMs),
    ),
    ...both(
      "main thread busy a minute, once it has started",
      "ms",
      aMinute(({ taskMs }) => taskMs),
    ),
    { what: "SDK script time a mouse move", value: microsAMove(withSdk, without), unit: "µs" },
    atMost(
      `longest task of the SDK, processor ${slowdown} times slower`,
      median(tasks.map(({ restMs }) => restMs)),
      "ms",
      16,
    ),
    atMost(
      `longest task of the SDK while a page starts, processor ${slowdown} times slower`,
      median(tasks.map((each) => each.startMs)),
      "ms",
      16,
    ),
    {
      what: `SDK script time a minute, processor ${slowdown} times slower`,
      value: median(tasks.map(({ aMinuteMs }) => aMinuteMs)),
      unit: "ms",
    },
    atMost("SDK bytes sent a minute of a visit as recorded (bodies)", recordedBytesAMinute(), "B", 10_240),
    { what: "long tasks in the first minute with the SDK", value: ofMinute(({ longTasks }) => longTasks), unit: "" },
    { what: "time in them", value: ofMinute(({ longTaskMs }) => longTaskMs), unit: "ms" },
    { what: "mouse moves in that minute", value: ofMinute(({ moves }) => moves), unit: "" },
    { what: "SDK reports in that minute", value: minute.reports, unit: "" },
    { what: "SDK bytes sent in that minute (bodies)", value: minute.reportBytes, unit: "B" },
  ];
}

/** A phone of some years ago beside a desktop. */
const slowdown = 4;
const tracedVisits = 3;
const ownScripts = /\/sdk(?:-probes)?\.js$/;

/** Once a visit has begun: what a page's first report says is said once. The median of the recorded visits. */
function recordedBytesAMinute(): number {
  return median(
    readVisits().map(({ seconds, batches }) => {
      const later = batches.slice(1).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      return (later * 60) / seconds;
    }),
  );
}

/** Means, not medians: what happens in every second visit must not vanish. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** Script time above that of the bare page, shared out over the moves, once the page has started: the median of the pairs. */
function microsAMove(withSdk: readonly PageCost[], without: readonly PageCost[]): number {
  return median(
    withSdk.map(({ rest }, pair) => {
      const bare = without[pair]!.rest;
      return 1000 * (rest.scriptMs / rest.moves - bare.scriptMs / bare.moves);
    }),
  );
}

function line({ start, rest, reports }: PageCost): string {
  return `${start.longTasks} long tasks and ${start.scriptMs.toFixed(0)} ms script at its start, then ${rest.longTasks} and ${rest.scriptMs.toFixed(0)} ms in ${rest.seconds.toFixed(0)} s, ${reports} reports`;
}

/** Serves the two pages, which differ in the SDK's tag alone. The page notes its own long tasks. */
async function openSite(script: string, siteKey: string): Promise<{ origin: string; close(): void }> {
  const watch = `window.longTasks = []; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longTasks.push(entry.duration);
  }).observe({ type: "longtask", buffered: true });`;
  const text = "<p>A page to read, with a <a href='#more'>link</a> and a <button>button</button>.</p>".repeat(40);
  const page = (tag: string): string =>
    `<!doctype html><title>Page</title><script>${watch}</script>${tag}<form><input name="q"></form>${text}`;
  const pages: Readonly<Record<string, string>> = {
    "/with": page(`<script async src="${script}" data-site-key="${siteKey}"></script>`),
    "/without": page(""),
  };
  const server = createServer((request, response) => {
    const body = pages[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200, { "Content-Type": "text/html; charset=utf-8" });
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
