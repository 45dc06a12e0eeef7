/**
 * Agents' tools and people at the shop, from the recorded visits: who is named by how he acts or by marks, who is in a bot band, who is missed. Without a browser,
 * by the SDK's reports alone: judged requests would say more. Tools and jobs that nobody chose on are apart. Usage: quality-agents (prints the table),
 * quality-agents --write (puts it into the page of figures).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shippedAgentMarks } from "../src/bots/marks/catalogue.js";
import { agentMarkText } from "../src/contract/bots/agent-marks.js";
import { agentDetections } from "../src/contract/bots/agents.js";
import { combine, runEngines } from "../src/engines/score.js";
import { figuresPage } from "./figures.js";
import { formJobs } from "./jobs/agent-jobs.js";
import { effortMark } from "./jobs/cells.js";
import { type JobName, knownForms } from "./jobs/jobs.js";
import { foldRecordedVisit, type RecordedVisit, readRecordedVisits } from "./jobs/recorded-visits.js";
import { bareAgent } from "./live/tools/agents/bare-agent.js";
import { botScoreMax } from "./trace-outcome.js";
import { wilsonInterval } from "./wilson.js";

/** Nothing was chosen on these before. */
const toolsAside: ReadonlySet<string> = new Set(["Stagehand", "Crawlee", "puppeteer-real-browser"]);
const jobsAside: ReadonlySet<JobName> = new Set(["log-in", "sign-up"]);

type Split = "train" | "dev" | "fresh" | "effort" | "variants";

/**
 * `train` may be chosen on; `dev` has the tools and the jobs that were kept aside until a form without keys was made a sign, for which they were looked at; what is
 * `fresh` nothing was chosen on until one press without pressure counted beside others, for which a few were read, nor on `effort`, the same forms by tools that somebody spent an hour on, and on `variants` of an agent in no list. People are split by job alone.
 */
export function splitOf({ tool, job }: RecordedVisit): Split {
  if (tool.endsWith(effortMark)) return "effort";
  if (tool.startsWith(`${bareAgent.name}, `)) return "variants";
  if (knownForms.includes(job)) return "fresh";
  return toolsAside.has(tool) || jobsAside.has(job) || !formJobs.includes(job) ? "dev" : "train";
}

interface AgentOutcome {
  readonly visit: RecordedVisit;
  readonly score: number;
  readonly detectionIds: readonly number[];
  readonly known: "marked" | "behavior" | "band" | "missed";
}

const marks = new Set(shippedAgentMarks().entries.map(agentMarkText));

/** What is known of a visit at its end, the surest of it. */
export function outcomeOfRecorded(visit: RecordedVisit): AgentOutcome {
  const { features, last } = foldRecordedVisit(visit);
  const { score, detectionIds } = combine(runEngines(features, last));
  const isMarked = visit.reports.some(({ events }) =>
    events.some(({ payload }) => ((payload.agent_marks as string[] | undefined) ?? []).some((each) => marks.has(each))),
  );
  const acts = detectionIds.includes(agentDetections.acting);
  const known = isMarked ? "marked" : acts ? "behavior" : score <= botScoreMax ? "band" : "missed";
  return { visit, score, detectionIds, known };
}

const head = ["who", "split", "visits", "by a mark", "by behavior", "bot band alone", "missed", "known, 95 % interval"];

/** Rows of the table: each tool in each mode, people by browser and seat; then sums by split. */
function agentRows(outcomes: readonly AgentOutcome[]): string[][] {
  const groups = new Map<string, AgentOutcome[]>();
  const add = (key: string, outcome: AgentOutcome) => groups.set(key, [...(groups.get(key) ?? []), outcome]);
  for (const outcome of outcomes) {
    const { group, tool, mode } = outcome.visit;
    add(`${group === "people" ? "person: " : ""}${tool}, ${mode}|${splitOf(outcome.visit)}`, outcome);
  }
  for (const outcome of outcomes) {
    const { group, mode } = outcome.visit;
    const who =
      group === "people" ? "all people" : mode === "late" ? "all attached late" : "all in browsers of their own";
    add(`**${who}**|${splitOf(outcome.visit)}`, outcome);
  }
  return [...groups].map(([key, own]) => {
    const count = (known: AgentOutcome["known"]) => own.filter((each) => each.known === known).length;
    const hits = own.length - count("missed");
    const [low, high] = wilsonInterval(hits, own.length).map((share) => Math.round(100 * share));
    const counts = [own.length, count("marked"), count("behavior"), count("band"), count("missed")].map(String);
    return [...key.split("|"), ...counts, `${hits} of ${own.length} (${low} to ${high} %)`];
  });
}

/** The table of all recorded visits, as Markdown. */
export function agentsTable(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = agentRows(readRecordedVisits().map(outcomeOfRecorded));
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const opening = "<!-- agents -->\n";
const closing = "\n<!-- end of agents -->";

/** The table as the page of figures has it. Throws when its marks are missing. */
export function agentsTableOfPage(): string {
  const text = readFileSync(figuresPage, "utf8");
  const from = text.indexOf(opening);
  const to = text.indexOf(closing);
  if (from < 0 || to < from) throw new Error(`${figuresPage} lacks its marks`);
  return text.slice(from + opening.length, to);
}

function main(): void {
  const table = agentsTable();
  if (process.argv.includes("--write")) {
    writeFileSync(
      figuresPage,
      readFileSync(figuresPage, "utf8").replace(agentsTableOfPage(), () => table),
    );
  } else {
    console.log(
      "Agents' tools at the shop by the end of their first form, from recorded visits; goal: 9 in 10 known, no person",
    );
    console.log(table);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
