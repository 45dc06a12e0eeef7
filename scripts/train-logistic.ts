/**
 * Trains a logistic regression on the behavioural evidence and shows what it does to people it has not seen: the reason why no
 * trained weights are shipped. Trains on sources whose licences allow it, tests on all others. Usage: train-logistic.
 */
import type { SessionEvidence } from "../src/contract/session-evidence.js";
import { evidenceOf } from "../src/engines/session-evidence.js";
import { chromeFacts } from "../test/engines/sessions.js";
import { logOdds, trainLogistic } from "./logistic.js";
import { foldTrace, ShingleIndex, wilson } from "./quality.js";
import { dataFolder, readTraces, type Trace } from "./trace-sessions.js";

const inputs = [
  "repeatedSteps",
  "bend",
  "smoothShare",
  "paceExponent",
  "abruptShare",
  "meanTurn",
  "gapVariation",
  "straightMean",
  "straightSpread",
  "distanceTimeCorrelation",
  "holdVariation",
] as const satisfies readonly (keyof SessionEvidence)[];

const humanSources = ["delbot", "omniglot"];
const botSources = ["generated", "capture-chromium", "delbot"];
/** Share of the people trained on that stay below the threshold. */
const sparedShare = 0.995;
const stepsMin = 20;

interface Example {
  readonly trace: Trace;
  readonly input: readonly number[];
}

/** A value, its square, and whether it is missing, for each input; the first is the constant. */
function exampleOf(trace: Trace, index: ShingleIndex): Example | null {
  const last = { ip: chromeFacts.ip, userAgent: chromeFacts.userAgent, path: "/", host: "" };
  const evidence = evidenceOf(foldTrace(trace, "sdk", index), last);
  if ((evidence.steps ?? 0) < stepsMin) return null;
  const input = [1];
  for (const name of inputs) {
    const value = evidence[name];
    const bounded = value === undefined ? 0 : Math.max(-3, Math.min(3, value));
    input.push(bounded, bounded * bounded, value === undefined ? 1 : 0);
  }
  return { trace, input };
}

function main(): void {
  const folder = dataFolder();
  if (folder === null) {
    console.log("train-logistic: skipped, there is no ../shared/data (or VERDICTD_TRACES) with recorded traces");
    return;
  }
  const index = new ShingleIndex();
  const examplesOf = (split: string) =>
    readTraces(folder, split)
      .map((trace) => exampleOf(trace, index))
      .filter((each) => each !== null);
  const training = examplesOf("train");
  const isReplay = (trace: Trace) => trace.replay_of !== undefined || trace.generator?.includes("replay") === true;
  const people = training.filter(({ trace }) => trace.label === "human" && humanSources.includes(trace.source));
  const programs = training.filter(
    ({ trace }) => trace.label === "bot" && botSources.includes(trace.source) && !isReplay(trace),
  );
  const inputsOf = (examples: readonly Example[]) => examples.map(({ input }) => input);
  const weights = trainLogistic(inputsOf(people), inputsOf(programs));
  const spared = people.map(({ input }) => logOdds(weights, input)).sort((one, other) => one - other);
  const threshold = spared[Math.floor(sparedShare * spared.length)]!;
  const groups = new Map<string, boolean[]>();
  for (const { trace, input } of [...training, ...examplesOf("dev")]) {
    const seen = humanSources.includes(trace.source) ? "trained on" : "not seen";
    const key = trace.label === "human" ? `people ${trace.source} (${seen})` : `programs ${trace.generator}`;
    groups.set(key, [...(groups.get(key) ?? []), logOdds(weights, input) > threshold]);
  }
  console.log(`Called programs at a threshold that spares ${100 * sparedShare} % of the people trained on:`);
  for (const [name, hits] of [...groups].sort(([one], [other]) => one.localeCompare(other))) {
    const count = hits.filter(Boolean).length;
    const [low, high] = wilson(count, hits.length).map((share) => `${(100 * share).toFixed(1)} %`);
    console.log(
      `${name.padEnd(48)} ${String(hits.length).padStart(5)} ${((100 * count) / hits.length).toFixed(1).padStart(6)} % [${low}, ${high}]`,
    );
  }
}

main();
