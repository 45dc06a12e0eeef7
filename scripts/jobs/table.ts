/** The tables of the bench of jobs, as Markdown. */

import { wilsonInterval } from "../wilson.js";
import { type Cell, type GroupName, groups } from "./cells.js";
import { jobs } from "./jobs.js";
import type { JobOutcome } from "./outcome.js";
import { botBands } from "./outcome.js";

/** One row with what came of it under each set of rules. */
export interface JobRow {
  readonly cell: Pick<Cell, "group" | "tool" | "mode" | "job">;
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
function stoppedOf(rows: readonly JobRow[], group: GroupName, set: string): readonly [stopped: number, ran: number] {
  const outcomes = rows.filter(({ cell }) => cell.group === group).flatMap(({ outcomes }) => outcomes[set] ?? []);
  const ran = outcomes.filter(({ result }) => result !== "failed");
  return [ran.filter(({ result }) => result === "stopped").length, ran.length];
}

/** How many were answered with a block or a challenge, those that passed it and went on among them. */
function metOf(rows: readonly JobRow[], group: GroupName, set: string): number {
  const outcomes = rows.filter(({ cell }) => cell.group === group).flatMap(({ outcomes }) => outcomes[set] ?? []);
  return outcomes.filter(({ stop }) => stop !== null).length;
}

/** `7 of 8 (53 to 98 %)`: the interval at 95 %. */
function share(hits: number, runs: number): string {
  if (runs === 0) return "-";
  const [low, high] = wilsonInterval(hits, runs).map((end) => Math.round(100 * end));
  return `${hits} of ${runs} (${low} to ${high} %)`;
}

/** A row for each tool in each mode under the sets of rules, and what is known of those who were stopped by none. */
export function renderTools(rows: readonly JobRow[], sets: readonly string[]): string {
  const byTool = new Map<string, JobRow[]>();
  for (const row of rows) {
    const { group, tool, mode } = row.cell;
    const key = `${group} | ${tool}, ${mode}`;
    byTool.set(key, [...(byTool.get(key) ?? []), row]);
  }
  const lines = [...byTool].map(([key, own]) => {
    const outcomes = own.flatMap(({ outcomes }) => Object.values(outcomes));
    const stops = outcomes.flatMap(({ stop }) => stop ?? []);
    const [first, last] = [Math.min, Math.max].map((of) => of(...stops.map(({ number }) => number)));
    const counts = sets.map((set) => share(...stoppedOf(own, own[0]!.cell.group, set)));
    const ran = outcomes.filter(({ result }) => result !== "failed");
    const inBotBand = ran.filter(({ band }) => botBands.includes(band)).length;
    const met = stops.length === 0 ? "-" : first === last ? String(first) : `${first} to ${last}`;
    const named = ran.filter(({ agent }) => agent !== null).length;
    const forms = (of: (each: JobOutcome["forms"]) => number) => ran.reduce((sum, { forms }) => sum + of(forms), 0);
    const seen =
      forms(({ sent }) => sent) === 0
        ? "-"
        : share(
            forms(({ seen }) => seen),
            forms(({ sent }) => sent),
          );
    return [...key.split(" | "), ...counts, met, share(inBotBand, ran.length), String(named), seen];
  });
  const head = [
    "group",
    "tool",
    ...sets,
    "met at request",
    "ever in a bot band",
    "named",
    "forms let through, of them seen",
  ];
  return table(head, lines);
}

/** Where a visit with a form ended. */
const ends = {
  before: "stopped, and met before the form",
  at: "stopped at the form's own POST",
  later: "stopped later",
  known: "not stopped, but named or in a bot band",
  missed: "missed",
} as const;

/** "later": one form was let through, and the job was not done all the same. */
function endOf(outcome: JobOutcome): keyof typeof ends {
  const { result, stop, forms } = outcome;
  if (result !== "stopped") return isKnown(outcome) ? "known" : "missed";
  if (forms.sent > 0) return "later";
  return stop?.request?.startsWith("POST ") ? "at" : "before";
}

/** A row for each tool in each mode under one set of rules: where its visits with a form ended. Null where none has one. */
export function renderForms(rows: readonly JobRow[], set: string): string | null {
  const byTool = new Map<string, JobOutcome[]>();
  for (const { cell, outcomes } of rows) {
    const outcome = outcomes[set];
    const hasForm = jobs[cell.job].some(({ kind }) => kind === "send");
    if (outcome === undefined || outcome.result === "failed" || !hasForm) continue;
    const key = `${cell.tool}, ${cell.mode}`;
    byTool.set(key, [...(byTool.get(key) ?? []), outcome]);
  }
  if (byTool.size === 0) return null;
  const names = Object.keys(ends) as (keyof typeof ends)[];
  const counts = (own: readonly JobOutcome[]) => names.map((name) => own.filter((each) => endOf(each) === name).length);
  const lines = [...byTool].map(([key, own]) => [key, String(own.length), ...counts(own).map(String)]);
  const all = [...byTool.values()].flat();
  const sum = counts(all).map((count) => share(count, all.length));
  return table(
    [`visits with a form, ${set}`, "visits", ...Object.values(ends)],
    [...lines, ["all", String(all.length), ...sum]],
  );
}

/** The summary by group, and every row. */
export function renderJobs(rows: readonly JobRow[], sets: readonly string[]): string {
  const names = (Object.keys(groups) as GroupName[]).filter((name) => rows.some(({ cell }) => cell.group === name));
  const summary = names.map((name) => {
    const { title, goal } = groups[name];
    const own = rows.filter(({ cell }) => cell.group === name);
    const counts = sets.map((set) => {
      const [stopped, ran] = stoppedOf(rows, name, set);
      return ran === 0 ? "-" : `${share(stopped, ran)}, ${metOf(rows, name, set)} met`;
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
