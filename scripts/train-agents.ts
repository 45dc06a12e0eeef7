/**
 * Trains a logistic regression on how agents act at the shop and holds it against the rules, each tool and each kind of people left out once: the reason why
 * no trained weights are shipped for agents either. Reads the recorded visits. Usage: train-agents.
 */
import { agentDetections } from "../src/contract/agents.js";
import type { SessionEvidence } from "../src/contract/session-evidence.js";
import { evidenceOf } from "../src/engines/session-evidence.js";
import { foldRecordedVisit, type RecordedVisit, readRecordedVisits } from "./jobs/recorded-visits.js";
import { logOdds, trainLogistic } from "./logistic.js";
import { outcomeOfRecorded } from "./quality-agents.js";
import { botScoreMax } from "./trace-outcome.js";

const inputs = [
  "loneActivations",
  "activeMoves",
  "weightlessPresses",
  "sharedFocus",
  "typedPages",
  "quickPages",
  "debuggerSeen",
  "arrivalClicks",
  "quietClicks",
  "exactClicks",
  "unpairedKeys",
  "pastes",
  "fieldsFilled",
  "keys",
  "unkeyedShare",
  "centeredShare",
  "shortHoldShare",
  "fractionShare",
  "coalescedMean",
] as const satisfies readonly (keyof SessionEvidence)[];

interface Example {
  readonly visit: RecordedVisit;
  readonly source: string;
  readonly isPerson: boolean;
  readonly input: readonly number[];
}

/** The constant; then each value, at most 3, and whether it is missing. */
function exampleOf(visit: RecordedVisit): Example {
  const { features, last } = foldRecordedVisit(visit);
  const evidence = evidenceOf(features, last);
  const input = inputs.flatMap((name) => {
    const value = evidence[name];
    return value === undefined ? [0, 1] : [Math.min(3, Number(value)), 0];
  });
  const isPerson = visit.group === "people";
  return { visit, source: visit.tool, isPerson, input: [1, ...input] };
}

/** Of one source, by weights that saw all others, and a threshold that spares every person whom they saw. */
function hitsOf(source: string, examples: readonly Example[]): number {
  const seen = examples.filter((each) => each.source !== source);
  const of = (isPerson: boolean) => seen.filter((each) => each.isPerson === isPerson).map(({ input }) => input);
  const weights = trainLogistic(of(true), of(false));
  const threshold = Math.max(...of(true).map((input) => logOdds(weights, input)));
  return examples.filter((each) => each.source === source && logOdds(weights, each.input) > threshold).length;
}

function main(): void {
  const examples = readRecordedVisits().map(exampleOf);
  const rows = [...new Set(examples.map(({ source }) => source))].map((source) => {
    const own = examples.filter((each) => each.source === source);
    const outcomes = own.map(({ visit }) => outcomeOfRecorded(visit));
    const named = outcomes.filter(({ detectionIds }) => detectionIds.includes(agentDetections.acting));
    const known = outcomes.filter((each) => named.includes(each) || each.score <= botScoreMax);
    const name = own[0]!.isPerson ? `person: ${source}` : source;
    return [name, own.length, hitsOf(source, examples), named.length, known.length];
  });
  console.log(
    "| left out | visits | called a program by the regression | named by the rules | named or in a bot band |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
}

main();
