/**
 * Records what the SDK sends from real browsers, for the bench: `node dist/scripts/record-traffic.js [--seconds N] [--seed N]` visits the demo
 * page in windows of Chromium and Firefox, moves their mouse, wheel and keys by the operating system, and writes the batches to
 * `bench/traffic/visits.jsonl.gz`. Talks to loopback only; everything that it starts, it ends.
 */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { recordedBody, type Visit, visitsFile, withheldHeaders } from "../bench/traffic/visits.js";
import { endChild, startChild } from "./live/child-process.js";
import { missingProgram, programs, quietArgs } from "./live/chromium.js";
import { type Display, openDisplay, screenSize } from "./live/display.js";
import { type Pastime, Person, type Places } from "./live/pastimes.js";
import { pause } from "./live/pause.js";
import { seededRandom } from "./live/randomness.js";
import { scratchFolder } from "./live/scratch-folder.js";
import { startService } from "./live/service.js";
import { firefoxProfile, openHand } from "./live/tools/window.js";

const defaultSeconds = 100;
/** From the start of the browser to the SDK's first batch, at most. */
const openMsMax = 60_000;
/** Batches are at most fifteen seconds late: where the verdict stands. */
const lastBatchMs = 15_500;

/** A screen without a graphics processor would be drawn in software, which few people's are; Chromium has no WebGL here either. */
const noWebgl = 'user_pref("webgl.disabled", true);\n';

/** Visitors at a time. */
const jobs = 2;

/** Everybody who is recorded. */
const visitors: readonly { readonly browser: Visit["browser"]; readonly pastime: Pastime }[] = [
  { browser: "chromium", pastime: "reads" },
  { browser: "chromium", pastime: "draws" },
  { browser: "chromium", pastime: "writes" },
  { browser: "chromium", pastime: "looks around" },
  { browser: "firefox", pastime: "reads" },
  { browser: "firefox", pastime: "looks around" },
];

interface Recorder {
  readonly origin: string;
  readonly batches: { readonly atMs: number; readonly body: string }[];
  headers: Visit["headers"];
  /** When the first batch came; null before. */
  startMs: number | null;
  /** Pixels between the top of the window and that of the page; null until the SDK has said both sizes. */
  frameHeight: number | null;
  close(): void;
}

/** Stands between a browser and verdictd, and keeps the batches that verdictd accepted. */
async function openRecorder(target: string): Promise<Recorder> {
  const server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming);
    const atMs = performance.now();
    const sent = request(
      target + incoming.url,
      { method: incoming.method, headers: incoming.headers },
      async (answer) => {
        const answered = await bodyOf(answer);
        response.writeHead(answer.statusCode ?? 502, answer.headers).end(answered);
        if (incoming.method !== "POST" || incoming.url !== "/v1/events" || answer.statusCode !== 202) return;
        recorder.startMs ??= atMs;
        recorder.frameHeight ??= frameHeightIn(recorder.batches.map((batch) => batch.body).join() + body.toString());
        recorder.batches.push({ atMs: Math.round(atMs - recorder.startMs), body: recordedBody(body.toString()) });
        recorder.headers = linesOf(incoming).filter(([name]) => !withheldHeaders.has(name.toLowerCase()));
      },
    );
    sent.on("error", () => response.destroy());
    sent.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const recorder: Recorder = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches: [],
    headers: [],
    startMs: null,
    frameHeight: null,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return recorder;
}

/** By what the SDK says of the window. */
function frameHeightIn(bodies: string): number | null {
  const outer = /"outer_h":(\d+)/.exec(bodies)?.[1];
  const inner = /"inner_h":(\d+)/.exec(bodies)?.[1];
  return outer === undefined || inner === undefined ? null : Number(outer) - Number(inner);
}

function linesOf({ rawHeaders }: IncomingMessage): [string, string][] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]!]] : []));
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Where the demo page has its things, in pixels of the page. */
async function placesOf(origin: string): Promise<Places> {
  const browser = await chromium.launch({ executablePath: programs.chromium, args: [...quietArgs] });
  try {
    const page = await browser.newPage({ viewport: screenSize });
    await page.goto(`${origin}/demo`);
    const places: Record<string, readonly [number, number, number, number]> = {};
    for (const [name, selector] of Object.entries({
      pad: "#pad",
      field: ".field",
      name: "input[name=name]",
      why: "textarea",
      send: "button[type=submit]",
    })) {
      const { x, y, width, height } = (await page.locator(selector).boundingBox())!;
      places[name] = [x, y, width, height];
    }
    return places;
  } finally {
    await browser.close();
  }
}

function below(places: Places, height: number): Places {
  return Object.fromEntries(
    Object.entries(places).map(([name, [left, top, ...size]]) => [name, [left, top + height, ...size]]),
  );
}

function switchesOf(browser: Visit["browser"], profile: string, url: string): string[] {
  const { width, height } = screenSize;
  if (browser === "firefox") {
    return [
      "--no-remote",
      "--profile",
      firefoxProfile(profile, noWebgl),
      "--width",
      `${width}`,
      "--height",
      `${height}`,
      url,
    ];
  }
  const size = `--window-size=${width},${height}`;
  return [...quietArgs, "--window-position=0,0", size, `--user-data-dir=${profile}`, url];
}

async function record(
  { browser, pastime }: (typeof visitors)[number],
  display: Display,
  target: string,
  places: Places,
  seconds: number,
  seed: number,
): Promise<Visit> {
  const recorder = await openRecorder(target);
  const profile = await scratchFolder();
  const env = { ...process.env, DISPLAY: display.name };
  const program = startChild(programs[browser], switchesOf(browser, profile.path, `${recorder.origin}/demo`), { env });
  const hand = openHand(display);
  try {
    const deadline = performance.now() + openMsMax;
    while (recorder.startMs === null || recorder.frameHeight === null) {
      if (performance.now() > deadline) throw new Error(`${browser}: no size within ${openMsMax / 1000} s`);
      await pause(50);
    }
    const person = new Person(hand, below(places, recorder.frameHeight), seededRandom(seed));
    await person.pass(pastime, recorder.startMs + seconds * 1000);
    await pause(lastBatchMs);
    const { headers, batches } = recorder;
    return { browser, pastime, seconds: Math.round((performance.now() - recorder.startMs) / 1000), headers, batches };
  } finally {
    await hand.close();
    await endChild(program);
    await profile.erase();
    recorder.close();
  }
}

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const seconds = Number(values.seconds ?? defaultSeconds);
const seed = Number(values.seed ?? 1);
if (!(seconds >= 5) || !Number.isInteger(seed)) throw new Error("--seconds wants 5 or more, --seed a whole number");
const missing = missingProgram("chromium", "firefox", "Xvfb", "xdotool");
if (missing !== null) throw new Error(missing);
const service = await startService();
let places: Places = {};

async function recordOne(visitor: (typeof visitors)[number], index: number): Promise<Visit> {
  const display = await openDisplay();
  try {
    const visit = await record(visitor, display, service.origin, places, seconds, seed + index);
    console.error(summaryOf(visit));
    return visit;
  } finally {
    await display.close();
  }
}

function summaryOf({ browser, pastime, seconds, batches }: Visit): string {
  const bytes = batches.reduce((sum, { body }) => sum + body.length, 0);
  const events = batches.flatMap(({ body }) => (JSON.parse(body) as { events: { type: string }[] }).events);
  const counts = [...new Set(events.map(({ type }) => type))].map(
    (type) => `${events.filter((event) => event.type === type).length} ${type}`,
  );
  return `${browser} ${pastime}: ${seconds} s, ${batches.length} batches, ${bytes} bytes: ${counts.join(", ")}`;
}

try {
  places = await placesOf(service.origin);
  const visits: Visit[] = [];
  for (let first = 0; first < visitors.length; first += jobs) {
    const some = visitors.slice(first, first + jobs);
    visits.push(...(await Promise.all(some.map((each, index) => recordOne(each, first + index)))));
  }
  writeFileSync(visitsFile, gzipSync(`${visits.map((visit) => JSON.stringify(visit)).join("\n")}\n`, { level: 9 }));
} finally {
  await service.stop();
}
