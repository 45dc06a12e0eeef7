/** The alerts of a project: listed, created, changed, removed, and tried on the past. */

import { type AlertTestServices, type TestedRange, testAlert } from "../../../alerting/alert-test.js";
import { type Alerts, whenFault } from "../../../alerting/alerts.js";
import type { Alert, AlertAnswer, AlertsAnswer, AlertTestAnswer } from "../../../contract/incidents/alerts.js";
import { dayMs } from "../../../contract/values/durations.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import { Refusal, refuse } from "../../../errors.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";

/** The alerts, what a test reads, and ticks of the event loop for it. */
interface AlertServices extends AlertTestServices {
  readonly alerts: Alerts;
  readonly work: LongWork;
  readonly now: () => number;
}

/** Reads and tests by `projects:read`, changes by `projects:write`. */
export function alertRoutes(services: AlertServices): ProjectRoute[] {
  const { alerts } = services;
  return [
    projectRoute("listAlerts", {
      needs: "projects:read",
      doc: { tag: "control plane", summary: "The alerts of a project" },
      handle: ({ project }) => json(200, { data: alerts.list(project.id).map(alertView) } satisfies AlertsAnswer),
    }),
    projectRoute("createAlert", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Create an alert",
        description:
          "`when` is an incident, or so many computed verdicts within so many minutes that match an expression of the rule language. It is asked every " +
          "minute, and fires once in ten minutes at most.",
      },
      handle: async ({ project, readBody }) => {
        const read = readBody();
        if (read instanceof Refusal) return refusal(read);
        const created = await alerts.create(project, read.value);
        return created instanceof Refusal ? refusal(created) : json(201, alertView(created));
      },
    }),
    projectRoute("changeAlert", {
      needs: "projects:write",
      doc: { tag: "control plane", summary: "Change an alert", description: "Send only what changes." },
      handle: (call) => changeAlert(alerts, call),
    }),
    projectRoute("deleteAlert", {
      needs: "projects:write",
      doc: { tag: "control plane", summary: "Delete an alert" },
      handle: async ({ project, params }) => {
        const id = positiveInteger(params[1]);
        if (id === null) return missing;
        const removed = await alerts.remove(project, id);
        return removed instanceof Refusal ? refusal(removed) : { status: 204 };
      },
    }),
    projectRoute("testAlert", {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: "When a draft of an alert would have fired",
        description:
          "From what is stored: the project's incidents, or its sessions, each at the time it began, at most 10,000 of them, and samples of requests without a " +
          "session, each for as many as it stands for. Default: the last 24 hours. " +
          "Nothing is stored or sent.",
      },
      handle: (call) => test(services, call),
    }),
  ];
}

async function changeAlert(
  alerts: Alerts,
  { project, params, readBody }: Asked<"changeAlert">,
): Promise<Answered<"changeAlert">> {
  const id = positiveInteger(params[1]);
  if (id === null || !alerts.list(project.id).some((alert) => alert.id === id)) return missing;
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const changed = await alerts.change(project, id, read.value);
  return changed instanceof Refusal ? refusal(changed) : json(200, alertView(changed));
}

async function test(
  services: AlertServices,
  { project, readBody, isAborted }: Asked<"testAlert">,
): Promise<Answered<"testAlert">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { when, from, to } = read.value;
  const fault = whenFault(when);
  if (fault !== null) return refusal(fault);
  const range = rangeOf(from, to, services.now());
  if (range instanceof Refusal) return refusal(range);
  const times = await testAlert(services, project, when, range, services.work.begin(isAborted));
  if (times === null) return unread;
  const answer: AlertTestAnswer = {
    fired_at: times.timesMs.map((atMs) => new Date(atMs).toISOString()),
    is_cut: times.isCut,
    evaluated: times.evaluated,
  };
  return json(200, answer);
}

/** Days of a tested range at most. */
const testDaysMax = 92;

function rangeOf(from: string | undefined, to: string | undefined, nowMs: number): TestedRange | Refusal {
  const untilMs = to === undefined ? nowMs : isoDateOrTimeMs(to);
  const fromMs = from === undefined ? untilMs - dayMs : isoDateOrTimeMs(from);
  if (Number.isNaN(fromMs)) return refuse("invalidPayload", "from must be an ISO-8601 date or time");
  if (Number.isNaN(untilMs)) return refuse("invalidPayload", "to must be an ISO-8601 date or time");
  if (fromMs >= untilMs) return refuse("invalidPayload", "from must be before to");
  if (untilMs - fromMs > testDaysMax * dayMs)
    return refuse("invalidPayload", `at most ${testDaysMax} days can be tested`);
  return { fromMs, untilMs };
}

function alertView({ id, name, when, channelIds, isActive, createdAt, updatedAt, firedAt }: Alert): AlertAnswer {
  return {
    id,
    name,
    when,
    channel_ids: channelIds,
    is_active: isActive,
    created_at: createdAt,
    updated_at: updatedAt,
    fired_at: firedAt ?? null,
  };
}

const missing = refusal(refuse("notFound", "the project has no such alert"));
