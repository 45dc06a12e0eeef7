/** `POST …/rules/test`: what a draft rule would have done to the latest sessions, or to those of the last hours. Stores nothing. */
import type { RuleTestAnswer } from "../../../contract/api-answers.js";
import { checkRuleTest } from "../../../contract/validators.js";
import { replayRule } from "../../../control-plane/rule-replay.js";
import type { Sessions } from "../../../control-plane/sessions.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { readBodyAs } from "./wire.js";

export interface RuleTestServices {
  readonly sessions: Sessions;
  readonly now: () => number;
}

export function ruleTestRoute({ sessions, now }: RuleTestServices): ProjectRoute {
  return {
    method: "post",
    path: "/v1/projects/:project/rules/test",
    credential: "project",
    readsBody: true,
    doc: {
      id: "testRule",
      tag: "control plane",
      summary: "Replay a draft rule on stored sessions",
      description:
        "As if it were the project's only rule: guards, bands and the logged-in policy are those of now, the request context is what " +
        "each session last reported. The latest sessions come first; `hours` replays those of a time instead. Nothing is stored.",
      body: "RuleTestBody",
      answers: { 200: "RuleTestAnswer" },
    },
    handle: (call) => testRule(sessions, call, now()),
  };
}

async function testRule(sessions: Sessions, { project, body }: ProjectCall, nowMs: number): Promise<Reply> {
  const read = readBodyAs(body, checkRuleTest);
  if (read instanceof Refusal) return refusal(read);
  const { expression, action, limit, hours } = read.value;
  const draft = { expressionSource: expression, action };
  const scope = { sessionsMax: limit ?? limits.ruleTestSessionsDefault, hours: hours ?? null };
  const replay = await replayRule(sessions, project, draft, scope, nowMs);
  if (replay instanceof Refusal) return refusal(replay);
  const { evaluated, isSample, matched, byAction, byBand, sample } = replay;
  const answer: RuleTestAnswer = {
    evaluated,
    ...(hours !== undefined && { is_sample: isSample }),
    matched,
    by_action: byAction,
    by_band: byBand,
    sample: [...sample],
  };
  return json(200, answer);
}
