/** What the bench of jobs runs: every tool in every mode, each with some of the jobs, so that all jobs come by turns. */
import { missingProgram } from "../live/chromium.js";
import type { Display } from "../live/display.js";
import { type Random, seededRandom } from "../live/randomness.js";
import type { AgentTool } from "../live/tools/agents/agent-tools.js";
import { bareAgent, bareVariants } from "../live/tools/agents/bare-agent.js";
import { mcpAgents } from "../live/tools/agents/mcp-agents.js";
import { packageAgents } from "../live/tools/agents/package-agents.js";
import { chromedriverTool } from "../live/tools/chromedriver.js";
import { type DrivenTool, packageTools } from "../live/tools/driven-tools.js";
import { webdriverioTool } from "../live/tools/webdriverio.js";
import { missingTraces } from "../live/traces.js";
import { type AgentManner, doAsAgent, doAttached, formJobs } from "./agent-jobs.js";
import { aidedPeople } from "./aided-people.js";
import { doInBrowser, type Manner } from "./browser-jobs.js";
import { doWithClient, type HttpClient, httpClients } from "./client-jobs.js";
import { type JobName, jobNames, jobs, knownForms } from "./jobs.js";
import { doAsPerson, type Recordings, type Seat } from "./people.js";
import type { ShopVisit } from "./shop.js";

/** Groups of the summary, with the share that each set of rules should stop; null for people, of whom none is to be stopped; "known" where nine in ten should be named or in a bot band by the end of their first form. */
export const groups = {
  people: { title: "people, by the operating system's input", goal: null },
  undisguised: { title: "undisguised tools, in a window and headless", goal: { A: 0.9, B: 0.9 } },
  disguised: { title: "disguised tools", goal: { A: 0.7, B: 0.9 } },
  effort: { title: "disguised, after an hour of effort (waits, curves, links)", goal: { A: 0, B: 0.5 } },
  clients: { title: "HTTP clients by default", goal: { A: 0, B: 0.9 } },
  agents: { title: "agents' and scrapers' tools in a browser of their own", goal: "known" },
  attached: { title: "agents' tools that attach to a person's window", goal: "known" },
  copied: { title: "HTTP clients with a browser's headers", goal: { A: 0, B: 0.9 } },
} as const;

export type GroupName = keyof typeof groups;

/** What the runs share. */
export interface Ground {
  readonly display: Display | null;
  readonly recordings: Recordings | null;
  readonly seed: number;
}

/** A row of the table. */
export interface Cell {
  readonly group: GroupName;
  readonly tool: string;
  readonly mode: "headless" | "window" | "late" | "-";
  readonly job: JobName;
  readonly missing: () => string | null;
  /** Rejects where the job could not be done, for whatever reason. */
  readonly run: (visit: ShopVisit, ground: Ground) => Promise<void>;
}

/** Ends the name of a tool that somebody spent an hour on. */
export const effortMark = ", effort";
const agentsWithHands = ["@playwright/mcp", "patchright", "Playwright", "Puppeteer", "agent in no list"];
const runMsMax = 60_000;
const hardest = ["patchright", "rebrowser-puppeteer", "Playwright, automation hidden"];

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`more than ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Every row has paths of its own, as visitors do: what two of them share is a replay. */
function randomOf(seed: number, ...names: readonly string[]): Random {
  let mixed = seed;
  for (const character of names.join(" ")) mixed = (Math.imul(mixed, 31) + character.charCodeAt(0)) | 0;
  return seededRandom(mixed);
}

function browserCell(tool: DrivenTool, hasWindow: boolean, job: JobName, manner: Manner): Cell {
  return {
    group: manner === "effort" ? "effort" : tool.isHardened ? "disguised" : "undisguised",
    tool: tool.name,
    mode: hasWindow ? "window" : "headless",
    job,
    missing: () => tool.missing() ?? (hasWindow ? missingProgram("Xvfb") : null),
    run: async (visit, { display, seed }) => {
      const opened = await tool.open(hasWindow ? display : null);
      try {
        const random = randomOf(seed, tool.name, hasWindow ? "window" : "headless", job, manner);
        // An effort takes its time: where nothing stops it, a whole job of eight pages.
        const msMax = manner === "effort" ? 2 * runMsMax : runMsMax;
        await inTime(doInBrowser(opened.page, jobs[job], visit, manner, random), msMax);
      } finally {
        await opened.close();
      }
    },
  };
}

function clientCell(client: HttpClient, job: JobName, copied: boolean): Cell {
  return {
    group: copied ? "copied" : "clients",
    tool: client.name,
    mode: "-",
    job,
    missing: client.missing,
    run: (visit) => doWithClient(client, jobs[job], visit, copied),
  };
}

function personCell(browser: "chromium" | "firefox", job: JobName, seat: Seat = "window"): Cell {
  const name = browser === "chromium" ? "Chromium" : "Firefox";
  return {
    group: "people",
    tool: seat === "window" ? name : `${name}, ${seat}`,
    mode: "window",
    job,
    missing: () =>
      missingProgram(browser, "Xvfb", "xdotool", ...(seat === "VNC" ? (["x11vnc", "vncviewer"] as const) : [])) ??
      missingTraces(),
    run: (visit, { display, recordings, seed }) => {
      const random = randomOf(seed, name, seat, job);
      return inTime(doAsPerson(browser, job, visit, display!, recordings!, random, seat), 2 * runMsMax);
    },
  };
}

/** People whose forms are filled in without their keys. */
function aidedCells(): Cell[] {
  return aidedPeople.flatMap(({ name, browser: other, missing, visit: visitShop, jobs: own }) => {
    const browser: "chromium" | "firefox" = other ?? "chromium";
    return own.map(
      (job): Cell => ({
        group: "people",
        tool: `${browser === "chromium" ? "Chromium" : "Firefox"}, ${name}`,
        mode: "window",
        job,
        missing: () => missingProgram(browser, "Xvfb", "xdotool") ?? missingTraces() ?? missing?.() ?? null,
        run: (visit, { display, recordings, seed }) => {
          const random = randomOf(seed, name, browser, job);
          const around = { visit, display: display!, recordings: recordings!, random, job, browser };
          return inTime(visitShop(around), 2 * runMsMax);
        },
      }),
    );
  });
}

type AgentMode = "headless" | "window" | "late";

function agentCell(tool: AgentTool, mode: AgentMode, job: JobName, manner: AgentManner = "documented"): Cell {
  return {
    group: mode === "late" ? "attached" : "agents",
    tool: manner === "effort" ? `${tool.name}${effortMark}` : tool.name,
    mode,
    job,
    missing: () =>
      tool.missing() ??
      (mode === "headless" ? null : missingProgram("Xvfb")) ??
      (mode === "late" ? (missingProgram("xdotool") ?? missingTraces()) : null),
    run: (visit, { display, recordings, seed }) => {
      const random = randomOf(seed, tool.name, mode, job, manner);
      const done =
        mode === "late"
          ? doAttached(tool, job, visit, display!, recordings!, random, manner)
          : doAsAgent(tool, job, visit, mode === "window" ? display : null, random, manner);
      return inTime(done, 2 * runMsMax);
    },
  };
}

/** Every agent in each of its modes, with forms that were kept aside: `delivery` at once, `account` with the seconds that a model takes before each step. */
function knownFormCells(): Cell[] {
  return [...mcpAgents, ...packageAgents, bareAgent, ...bareVariants].flatMap((tool) => {
    const modes = [...tool.modes, ...(tool.attach === null ? [] : (["late"] as const))];
    return modes.flatMap((mode) => knownForms.map((job) => agentCell(tool, mode, job)));
  });
}

/** Agents that have pointer and keys of their own, after an hour of effort, in windows, with the forms that were kept aside. */
function agentEffortCells(): Cell[] {
  return [...mcpAgents, ...packageAgents, bareAgent]
    .filter(({ name }) => agentsWithHands.includes(name))
    .flatMap((tool) => {
      const modes: AgentMode[] = [...tool.modes.filter((mode) => mode === "window"), "late"];
      return modes.flatMap((mode) => knownForms.map((job) => agentCell(tool, mode, job, "effort")));
    });
}

/** Every agent in each of its modes, attached late too, with the jobs that have a form by turns. */
function agentCells(jobsEach: number): Cell[] {
  let next = 0;
  const take = () =>
    Array.from({ length: Math.min(jobsEach, formJobs.length) }, () => formJobs[next++ % formJobs.length]!);
  return [...mcpAgents, ...packageAgents].flatMap((tool) => {
    const modes = [...tool.modes, ...(tool.attach === null ? [] : (["late"] as const))];
    return modes.flatMap((mode) => take().map((job) => agentCell(tool, mode, job)));
  });
}

/** Gives each row of a group the next jobs. */
class Turns {
  #next = 0;
  take(count: number): JobName[] {
    return Array.from({ length: count }, () => jobNames[this.#next++ % jobNames.length]!);
  }
}

/** All rows; `jobsEach` jobs for a tool in a mode, of those after an hour of effort one. People come first: their reports show that the SDK is installed. */
export function cellsOf(jobsEach: number): Cell[] {
  const turns = new Turns();
  const modes = [false, true];
  const tools = [...packageTools, chromedriverTool, webdriverioTool];
  const documented = tools.flatMap((tool) =>
    modes.flatMap((mode) => turns.take(jobsEach).map((job) => browserCell(tool, mode, job, "documented"))),
  );
  const effort = tools
    .filter(({ name }) => hardest.includes(name))
    .flatMap((tool) => modes.flatMap((mode) => turns.take(1).map((job) => browserCell(tool, mode, job, "effort"))));
  const clients = [false, true].flatMap((copied) =>
    httpClients.flatMap((client) => turns.take(jobsEach).map((job) => clientCell(client, job, copied))),
  );
  const people = jobNames.flatMap((job) => [personCell("chromium", job), personCell("firefox", job)]);
  const elsewhere = (["kiosk", "VNC"] as const).flatMap((seat) =>
    formJobs.map((job) => personCell("chromium", job, seat)),
  );
  return [
    ...people,
    ...elsewhere,
    ...aidedCells(),
    ...documented,
    ...effort,
    ...clients,
    ...agentCells(jobsEach),
    ...knownFormCells(),
    ...agentEffortCells(),
  ];
}
