/** The tables of the bench of jobs, as Markdown. */

import { type Cell, type GroupName, groups } from "./cells.js";
import type { JobOutcome } from "./outcome.js";
import { botBands } from "./outcome.js";

/** One row with what came of it under each set of rules. */
export interface JobRow {
  readonly cell: Cell;
  readonly missing: string | null;
  readonly outcomes: Readonly<Record<string, JobOutcome>>;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function shown(outcome: JobOutcome | undefined): string {
  if (outcome === undefined) return "not run";
  const { result, stop } = outcome;
  if (result === "stopped")
    return stop === null ? "stopped" : `stopped: ${stop.action} of request ${stop.number}, ${stop.atMs} ms`;
  if (result === "done" && stop !== null) return `done after ${stop.action} of request ${stop.number}`;
  return result === "failed" ? `failed: ${outcome.failure}` : result;
}

/** Who acted is named, or taken for a bot. */
const isKnown = ({ agent, band }: JobOutcome) => agent !== null || botBands.includes(band);

function bandOf(outcome: JobOutcome | undefined): string {
  if (outcome === undefined) return "";
  const agent = outcome.agent === null ? "" : `, ${outcome.agent.name} (${outcome.agent.certainty})`;
  return `${outcome.band} ${outcome.score}${agent}${outcome.detectionIds.length === 0 ? "" : `: ${outcome.detectionIds.join(" ")}`}`;
}

/** Of a group under a set of rules: how many were stopped of those that took place. */
export function stoppedOf(
  rows: readonly JobRow[],
  group: GroupName,
  set: string,
): readonly [stopped: number, ran: number] {
  const outcomes = rows.filter(({ cell }) => cell.group === group).flatMap(({ outcomes }) => outcomes[set] ?? []);
  const ran = outcomes.filter(({ result }) => result !== "failed");
  return [ran.filter(({ result }) => result === "stopped").length, ran.length];
}

/** How many were answered with a block or a challenge, those that passed it and went on among them. */
function metOf(rows: readonly JobRow[], group: GroupName, set: string): number {
  const outcomes = rows.filter(({ cell }) => cell.group === group).flatMap(({ outcomes }) => outcomes[set] ?? []);
  return outcomes.filter(({ stop }) => stop !== null).length;
}

/** The summary by group, and every row. */
export function renderJobs(rows: readonly JobRow[], sets: readonly string[]): string {
  const names = (Object.keys(groups) as GroupName[]).filter((name) => rows.some(({ cell }) => cell.group === name));
  const summary = names.map((name) => {
    const { title, goal } = groups[name];
    const own = rows.filter(({ cell }) => cell.group === name);
    const counts = sets.map((set) => {
      const [stopped, ran] = stoppedOf(rows, name, set);
      return ran === 0 ? "-" : `${stopped} of ${ran} (${metOf(rows, name, set)} met)`;
    });
    const inBotBand = own
      .flatMap(({ outcomes }) => Object.values(outcomes))
      .filter(({ band }) => botBands.includes(band));
    const aim =
      goal === "known"
        ? "9 in 10 named or in a bot band"
        : goal === null
          ? "0, none in a bot band"
          : `A ${100 * goal.A} %, B ${100 * goal.B} %`;
    const known = own.flatMap(({ outcomes }) => Object.values(outcomes)).filter(isKnown);
    return [title, ...counts, String(inBotBand.length), String(known.length), aim];
  });
  const all = rows.map(({ cell, missing, outcomes }) => [
    cell.group,
    cell.tool,
    cell.mode,
    cell.job,
    ...sets.flatMap((set) => (missing === null ? [shown(outcomes[set]), bandOf(outcomes[set])] : [missing, ""])),
  ]);
  return [
    table(["stopped before the job was done", ...sets, "ever in a bot band", "that, or named", "goal"], summary),
    table(["group", "tool", "mode", "job", ...sets.flatMap((set) => [set, `worst band, detections (${set})`])], all),
  ].join("\n\n");
}
