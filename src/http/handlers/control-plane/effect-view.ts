/** What a change would do, as answers say it, and its part on samples of requests without a session. */
import type { ChangeEffectAnswer, RuleEffectAnswer } from "../../../contract/configuration/backtest-answers.js";
import type { Project } from "../../../contract/configuration/entities.js";
import type { ExceptionLookup } from "../../../contract/configuration/exceptions.js";
import type { AddressLookup } from "../../../contract/evidence/network-fact.js";
import {
  type AskedVisitor,
  type Change,
  type ChangeEffect,
  EffectCounter,
} from "../../../control-plane/insight/change-effect.js";
import { askedSample } from "../../../control-plane/insight/sample-search.js";
import type { TrafficReader } from "../../../recording/traffic-reader.js";
import type { Slices } from "../../../runtime/long-work.js";

/** ms; `untilMs` is exclusive. */
interface SampledSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What reading samples needs. */
interface SampleServices {
  readonly traffic: TrafficReader;
  readonly addresses: AddressLookup;
  readonly exceptionsOf: (project: Project) => ExceptionLookup | null;
}

/** A change on the samples of a span. */
interface SampledEffect {
  readonly evaluated: number;
  /** Requests that the evaluated samples stand for. */
  readonly weight: number;
  readonly counter: EffectCounter;
}

/** `visit` gets each sample with its weight. Null when whoever asked has gone meanwhile. */
export async function effectOnRequests(
  { traffic, addresses, exceptionsOf }: SampleServices,
  project: Project,
  change: Change,
  { fromMs, untilMs }: SampledSpan,
  slices: Slices,
  nowMs: number,
  visit: (asked: AskedVisitor, weight: number) => void = () => {},
): Promise<SampledEffect | null> {
  const exceptions = exceptionsOf(project);
  // Nobody of them has a session, so nobody is marked.
  const counter = new EffectCounter(change, new Set(), nowMs);
  let evaluated = 0;
  let weight = 0;
  const isWhole = await traffic.visitSamples(project.id, fromMs, untilMs, slices, (sample) => {
    evaluated++;
    weight += sample.weight;
    const asked = { ...askedSample(sample, addresses.listsOf), exceptions };
    counter.add(asked, sample.weight);
    visit(asked, sample.weight);
    return true;
  });
  return isWhole ? { evaluated, weight, counter } : null;
}

/** Of sessions, or of requests, whose counts are estimates. */
export function changeEffectView(effect: ChangeEffect): ChangeEffectAnswer {
  return {
    newly_blocked: Math.round(effect.newlyBlocked),
    newly_challenged: Math.round(effect.newlyChallenged),
    newly_delayed: Math.round(effect.newlyDelayed),
    newly_allowed: Math.round(effect.newlyAllowed),
    unchanged: Math.round(effect.unchanged),
    likely_human: Math.round(effect.likelyHuman),
    logged_in: Math.round(effect.loggedIn),
    marked_human: Math.round(effect.markedHuman),
  };
}

/** The effect on sessions, and what shadows what on sessions and requests. */
export function effectView(ofSessions: EffectCounter, ofRequests: EffectCounter): RuleEffectAnswer {
  return {
    ...changeEffectView(ofSessions.effect),
    shadowed_by: [...new Set([...ofSessions.shadowedBy, ...ofRequests.shadowedBy])],
    shadows: [...new Set([...ofSessions.shadows, ...ofRequests.shadows])],
  };
}

/** To two digits: weights are shares. */
export function weightView(weight: number): number {
  return Math.round(weight * 100) / 100;
}
