/**
 * What counting costs beside the answers, on the traffic of a shop and on one with 5,000 values in every dimension, all bands and all actions: the longest
 * stretch for which a write and the end of a minute hold the event loop, the memory of both, and the bytes of an hour in the store. Stretches are processor
 * time, so that other work on the machine is not in them; the collector's is, as far as it stops the thread.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { StoredBaselineHours } from "../../src/alerting/baseline-store.js";
import {
  type JudgedFacts,
  type JudgedKind,
  singleDimensions,
  trafficDimensions,
} from "../../src/contract/traffic/traffic.js";
import { hourMs, minuteMs } from "../../src/contract/values/durations.js";
import { actions, bands } from "../../src/contract/verdicts/verdict.js";
import { IncidentDetector } from "../../src/incidents/detector.js";
import { RequestReporter } from "../../src/incidents/reporter.js";
import { JudgedRecords } from "../../src/recording/judged-records.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { median } from "../measure.js";
import type { TimedRow } from "./timed.js";

const samplesMax = 2000;
const rulesCount = 500;
const startMs = Date.UTC(2026, 0, 1, 12);

/** A number below `count`; small ones are more frequent, as heavy values of a site are. */
const pick = (count: number): number => Math.floor(count * Math.random() ** 2);
const pickOf = <T>(list: readonly T[]): T => list[pick(list.length)]!;

/** What both kinds of traffic have alike. */
const alike = {
  projectId: 1,
  weight: 1,
  sessionToken: null,
  score: 3,
  reason: "",
  isLoggedIn: false,
  impostorOf: "",
  impostorCategory: "",
  verifiedBotCategory: "",
  request: undefined,
  method: "GET",
} as const;

const userAgents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "python-requests/2.32.3",
];
const families = ["Chrome", "Safari", "Firefox", "python-requests"];
const countries = ["DE", "FR", "US", "GB"];

/** A request at a shop with 300 paths; six of ten are people with a session. */
function shopFacts(atMs: number): JudgedFacts {
  const network = `${20 + pick(80)}.${pick(250)}.3`;
  const path = `/products/${pick(300)}`;
  const agent = pick(4);
  const [asn, country] = [3320 + pick(200), pickOf(countries)];
  const isPerson = Math.random() < 0.6;
  return {
    ...alike,
    atMs,
    subject: isPerson ? "session" : "request",
    band: isPerson ? "likely_human" : pickOf(bands),
    action: isPerson ? "allow" : pickOf(["allow", "block", "challenge"] as const),
    detectionIds: isPerson ? [] : [100101 + pick(20)],
    rule: null,
    values: {
      path,
      host: "shop.example",
      ip: `${network}.${pick(20)}`,
      network: `${network}.0/24`,
      asn: String(asn),
      country,
      user_agent_family: families[agent]!,
      declared_bot: "",
      verified_bot: "",
      agent: "",
      rule: "",
    },
    network: { country, asn, asName: `An access provider ${asn}` },
    path,
    userAgent: userAgents[agent]!,
  };
}

/** A request whose every value is one of 5,000. */
function hostileFacts(atMs: number): JudgedFacts {
  const number = (): number => pick(5000);
  const values = Object.fromEntries(singleDimensions.map((name) => [name, `${name}-${number()}.example.com`]));
  return {
    ...alike,
    atMs,
    subject: Math.random() < 0.5 ? "session" : "request",
    band: pickOf(bands),
    action: pickOf(actions),
    detectionIds: [number(), number()],
    rule: { id: 1 + pick(rulesCount), name: "a rule" },
    values: values as JudgedFacts["values"],
    network: { country: "DE", asn: number(), asName: `An access provider ${number()}` },
    path: `/products/${number()}/reviews`,
    userAgent: `Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${number()}.0.0.0 Safari/537.36`,
  };
}

/** Traffic of an hour; `minutes` of it are counted, which is enough for all values to have come. */
interface Traffic {
  readonly name: string;
  readonly minutes: number;
  readonly requestsOfMinute: number;
  readonly factsOf: (atMs: number) => JudgedFacts;
}

const shop: Traffic = { name: "a shop", minutes: 10, requestsOfMinute: 2000, factsOf: shopFacts };
const hostile: Traffic = { name: "5,000 values", minutes: 10, requestsOfMinute: 6000, factsOf: hostileFacts };

/** Processor time of the main thread so far, ms. */
function mainThreadMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

/** What a piece of work took of the main thread's processor time, ms. */
interface Held {
  /** The most between two turns of the event loop: others wait so long. */
  readonly longest: number;
  /** Turns that only wait are in it. */
  readonly whole: number;
}

async function held(work: () => Promise<unknown>): Promise<Held> {
  let isOver = false;
  const first = mainThreadMs();
  const done = work().finally(() => {
    isOver = true;
  });
  let longest = mainThreadMs() - first;
  let last = first + longest;
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = mainThreadMs();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await done;
  return { longest, whole: last - first };
}

function heldRows(what: string, times: readonly Held[]): TimedRow[] {
  const longest = times.map((each) => each.longest);
  return [
    [`${what}, longest stretch, ms, median`, median(longest)],
    [`${what}, longest stretch, ms, worst of ${times.length}`, Math.max(...longest)],
  ];
}

/** MiB in use, of the heap and of buffers. */
function usedMebibytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

/** KiB of a table's pages. */
function kibibytesOf(table: { getStats(): unknown }): number {
  const stats = table.getStats() as Record<string, number>;
  const pages = stats["treeBranchPageCount"]! + stats["treeLeafPageCount"]! + stats["overflowPages"]!;
  return (stats["pageSize"]! * pages) / 1024;
}

/** Stretches, memory and disk of both kinds of traffic, each on a store of its own. */
export async function countingBench(): Promise<TimedRow[]> {
  const rows: TimedRow[] = [];
  // The first one is for the compiler.
  for (const traffic of [null, shop, hostile]) {
    const folder = mkdtempSync(join(tmpdir(), "verdictd-bench-counting-"));
    const store = openStore(folder);
    try {
      const counted = traffic ?? { ...shop, minutes: 2 };
      const found = [...(await recordsRows(store, counted)), ...(await detectorRows(store, counted))];
      if (traffic !== null) rows.push(...found.map(([what, value]): TimedRow => [`${traffic.name}: ${what}`, value]));
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return rows;
}

const kindsOfRows = {
  "counts by value": trafficDimensions,
  crawlers: ["crawlers"],
  [`${samplesMax} samples`]: ["samples"],
  [`hits of ${rulesCount} rules by minute`]: ["rule_minutes"],
} as const satisfies Record<string, readonly JudgedKind[]>;

async function recordsRows(store: Store, { minutes, requestsOfMinute, factsOf }: Traffic): Promise<TimedRow[]> {
  const empty = kibibytesOf(store.judged);
  const before = usedMebibytes();
  let nowMs = startMs;
  const records = new JudgedRecords(store, () => nowMs, samplesMax);
  const times: Held[] = [];
  for (let minute = 0; minute < minutes; minute++, nowMs += minuteMs) {
    for (let count = 0; count < requestsOfMinute; count++) {
      const facts = factsOf(nowMs);
      records.onJudged(facts);
      if (facts.rule !== null) records.countRules(1, [facts.rule], facts.subject, nowMs);
    }
    times.push(await held(() => records.flush()));
  }
  const mebibytes = usedMebibytes() - before;
  const rows: TimedRow[] = [];
  for (const [what, kinds] of Object.entries(kindsOfRows)) {
    const hour = hourOf(startMs);
    const stored = await Promise.all(kinds.map((kind) => store.recorded.judged.read(1, kind, hour, hour + 1)));
    rows.push([`an hour of ${what}, KiB`, stored.flat().reduce((sum, { bytes }) => sum + bytes.length, 0) / 1024]);
  }
  return [
    ...heldRows("a write of counts and samples", times),
    ["counts and samples of an hour, in memory, MiB", mebibytes],
    ...rows,
    ["all rows of an hour, in pages of the store, KiB", kibibytesOf(store.judged) - empty],
  ];
}

async function detectorRows(store: Store, { minutes, requestsOfMinute, factsOf }: Traffic): Promise<TimedRow[]> {
  const empty = kibibytesOf(store.baselines);
  const before = usedMebibytes();
  const work = new LongWork();
  let nowMs = startMs;
  const detector = new IncidentDetector({
    hours: new StoredBaselineHours(store),
    begin: () => work.begin(),
    onFailure: (error) => {
      throw error;
    },
    nowMs,
  });
  const times: Held[] = [];
  const reporter = new RequestReporter();
  for (let minute = 0; minute < minutes; minute++, nowMs += minuteMs) {
    for (let count = 0; count < requestsOfMinute; count++) {
      // Evenly over the minute: so each of them is told.
      reporter.onJudged(factsOf(nowMs + Math.floor((count * minuteMs) / requestsOfMinute)));
    }
    detector.take(reporter.take());
    times.push(await held(() => detector.endMinute(nowMs + minuteMs)));
  }
  const mebibytes = usedMebibytes() - before;
  await detector.endMinute(startMs + hourMs);
  const rows: TimedRow[] = [
    ["the end of a minute, all of it, ms", median(times.map(({ whole }) => whole))],
    ...heldRows("the end of a minute", times),
    ["the detector with all that it follows, MiB", mebibytes],
    ["an hour of baselines, in pages of the store, KiB", kibibytesOf(store.baselines) - empty],
  ];
  await detector.close();
  return rows;
}
