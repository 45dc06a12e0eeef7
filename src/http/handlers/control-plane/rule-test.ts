/** `POST …/rules/test`: what a draft rule would have done to the latest sessions, or to those of the last hours. Stores nothing. */

import type { RuleTestAnswer, RuleTestRange } from "../../../contract/configuration/backtest-answers.js";
import type { Project } from "../../../contract/configuration/entities.js";
import { dayMs, hourMs } from "../../../contract/values/durations.js";
import type { BacktestScope, BacktestServices } from "../../../control-plane/insight/backtest.js";
import { backtestRule, type DraftRule } from "../../../control-plane/insight/rule-backtest.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { TrafficReader } from "../../../recording/traffic-reader.js";
import type { LongWork, Slices } from "../../../runtime/long-work.js";
import { ruleInput } from "../../../verdict/resolve.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { comparedSpan } from "./compared-range.js";
import { changeEffectView, effectOnRequests, effectView, weightView } from "./effect-view.js";

/** What a backtest needs, and ticks of the event loop for it. */
export interface RuleTestServices extends BacktestServices {
  readonly traffic: TrafficReader;
  /** Stores what this thread has counted but not stored yet. */
  readonly flush: () => Promise<void>;
  readonly work: LongWork;
  readonly now: () => number;
}

/** By `projects:read`. 409 while another backtest of the account runs, 422 for an expression that doesn't compile. */
export function ruleTestRoute(services: RuleTestServices): ProjectRoute {
  return projectRoute("testRule", {
    needs: "projects:read",
    doc: {
      tag: "control plane",
      summary: "Backtest a draft rule on stored sessions",
      description:
        "As if it were the project's only rule, with the current guards, threshold and logged-in policy. The request context is what " +
        "each session last reported. It uses the latest sessions; `hours` selects those of a time range instead. `requests` says what it matches of the samples of requests without a session. Nothing is stored. " +
        "`effect` compares the verdicts of these sessions under the rules as they are with those with the draft at `sort_order` among them, instead of the rule that it `replaces`; `requests.effect` those " +
        "of the samples, scaled up. " +
        "An account can run one backtest at a time; another is answered 409 until it has ended. It ends when its client disconnects.",
      refusals: ["conflict"],
    },
    handle: (call) => testRule(services, call),
  });
}

async function testRule(
  services: RuleTestServices,
  { project, readBody, isAborted }: Asked<"testRule">,
): Promise<Answered<"testRule">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { expression, action, limit, hours, compare_from, compare_to, sort_order, replaces } = read.value;
  const compared = comparedSpan(compare_from, compare_to, limits.trafficDaysMax);
  if (compared instanceof Refusal) return refusal(compared);
  await services.flush();
  const draft = { expressionSource: expression, action, sortOrder: sort_order, replaces };
  const sessionsMax = limit ?? limits.ruleTestSessionsDefault;
  const slices = services.work.begin(isAborted);
  const nowMs = services.now();
  const last = hours === undefined ? null : { fromMs: nowMs - hours * hourMs, untilMs: null };
  const answer = await testIn(services, project, draft, { sessionsMax, span: last }, slices, nowMs);
  if (answer === null) return unread;
  if (answer instanceof Refusal) return refusal(answer);
  if (compared === null) return json(200, answer);
  const other = await testIn(services, project, draft, { sessionsMax, span: compared }, slices, nowMs);
  if (other === null) return unread;
  if (other instanceof Refusal) return refusal(other);
  return json(200, { ...answer, compare: other } satisfies RuleTestAnswer);
}

/** Null when whoever asked has gone meanwhile. */
async function testIn(
  services: RuleTestServices,
  project: Project,
  draft: DraftRule,
  scope: BacktestScope,
  slices: Slices,
  nowMs: number,
): Promise<RuleTestRange | Refusal | null> {
  const backtest = await backtestRule(services, project, draft, scope, slices, nowMs);
  if (backtest === null || backtest instanceof Refusal) return backtest;
  const { fromMs, untilMs } = scope.span ?? { fromMs: nowMs - dayMs, untilMs: null };
  const span = { fromMs, untilMs: untilMs ?? nowMs + 1 };
  const { change, counter } = backtest;
  let matchedRequests = 0;
  let weight = 0;
  const requests = await effectOnRequests(services, project, change, span, slices, nowMs, (asked, each) => {
    if (!change.draft.matches(ruleInput({ ...asked, ...change.before, nowMs })!)) return;
    matchedRequests++;
    weight += each;
  });
  if (requests === null) return null;
  const { evaluated, isSample, matched, byAction, byBand, sample, unavailableFields, warnings } = backtest;
  return {
    evaluated,
    ...(scope.span !== null && { is_sample: isSample }),
    matched,
    by_action: byAction,
    by_band: byBand,
    sample: [...sample],
    unavailable_fields: [...unavailableFields],
    warnings: [...warnings],
    requests: {
      evaluated: requests.evaluated,
      matched: matchedRequests,
      weight: weightView(weight),
      effect: changeEffectView(requests.counter.effect),
    },
    effect: effectView(counter, requests.counter),
  };
}
