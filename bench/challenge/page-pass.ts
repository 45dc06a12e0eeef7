/** How long a visitor waits for a challenge, in a real Chromium on a phone-sized page, fast and slowed down, beside what a program can do. */
import { pbkdf2Sync } from "node:crypto";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { workOf } from "../../src/challenge/work.js";
import { longRuns, median } from "../measure.js";
import type { BenchContext, Figure, Scenario } from "../scenarios/scenario.js";
import { cpuSeconds } from "../servers/process-usage.js";
import { type ChallengeSite, meanCounters, openChallengeSite } from "./site.js";
import { rendererPids, slowRenderers } from "./slow-renderer.js";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
/** `difficulty` normal, of a session that scores no higher than the threshold. */
const work = workOf("normal", "likely_automated", 20, 30);

/** The part by which the time that a slowed page ran may differ from what it was to be. */
const shareFault = 0.15;
const triesMax = 8;

interface Visit {
  readonly ms: number;
  /** Of all threads of the page; null where it can't be known. */
  readonly cpuMs: number | null;
}

/** A way to be slow. */
interface Speed {
  readonly name: string;
  /** All threads of the page; 1: as fast as the machine. */
  readonly page: number;
  /** The main thread alone, as DevTools does it. */
  readonly mainThread: number;
  /** Whether there is Web Crypto: on plain HTTP there is none. */
  readonly webCrypto: boolean;
}

const speeds: readonly Speed[] = [
  { name: "at full speed", page: 1, mainThread: 1, webCrypto: true },
  { name: "at a quarter of the speed", page: 4, mainThread: 1, webCrypto: true },
  { name: "at a sixth of the speed", page: 6, mainThread: 1, webCrypto: true },
  { name: "DevTools' 4x throttling", page: 1, mainThread: 4, webCrypto: true },
  { name: "DevTools' 6x throttling", page: 1, mainThread: 6, webCrypto: true },
  { name: "without Web Crypto, at full speed", page: 1, mainThread: 1, webCrypto: false },
];

export const challengePassScenario: Scenario = {
  name: "challenge-pass",
  title: "a phone-sized page passes a challenge of difficulty normal",
  isExtra: true,
  readsSessions: false,
  estimateS: (options) => longRuns(options) * speeds.length * 3 + 10,
  run: async (context) => ({ measured: [], goals: {}, fill: [], figures: await figures(context) }),
};

async function figures({ bed, options, say }: BenchContext): Promise<Figure[]> {
  if (!existsSync(executablePath)) {
    say(`  left out: there is no Chromium at ${executablePath}`);
    return [];
  }
  const site = await openChallengeSite(bed.verdictd.url, bed.keys.siteKey, work);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    return await measure(browser, site, longRuns(options), say);
  } finally {
    await browser.close();
    site.close();
  }
}

async function measure(
  browser: Browser,
  site: ChallengeSite,
  runs: number,
  say: (line: string) => void,
): Promise<Figure[]> {
  // The first visit of a browser is slower than all others.
  await pass(browser, site, speeds[0]!);
  const visits = new Map<Speed, Visit[]>(speeds.map((speed) => [speed, []]));
  const native: number[] = [];
  for (let run = 0; run < runs; run++) {
    native.push(nativeCounters());
    for (const speed of speeds) {
      const visit = await passEvenly(browser, site, speed);
      visits.get(speed)!.push(visit);
      say(`  ${speed.name}: ${visit.ms.toFixed(0)} ms, ${visit.cpuMs?.toFixed(0)} ms of processor time`);
    }
  }
  const timeOf = (speed: Speed): number => median(visits.get(speed)!.map(({ ms }) => ms));
  const fast = speeds[0]!;
  const cpuMs = median(visits.get(fast)!.map((visit) => visit.cpuMs ?? Number.NaN));
  const pageCounters = (meanCounters(work) * 1000) / cpuMs;
  const program = median(native);
  return [
    ...speeds.map((speed) => ({
      what: `time to pass a challenge, ${speed.name}`,
      value: timeOf(speed),
      unit: "ms",
    })),
    { what: "processor time of the page to pass a challenge", value: cpuMs, unit: "ms" },
    ...speeds.slice(1).map((speed) => ({
      what: `time to pass, ${speed.name}, to that at full speed`,
      value: timeOf(speed) / timeOf(fast),
      unit: "×",
    })),
    { what: "counters tried to pass it", value: meanCounters(work), unit: "" },
    { what: "counters of a challenge a second of processor time, in the page", value: pageCounters, unit: "/s" },
    { what: "counters of a challenge a second of processor time, in a program", value: program, unit: "/s" },
    {
      what: "a program's counters a second of processor time, to the page's",
      value: program / pageCounters,
      unit: "×",
    },
  ];
}

/** The median's visits: tried again where a page could not be slowed down evenly. */
async function passEvenly(browser: Browser, site: ChallengeSite, speed: Speed): Promise<Visit> {
  for (let tries = 0; tries < triesMax; tries++) {
    const visit = await pass(browser, site, speed);
    if (visit !== null) return visit;
  }
  throw new Error(`${speed.name}: the machine is too busy to slow a page down evenly`);
}

/** From the call to the answer: loading `challenge.js`, asking, solving, sending. Null where the page was not as slow as it was to be. */
async function pass(browser: Browser, site: ChallengeSite, speed: Speed): Promise<Visit | null> {
  const context = await browser.newContext({
    viewport: { width: 360, height: 640 },
    deviceScaleFactor: 3,
    isMobile: true,
    hasTouch: true,
  });
  try {
    if (!speed.webCrypto) await context.addInitScript("delete Crypto.prototype.subtle; delete window.Worker;");
    const page = await context.newPage();
    await page.goto(site.origin);
    await page.evaluate("window.verdictd.ready");
    if (speed.mainThread > 1) {
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: speed.mainThread });
    }
    const solved = site.solved();
    const pids = await rendererPids(browser);
    const cpuBefore = cpuSeconds(pids);
    const slow = speed.page > 1 ? slowRenderers(pids, speed.page) : null;
    const start = performance.now();
    const hasPassed = await page.evaluate("window.verdictd.challenge()");
    const ms = performance.now() - start;
    slow?.stop();
    const cpuAfter = cpuSeconds(pids);
    if (hasPassed !== true || site.solved() !== solved + 1) throw new Error(`not passed, ${speed.name}`);
    // A machine that is busy with others can't slow a page down evenly: such a visit says nothing.
    if (slow && Math.abs(slow.share() * speed.page - 1) > shareFault) return null;
    return { ms, cpuMs: cpuBefore === null || cpuAfter === null ? null : 1000 * (cpuAfter - cpuBefore) };
  } finally {
    await context.close();
  }
}

/** Counters that a program without a browser tries in a second of processor time: what an attacker has, for each core. */
function nativeCounters(): number {
  const password = Buffer.alloc(20);
  const salt = Buffer.alloc(16, 1);
  const count = meanCounters(work);
  const start = process.cpuUsage();
  for (let counter = 0; counter < count; counter++) {
    password.writeUInt32BE(counter, 16);
    pbkdf2Sync(password, salt, work.cost, 32, "sha256");
  }
  const { user, system } = process.cpuUsage(start);
  return (count * 1e6) / (user + system);
}
