/**
 * Runs the detections over a session's evidence and combines the engines. Pure: the same features have the same result, and the order of the
 * catalogue does not matter. Bands and thresholds belong to the verdict.
 */

import { agentDetections } from "../contract/bots/agents.js";
import {
  type EngineName,
  type EngineResults,
  engineNames,
  type FiredDetection,
  type LastRequest,
  neutralScore,
} from "../contract/evidence/evidence.js";
import type { Evidence } from "../contract/evidence/session-evidence.js";
import { detections } from "../detections/catalogue.js";
import {
  type Detection,
  type EvidenceGroup,
  type EvidenceName,
  type Observed,
  type Read,
  strengths,
} from "../detections/detection.js";
import { DetectionRunner } from "./detection-runner.js";
import { evidenceOf } from "./session-evidence.js";
import { F, type SessionFeatures } from "./session-features.js";

const scoreMax = 99;
/** Log-odds of automation at the neutral score. */
const neutralLogOdds = Math.log((100 - neutralScore) / neutralScore);

/** The result of combining the engines: what the verdict shows. */
interface CombinedScore {
  /** 1 to 99, lower is more bot-confident. */
  readonly score: number;
  /** Scoring detections that fired, strongest first, then experimental ones. */
  readonly detectionIds: number[];
}

/** A fired detection with the values that triggered it, for the session detail. */
export interface ExplainedDetection {
  readonly id: number;
  readonly slug: string;
  readonly engine: EngineName;
  readonly contribution: number;
  readonly evidence: Record<string, unknown>;
  /** Of a conclusion from several facts; see `Detection`. */
  readonly decidedBy?: readonly string[];
}

/**
 * Runs all engines. An engine abstains if nothing in it fires; the behavioural one also counts evidence for people. `leftOut` is the id of a
 * detection to leave out, to measure what it adds.
 */
export function runEngines(features: SessionFeatures, last: LastRequest, leftOut?: number): EngineResults {
  const evidence = evidenceOf(features, last);
  const all = firedDetections(evidence);
  const fired = withoutStrangers(leftOut === undefined ? all : all.filter(({ id }) => id !== leftOut));
  const once = countedOnce(evidence, fired);
  const results: Record<EngineName, { score: number | null; fired: FiredDetection[] }> = {
    heuristics: { score: null, fired: [] },
    js_detection: { score: null, fired: [] },
    behavioral: { score: null, fired: [] },
  };
  for (const each of fired) {
    insert(results[each.engine].fired, { id: each.id, contribution: contributionOf(each, fired, once) });
  }
  for (const name of engineNames) results[name].score = engineScore(results[name].fired);
  if (results.behavioral.score === null) results.behavioral.score = humanScore(features.numbers);
  return results;
}

/** Returns the lowest score of all engines; the neutral one when all abstain. */
export function combine(results: EngineResults): CombinedScore {
  let score = scoreMax + 1;
  const fired: FiredDetection[] = [];
  for (const name of engineNames) {
    const result = results[name];
    if (result.score !== null && result.score < score) score = result.score;
    for (const each of result.fired) insert(fired, each);
  }
  return { score: score > scoreMax ? neutralScore : score, detectionIds: fired.map((each) => each.id) };
}

/** Every detection that fired with its contribution and the values it read, strongest first. */
export function explain(features: SessionFeatures, last: LastRequest): ExplainedDetection[] {
  const evidence = evidenceOf(features, last);
  const fired = withoutStrangers(firedDetections(evidence));
  const once = countedOnce(evidence, fired);
  const observed: Observed = evidence;
  return fired
    .map((each) => ({
      id: each.id,
      slug: each.slug,
      engine: each.engine,
      contribution: contributionOf(each, fired, once),
      evidence: Object.fromEntries(each.reads.map((name) => [wireName(name), observed[name]])),
      // It fired, so all that it reads was observed.
      ...(each.decidedBy !== undefined && { decidedBy: each.decidedBy(observed as Read<EvidenceName>) }),
    }))
    .sort(strongestFirst);
}

/** The slugs of the signs by which a session acts as agents do, the first those that decide most; none where it does not. */
export function agentSigns(features: SessionFeatures, last: LastRequest): readonly string[] {
  const evidence = evidenceOf(features, last);
  const [acting] = ofAgents.fired(evidence);
  return acting?.decidedBy?.(evidence as Read<EvidenceName>) ?? [];
}

const ofAgents = new DetectionRunner(detections.filter(({ id }) => id === agentDetections.acting));
const ofSessions = new DetectionRunner(detections.filter(({ subjects }) => subjects.includes("session")));

/** Returns the detections of a list (by default those about sessions) that fire on the evidence; a missing value skips a detection. */
export function firedDetections(evidence: Observed, list?: readonly Detection[]): Detection[] {
  return (list === undefined ? ofSessions : new DetectionRunner(list)).fired(evidence);
}

/**
 * Drops detections about other visitors, unless the visitor's own behaviour counts for automation in the same engine: a fact that honest browsers
 * hardly ever share. A missing header is no such fact. So strangers behind the same address change nothing for a visitor who sends none.
 */
function withoutStrangers(fired: Detection[]): Detection[] {
  if (!fired.some(({ isOthersDoing }) => isOthersDoing)) return fired;
  const speaksFor = (other: Detection) => fired.some((each) => isOwnDoing(each) && each.engine === other.engine);
  return fired.filter((each) => !each.isOthersDoing || speaksFor(each));
}

function isOwnDoing(each: Detection): boolean {
  return !each.isOthersDoing && each.state === "scoring" && strengths[each.strength] >= strengths.moderate;
}

/**
 * Groups of evidence that one common cause explains in this session: each counts once, `evenness` as one with `aid`, `switching` with `stripping`.
 */
export type CountedOnce = { readonly [Group in EvidenceGroup]: boolean };

function countedOnce(evidence: Evidence, fired: readonly Detection[]): CountedOnce {
  const aid = !fired.some(({ isDriverTrace }) => isDriverTrace);
  const evenness = aid && evidence.cleanDispatch === true;
  return { aid, evenness, stripping: evidence.strippedHeaders === true, switching: aid };
}

/** No group applies: each detection counts for its own cause. */
export const nothingOnce: CountedOnce = { aid: false, evenness: false, stripping: false, switching: false };

/**
 * Returns the weight of a detection among those that `fired`, as log-odds. It is zero if a stronger one has the same cause or is in a group that
 * counts `once`, or an equally strong one with a lower id. The order of `fired` does not matter.
 */
export function contributionOf(each: Detection, fired: readonly Detection[], once = nothingOnce): number {
  if (each.state !== "scoring") return 0;
  const weight = weightOf(each, once);
  for (const other of fired) {
    if (other === each || other.engine !== each.engine || other.state !== "scoring") continue;
    if (other.cause !== each.cause && !areOne(each, other, once)) continue;
    const otherWeight = weightOf(other, once);
    if (otherWeight > weight || (otherWeight === weight && other.id < each.id)) return 0;
  }
  return weight;
}

/** Even paths that came as a hand's do are at most notable: sticks, number pads and smoothed pointers draw them. */
function weightOf({ strength, group }: Detection, once: CountedOnce): number {
  const weight = strengths[strength];
  return group === "evenness" && once.evenness ? Math.min(weight, strengths.notable) : weight;
}

function areOne({ group: one }: Detection, { group: other }: Detection, once: CountedOnce): boolean {
  if (one === undefined || other === undefined || !once[one] || !once[other]) return false;
  return ofHeaders(one) === ofHeaders(other);
}

function ofHeaders(group: EvidenceGroup): boolean {
  return group === "stripping" || group === "switching";
}

/** null if nothing fired that counts. `fired` is sorted first, to make rounding independent of the catalogue's order. */
function engineScore(fired: readonly FiredDetection[]): number | null {
  let weight = 0;
  for (const each of fired) weight += each.contribution;
  return weight === 0 ? null : scoreOf(weight, fired[0]!.contribution);
}

/**
 * Returns the score for contributions that add up to `sum`, 1 to 99. Weak facts corroborate: on their own, however many, they weigh as much as one
 * notable fact, because odd browsers are odd in many ways.
 */
export function scoreOf(sum: number, strongest: number): number {
  const weight = strongest < strengths.notable ? Math.min(sum, strengths.notable) : sum;
  const humanShare = 1 / (1 + Math.exp(neutralLogOdds + weight));
  return Math.min(scoreMax, Math.max(1, Math.round(100 * humanShare)));
}

/**
 * Rises from the neutral score towards 99 as varied behaviour accumulates; null if there is none. It stays neutral until the page has said where it
 * runs: behaviour alone can be written by anybody.
 */
function humanScore(n: readonly number[]): number | null {
  const seen =
    n[F.steps]! / 150 +
    n[F.clicks]! / 5 +
    n[F.touches]! / 5 +
    n[F.scrolls]! / 15 +
    n[F.keys]! / 30 +
    n[F.presenceEvents]! / 40;
  if (seen < 0.05) return null;
  if (n[F.environmentReported] !== 1) return neutralScore;
  return Math.round(neutralScore + (scoreMax - neutralScore) * (1 - Math.exp(-seen / 2)));
}

function strongestFirst(
  one: { contribution: number; id: number },
  other: { contribution: number; id: number },
): number {
  return other.contribution - one.contribution || one.id - other.id;
}

/** Inserts `each` into a sorted list: for a handful, faster than sorting. */
export function insert(list: FiredDetection[], each: FiredDetection): void {
  let at = list.length;
  for (; at > 0 && strongestFirst(each, list[at - 1]!) < 0; at--) list[at] = list[at - 1]!;
  list[at] = each;
}

/** The wire shows evidence in snake_case, like everything else. */
function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
