/** What the live measurement prints: a table per goal, a row per tool and behaviour, never a pooled figure. Pure. */
import type { Band } from "../../src/contract/verdicts/verdict.js";
import { wilsonInterval } from "../wilson.js";
import { type Goal, type GoalName, goals, type LiveCase, type Outcome } from "./measurement.js";

/** A row: a case with its outcomes, or why there are none. */
export interface Row {
  readonly case: Pick<LiveCase, "goal" | "tool" | "behavior">;
  readonly missing: string | null;
  readonly outcomes: readonly Outcome[];
}

const shownBands: readonly Band[] = [
  "definite",
  "confident_automated",
  "likely_automated",
  "likely_human",
  "not_computed",
];
const proven: readonly Band[] = ["definite", "confident_automated"];
const anyBot: readonly Band[] = [...proven, "likely_automated"];

const percent = (share: number) => `${Math.round(share * 100)} %`;

/** The bands of a row's computed visits. */
function bandsOf(row: Row): Band[] {
  return row.outcomes.flatMap((each) => ("verdict" in each ? [each.verdict.verdict] : []));
}

/** Whether the row reaches its goal: `missed` also when a visit failed, `missing` when the tool is not here. */
export function judge(row: Row): "reached" | "missed" | "missing" {
  if (row.missing !== null) return "missing";
  const { bands, shareMin } = goals[row.case.goal];
  const found = bandsOf(row);
  if (found.length < row.outcomes.length || found.length === 0) return "missed";
  const hits = found.filter((band) => (bands as readonly Band[]).includes(band)).length;
  return hits / found.length >= shareMin ? "reached" : "missed";
}

/** Rows of a goal that showed a band besides its first, where the goal bounds their share; null where it does not. */
function strays(name: GoalName, rows: readonly Row[]): { readonly kinds: Row[]; readonly isMissed: boolean } | null {
  const goal: Goal = goals[name];
  if (goal.otherBandShareMax === undefined) return null;
  const run = rows.filter((row) => row.case.goal === name && row.outcomes.length > 0);
  const kinds = run.filter((row) => bandsOf(row).some((band) => band !== goal.bands[0]));
  return { kinds, isMissed: kinds.length > goal.otherBandShareMax * run.length };
}

/** Whether a row missed its goal, or the rows of a goal together did. */
export function isAnyMissed(rows: readonly Row[]): boolean {
  const names = Object.keys(goals) as GoalName[];
  return rows.some((row) => judge(row) === "missed") || names.some((name) => strays(name, rows)?.isMissed);
}

function shareText(found: readonly Band[], among: readonly Band[]): string {
  const hits = found.filter((band) => among.includes(band)).length;
  const [low, high] = wilsonInterval(hits, found.length);
  return found.length === 0 ? "-" : `${percent(hits / found.length)} (${percent(low)} to ${percent(high)})`;
}

const isOfPeople = (name: GoalName) => name === "person" || name === "aided";

function cellsOf(row: Row): string[] {
  const found = bandsOf(row);
  if (row.missing !== null) return [row.case.tool, row.case.behavior, "0", `not run: ${row.missing}`, "-", "-", "-"];
  const counts = shownBands
    .map((band) => [band, found.filter((each) => each === band).length] as const)
    .filter(([, count]) => count > 0)
    .map(([band, count]) => `${count} ${band}`);
  const failed = row.outcomes.length - found.length;
  if (failed > 0) counts.push(`${failed} failed`);
  const isPerson = isOfPeople(row.case.goal);
  return [
    row.case.tool,
    row.case.behavior,
    String(found.length),
    counts.join(", "),
    isPerson ? shareText(found, ["likely_human"]) : shareText(found, proven),
    isPerson ? shareText(found, proven) : shareText(found, anyBot),
    judge(row),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** The ids of a row's detections with the number of visits that showed them, most frequent first. */
function detectionCounts(row: Row): [id: number, visits: number][] {
  const counts = new Map<number, number>();
  for (const outcome of row.outcomes) {
    if (!("verdict" in outcome)) continue;
    for (const id of outcome.verdict.detection_ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].sort(([one, many], [other, more]) => more - many || one - other);
}

function remarksOf(row: Row): string[] {
  const failures = new Set(row.outcomes.flatMap((each) => ("failure" in each ? [each.failure] : [])));
  const counts = detectionCounts(row).map(([id, visits]) => `${id} (${visits})`);
  const name = `${row.case.tool}, ${row.case.behavior}`;
  return [
    `- ${name}: ${counts.length === 0 ? "no detection" : counts.join(", ")}`,
    ...[...failures].map((failure) => `  failed: ${failure.split("\n")[0]}`),
  ];
}

/** The whole report, as Markdown. */
export function renderReport(rows: readonly Row[]): string {
  const parts: string[] = [];
  for (const name of Object.keys(goals) as GoalName[]) {
    const own = rows.filter((row) => row.case.goal === name);
    if (own.length === 0) continue;
    const goal = goals[name];
    const isPerson = isOfPeople(name);
    const head = [
      "tool",
      isPerson ? "who" : "behaviour",
      "runs",
      "bands",
      isPerson ? "likely_human (95 %)" : "definite or confident (95 %)",
      isPerson ? "definite or confident (95 %)" : "any bot band (95 %)",
      "goal",
    ];
    parts.push(
      `## ${goal.title}: goal ${percent(goal.shareMin)} ${goal.bands.join(" or ")}`,
      table(head, own.map(cellsOf)),
      `Detections, with the number of visits that showed them:\n\n${own.flatMap(remarksOf).join("\n")}`,
    );
    const stray = strays(name, own);
    if (stray !== null) {
      const most = percent((goal as Goal).otherBandShareMax!);
      const which = stray.kinds.map((row) => row.case.behavior).join("; ") || "none";
      parts.push(
        `Not all ${goal.bands[0]}: ${which}: ${stray.kinds.length} of ${own.length} rows, at most ${most}: ${stray.isMissed ? "missed" : "reached"}`,
      );
    }
  }
  const judged = rows.map(judge);
  const count = (what: string) => judged.filter((each) => each === what).length;
  parts.push(`${count("reached")} rows reached their goal, ${count("missed")} missed it, ${count("missing")} not run`);
  return parts.join("\n\n");
}
