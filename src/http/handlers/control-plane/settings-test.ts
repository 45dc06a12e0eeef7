/** `POST …/scoring/settings/test`: what changed settings would do to stored sessions and to samples of requests. Stores nothing. */

import type { SettingsTestAnswer } from "../../../contract/configuration/backtest-answers.js";
import { dayMs, hourMs } from "../../../contract/values/durations.js";
import { backtestSettings } from "../../../control-plane/insight/settings-backtest.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { changeEffectView, effectOnRequests, effectView, weightView } from "./effect-view.js";
import type { RuleTestServices } from "./rule-test.js";
import { changedProject, removedToggleIn } from "./scoring.js";

/** By `projects:read`. 409 while another backtest of the account runs. */
export function settingsTestRoute(services: RuleTestServices): ProjectRoute {
  return projectRoute("testSettings", {
    needs: "projects:read",
    doc: {
      tag: "control plane",
      summary: "Try changed settings on stored sessions and requests",
      description:
        "Compares verdicts by the rules as they are: with the settings as they are, and with these. `effect` is of the latest sessions, or of those that " +
        "began in the last `hours`; `requests.effect` of the samples of requests without a session, scaled up. A session is judged by what it last " +
        "reported, so `protect_static` shows in requests. Nothing is stored. An account can run one backtest at a time; another is answered 409.",
      refusals: ["conflict"],
    },
    handle: (call) => testSettings(services, call),
  });
}

async function testSettings(
  services: RuleTestServices,
  { project, readBody, isAborted }: Asked<"testSettings">,
): Promise<Answered<"testSettings">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const removed = removedToggleIn(read.raw);
  if (removed !== null) return refusal(removed);
  const { limit, hours, ...settings } = read.value;
  await services.flush();
  const slices = services.work.begin(isAborted);
  const nowMs = services.now();
  const span = hours === undefined ? null : { fromMs: nowMs - hours * hourMs, untilMs: null };
  const scope = { sessionsMax: limit ?? limits.ruleTestSessionsDefault, span };
  const changed = changedProject(project, settings);
  const backtest = await backtestSettings(services, project, changed, scope, slices, nowMs);
  if (backtest === null) return unread;
  if (backtest instanceof Refusal) return refusal(backtest);
  const { evaluated, isSample, change, counter } = backtest;
  const sampled = { fromMs: span?.fromMs ?? nowMs - dayMs, untilMs: nowMs + 1 };
  const requests = await effectOnRequests(services, project, change, sampled, slices, nowMs);
  if (requests === null) return unread;
  return json(200, {
    evaluated,
    ...(span !== null && { is_sample: isSample }),
    effect: effectView(counter, requests.counter),
    requests: {
      evaluated: requests.evaluated,
      weight: weightView(requests.weight),
      effect: changeEffectView(requests.counter.effect),
    },
  } satisfies SettingsTestAnswer);
}
