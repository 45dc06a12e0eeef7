/** `POST …/rules/test`: what a draft rule would have done to the latest sessions, or to those of the last hours. Stores nothing. */
import type { RuleTestAnswer } from "../../../contract/api-answers.js";
import { checkRuleTest } from "../../../contract/validators.js";
import { type BacktestServices, backtestRule } from "../../../control-plane/rule-backtest.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { json, type Reply, refusal, unread } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { readBodyAs } from "./wire.js";

/** What a backtest needs, and ticks of the event loop for it. */
export interface RuleTestServices extends BacktestServices {
  readonly work: LongWork;
  readonly now: () => number;
}

/** By `projects:read`. 409 while another backtest of the account runs, 422 for an expression that doesn't compile. */
export function ruleTestRoute(services: RuleTestServices): ProjectRoute {
  return {
    method: "post",
    path: "/v1/projects/:project/rules/test",
    credential: "project",
    needs: "projects:read",
    readsBody: true,
    doc: {
      id: "testRule",
      tag: "control plane",
      summary: "Backtest a draft rule on stored sessions",
      description:
        "As if it were the project's only rule, with the current guards, threshold and logged-in policy. The request context is what " +
        "each session last reported. It uses the latest sessions; `hours` selects those of a time range instead. Nothing is stored. " +
        "An account can run one backtest at a time; another is answered 409 until it has ended. It ends when its client disconnects.",
      body: "RuleTestBody",
      answers: { 200: "RuleTestAnswer" },
      refusals: ["conflict"],
    },
    handle: (call) => testRule(services, call),
  };
}

async function testRule(services: RuleTestServices, { project, body, isAborted }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkRuleTest);
  if (read instanceof Refusal) return refusal(read);
  const { expression, action, limit, hours } = read.value;
  const draft = { expressionSource: expression, action };
  const scope = { sessionsMax: limit ?? limits.ruleTestSessionsDefault, hours: hours ?? null };
  const slices = services.work.begin(isAborted);
  const backtest = await backtestRule(services, project, draft, scope, slices, services.now());
  if (backtest === null) return unread;
  if (backtest instanceof Refusal) return refusal(backtest);
  const { evaluated, isSample, matched, byAction, byBand, sample, unavailableFields, warnings } = backtest;
  const answer: RuleTestAnswer = {
    evaluated,
    ...(hours !== undefined && { is_sample: isSample }),
    matched,
    by_action: byAction,
    by_band: byBand,
    sample: [...sample],
    unavailable_fields: [...unavailableFields],
    warnings: [...warnings],
  };
  return json(200, answer);
}
