/**
 * Replays of a recorded person by a driver: the project has seen the person (the recording is posted as the SDK would have sent
 * it), then a hidden browser plays what a page's own listener would have recorded of it, a move a frame, at some pace.
 */
import { alterations } from "../../altered-traces.js";
import { batchesOf, dataFolder, readTraces, type Trace, type TraceRow } from "../../trace-sessions.js";
import { ordinaryUserAgent } from "../chromium.js";
import type { CrossSessionCounts, LiveCase } from "../measurement.js";
import { pause } from "../pause.js";
import type { SiteVisit } from "../site.js";
import { type DrivenTool, packageTools } from "./driven-tools.js";
import { chromiumHeaders, claimedVersion, nodePost } from "./http-clients.js";

/** Of each recording so much is played, ms at its own pace, longer pauses cut to this; what has fewer moves is left out. */
const playedMs = 12_000;
const pauseMsMax = 400;
const movesMin = 200;
const sources = ["barkworth", "balabit"];
/** The part of the page that a recording must fit into, px. */
const page = { width: 1240, height: 690, margin: 15 };
const openMsMax = 20_000;
const lastBatchMs = 1500;
/**
 * Rows share a store, so each has every third recording to itself; and all are as a mirror shows them, since people in real windows play some
 * of them as they are.
 */
const paces = [1, 0.7, 1.5] as const;
type Pace = (typeof paces)[number];

const atFrames = alterations.find(({ name }) => name === "60 frames a second")!.alter;

/** Moves of the first seconds, pauses cut short, moved into the page; null when they are too few or don't fit. */
function played(trace: Trace): Trace | null {
  const moves: TraceRow[] = [];
  let [before, at] = [0, 0];
  for (const [t, kind, x, y] of trace.events) {
    if (kind !== "m") continue;
    at += Math.min(pauseMsMax, t - before);
    before = t;
    if (at > playedMs) break;
    moves.push([at, kind, x, y]);
  }
  const [xs, ys] = [moves.map((row) => row[2]), moves.map((row) => row[3])];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  if (moves.length < movesMin || Math.max(...xs) - left > page.width || Math.max(...ys) - top > page.height)
    return null;
  const right = Math.max(...xs);
  const events = moves.map(([t, , x, y]): TraceRow => {
    return [t, "m", right - x + page.margin, y - top + page.margin];
  });
  return { ...trace, events };
}

/** Recordings of people at work that can be played, the sources by turns; read once. */
let playable: readonly Trace[] | null = null;

function readPlayable(): readonly Trace[] {
  const folder = dataFolder();
  if (folder === null) return [];
  const traces = ["dev", "train"]
    .flatMap((split) => readTraces(folder, split))
    .filter(({ label }) => label === "human");
  const bySource = sources.map((source) =>
    traces.flatMap((trace) => (trace.source === source ? (played(trace) ?? []) : [])),
  );
  const longest = Math.max(...bySource.map((each) => each.length));
  return Array.from({ length: longest }, (_, index) => bySource.flatMap((each) => each[index] ?? [])).flat();
}

/** Those that are played at this pace. */
function recordings(pace: Pace): Trace[] {
  playable ??= readPlayable();
  return playable.filter((_, index) => index % paces.length === paces.indexOf(pace));
}

/** Posts the recording as a session of its own. */
async function showOriginal(recording: Trace, visit: SiteVisit): Promise<void> {
  const userAgent = ordinaryUserAgent(claimedVersion);
  let token: string | null = null;
  for (const [index, events] of batchesOf(recording, "sdk", [["page", { path: "/lamps" }]]).entries()) {
    const body = JSON.stringify({ session_token: token, events });
    await nodePost(
      visit.eventsUrl,
      {
        ...chromiumHeaders(visit.url),
        "User-Agent": userAgent,
        "Content-Type": "application/json",
        "X-Service-Site-Key": visit.siteKey,
        "Idempotency-Key": `${recording.id}-${visit.url}-${index}`.slice(-255),
        "Content-Length": String(Buffer.byteLength(body)),
      },
      body,
    );
    token ??= visit.token;
  }
}

async function playReplay(tool: DrivenTool, pace: Pace, around: CrossSessionCounts): Promise<void> {
  const recording = recordings(pace)[around.run];
  if (recording === undefined) throw new Error(`no recording for run ${around.run + 1}`);
  await showOriginal(recording, around.visit);
  const opened = await tool.open(around.display);
  try {
    await opened.page.open(around.visit.url);
    await around.visit.until(({ place }) => place !== null, "the page", openMsMax);
    const startedAt = performance.now();
    for (const [t, , x, y] of atFrames(recording).events) {
      await pause(t * pace - (performance.now() - startedAt));
      await opened.page.move(x, y);
    }
    await pause(lastBatchMs);
  } finally {
    await opened.close();
  }
}

const players = packageTools.filter((tool) => tool.name === "Playwright, automation hidden");

/** A row a pace. */
export const replayCases: readonly LiveCase[] = players.flatMap((tool) =>
  paces.map(
    (pace): LiveCase => ({
      goal: "replayed",
      tool: `${tool.name}, headless`,
      behavior: `a person's recording, a move a frame, in ${pace} times the time`,
      needsDisplay: false,
      missing: () => tool.missing() ?? (dataFolder() === null ? "the recorded traces are missing" : null),
      runsMax: () => recordings(pace).length,
      carryOut: (around) => playReplay(tool, pace, around),
    }),
  ),
);
