/** What the SDK costs a visitor: the same page with and without it, in turn, in a real Chromium under constant movement. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";
import { median } from "../measure.js";
import type { BenchContext, Figure, Scenario } from "../scenarios/scenario.js";
import { type PageCost, visit } from "./page-run.js";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
/** Length of one visit, in runs of a server: the reports of the first seconds follow faster than later ones. */
const runsPerVisit = 6;

export const sdkCostScenario: Scenario = {
  name: "sdk-cost",
  title: "a page with and without the SDK, mouse always moving",
  readsSessions: false,
  estimateS: ({ pairs, durationMs }) => (2 * pairs * durationMs * runsPerVisit) / 1000 + 70,
  run: async (context) => ({ measured: [], goals: {}, fill: [], figures: await figures(context) }),
};

async function figures({ bed, options, say }: BenchContext): Promise<Figure[]> {
  if (!existsSync(executablePath)) {
    say(`  left out: there is no Chromium at ${executablePath}`);
    return [];
  }
  const site = await openSite(`${bed.verdictd.url}/sdk.js`, bed.keys.siteKey);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    return await measure(browser, site.origin, options.pairs, options.durationMs * runsPerVisit, say);
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
  const minute = await visit(browser, `${origin}/with`, 60_000);
  const aMinute = (costs: PageCost[], of: (cost: PageCost) => number): number =>
    median(costs.map((cost) => (of(cost) * 60) / cost.seconds));
  const both = (what: string, unit: string, of: (cost: PageCost) => number): Figure[] => [
    { what: `${what} a minute, without the SDK`, value: aMinute(without, of), unit },
    { what: `${what} a minute, with the SDK`, value: aMinute(withSdk, of), unit },
  ];
  return [
    ...both("long tasks", "", ({ longTasks }) => longTasks),
    ...both("time in long tasks", "ms", ({ longTaskMs }) => longTaskMs),
    ...both("script time", "ms", ({ scriptMs }) => scriptMs),
    ...both("main thread busy", "ms", ({ taskMs }) => taskMs),
    { what: "SDK script time a mouse move", value: microsAMove(withSdk, without), unit: "µs" },
    { what: "SDK reports in the first minute", value: minute.reports, unit: "" },
    { what: "SDK bytes sent in the first minute (bodies)", value: minute.reportBytes, unit: "B" },
    { what: "mouse moves in that minute", value: minute.moves, unit: "" },
  ];
}

/** Script time above that of the bare page, shared out over the moves: the median of the pairs. Loading is part of it. */
function microsAMove(withSdk: readonly PageCost[], without: readonly PageCost[]): number {
  return median(
    withSdk.map((cost, pair) => {
      const bare = without[pair]!;
      return 1000 * (cost.scriptMs / cost.moves - bare.scriptMs / bare.moves);
    }),
  );
}

function line({ longTasks, scriptMs, seconds, reports, moves }: PageCost): string {
  return `${longTasks} long tasks, ${scriptMs.toFixed(0)} ms script in ${seconds.toFixed(0)} s, ${moves} moves, ${reports} reports`;
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
