/** The list of what the live measurement runs: every tool in every mode, behaving in every manner that its goal asks for. */
import { type BehaviorName, behaviors } from "./behaviors.js";
import { missingProgram } from "./chromium.js";
import { losesClearance } from "./clearance.js";
import type { DrivenPage } from "./driven-page.js";
import { type CrossSessionCounts, type GoalName, goals, type LiveCase } from "./measurement.js";
import { pause } from "./pause.js";
import { aidCases } from "./tools/aids.js";
import { chromedriverTool } from "./tools/chromedriver.js";
import { type DrivenTool, packageTools } from "./tools/driven-tools.js";
import { httpClientCases } from "./tools/http-clients.js";
import { ownPathCases } from "./tools/own-paths.js";
import { visitInRealWindow, visitUnderWayland } from "./tools/real-window.js";
import { replayCases } from "./tools/replays.js";
import {
  type Keystroke,
  missingTraces,
  type PersonRecording,
  personSources,
  readPersonRecordings,
  readTyping,
} from "./traces.js";

/** Longest visit, browser start and end not counted, and wait for the first report. Most take a few seconds; a machine may be busy with other tests. */
const visitMsMax = 90_000;
const firstReportMsMax = 30_000;
/** Batches are at most a second late. */
const lastBatchMs = 1300;

const behaviorsOf: Record<"plain" | "hardened", readonly (readonly [GoalName, BehaviorName])[]> = {
  plain: [
    ["unmodified", "documented calls"],
    ["unmodified", "straight steps"],
  ],
  hardened: [
    ["hardened", "straight steps"],
    ["hardened", "script clicks"],
    ["humanized", "ghost-cursor"],
    ["humanized", "Bezier paths"],
  ],
};

type Act = (page: DrivenPage, around: CrossSessionCounts) => Promise<void>;

/** Opens the visit's page, and acts on it once the SDK has reported. */
async function visitDriven(tool: DrivenTool, around: CrossSessionCounts, act: Act): Promise<void> {
  const { visit, display } = around;
  const opened = await tool.open(display);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the visit took more than ${visitMsMax} ms`)), visitMsMax);
  });
  const whole = async () => {
    await opened.page.open(visit.url);
    await visit.until(({ token }) => token !== null, "the first report", firstReportMsMax);
    await act(opened.page, around);
    await pause(lastBatchMs);
  };
  try {
    await Promise.race([whole(), late]);
  } finally {
    clearTimeout(timer);
    await opened.close();
  }
}

function drivenCases(tool: DrivenTool): LiveCase[] {
  return [false, true].flatMap((hasWindow) =>
    behaviorsOf[tool.isHardened ? "hardened" : "plain"].map(
      ([goal, behavior]): LiveCase => ({
        goal,
        tool: `${tool.name}, ${hasWindow ? "in a window" : "headless"}`,
        behavior,
        needsDisplay: hasWindow,
        missing: () => tool.missing() ?? (hasWindow ? missingProgram("Xvfb") : null),
        carryOut: (around) => visitDriven(tool, around, (page, { random }) => behaviors[behavior](page, random)),
      }),
    ),
  );
}

/** Passes verdictd's challenge first, as any real browser can, and then acts. */
function clearedCases(tool: DrivenTool): LiveCase[] {
  if (!tool.isHardened) return [];
  const act: Act = (page, around) =>
    losesClearance(around, page, () => behaviors["straight steps"](page, around.random));
  return [
    {
      goal: "cleared",
      tool: `${tool.name}, headless`,
      behavior: "challenge, then straight steps",
      needsDisplay: false,
      missing: tool.missing,
      carryOut: (around) => visitDriven(tool, around, act),
    },
  ];
}

interface Recordings {
  readonly persons: ReadonlyMap<string, readonly PersonRecording[]>;
  readonly typing: readonly Keystroke[][];
}

const missingHand = () => missingProgram("chromium", "Xvfb", "xdotool") ?? missingTraces();

function handCases(): LiveCase[] {
  let read: Recordings | null = null;
  const recordings = () => {
    read ??= { persons: readPersonRecordings(), typing: readTyping() };
    return read;
  };
  return [...personCases(recordings), ...aidCases(missingHand, recordings)];
}

type PersonSource = (typeof personSources)[number];

/** Other recordings of these sources are left for Wayland. */
const waylandSources: readonly PersonSource[] = ["delbot", "omniglot"];

function personCases(recordings: () => Recordings): LiveCase[] {
  return [
    ...personSources.map((source) => personCase(recordings, source, false)),
    ...waylandSources.map((source) => personCase(recordings, source, true)),
  ];
}

function personCase(recordings: () => Recordings, source: PersonSource, isWayland: boolean): LiveCase {
  // A recording is played once: the second time it would be a replay, and be found.
  const own = () => {
    const all = recordings().persons.get(source) ?? [];
    if (!waylandSources.includes(source)) return all;
    const half = Math.floor(all.length / 2);
    return isWayland ? all.slice(half) : all.slice(0, half);
  };
  return {
    goal: "person",
    tool: `Chromium in a window, ${isWayland ? "Wayland's" : "operating system's"} input`,
    behavior: `a person of ${source}`,
    needsDisplay: true,
    missing: () => missingHand() ?? (isWayland ? missingProgram("weston") : null),
    runsMax: () => own().length,
    carryOut: (around) => {
      const person = own()[around.run];
      if (person === undefined) throw new Error(`${source} has no recording for run ${around.run + 1}`);
      const { typing } = recordings();
      const offset = (personSources.indexOf(source) + (isWayland ? personSources.length : 0)) * 50;
      const keys = typing[(offset + around.run) % typing.length]!;
      return isWayland ? visitUnderWayland(around, person, keys) : visitInRealWindow(around, person, keys);
    },
  };
}

/** Every case, in the order of the goals. */
export function liveCases(): LiveCase[] {
  const driven = [...packageTools, chromedriverTool].flatMap(drivenCases);
  const cleared = packageTools.flatMap(clearedCases);
  const all = [...driven, ...cleared, ...httpClientCases, ...replayCases, ...ownPathCases, ...handCases()];
  return (Object.keys(goals) as GoalName[]).flatMap((goal) => all.filter((each) => each.goal === goal));
}
