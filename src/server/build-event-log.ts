/** Composes the event log: what this thread tells it of blocks, challenges, incidents, alerts and changes. Null without `--event-log`. */
import type { AlertingObserver } from "../alerting/alerting-node.js";
import { incidentView } from "../alerting/incident-view.js";
import type { JudgedFacts } from "../contract/traffic/traffic.js";
import type { ChallengeEvent } from "../control-plane/sessions/challenges.js";
import { storedAddress } from "../net/stored-address.js";
import { EventLog } from "../recording/event-log.js";
import { pathWithoutTokens } from "../recording/path-template.js";
import type { NewAuditEntry } from "../store/audit-rows.js";
import { observeChanges } from "../store/control-plane-changes.js";
import type { ThreadContext } from "./thread-context.js";

/** What `buildEventLog` returns. */
export type EventRecorder = NonNullable<ReturnType<typeof buildEventLog>>;

/** Observes changes of the configuration that this thread makes, from now on. */
export function buildEventLog({ config, log, store, meters, now }: ThreadContext) {
  if (config.eventLog === "") return null;
  const events = new EventLog({
    file: config.eventLog,
    onDropped: (lines) => meters.services.add("eventLogDropped", lines),
    onFailure: (err) => log.error({ err, file: config.eventLog }, "the event log can't be written: events are dropped"),
  });
  const at = (): string => new Date(now()).toISOString();
  observeChanges(store, (entry) => events.record(changeEvent(entry)));
  const alerting: AlertingObserver = {
    onIncident: (what, incident) =>
      events.record({
        type: `incident_${what}`,
        at: at(),
        project_id: incident.projectId,
        incident: incidentView(incident, now()),
      }),
    onAlert: ({ id, projectId, name }, incident, count) =>
      events.record({
        type: "alert",
        at: at(),
        project_id: projectId,
        alert_id: id,
        alert: name,
        incident_id: incident?.id ?? null,
        count,
      }),
    onDelivery: ({ projectId, channelId, alertId, state, attempts, status, error }) =>
      events.record({
        type: "delivery",
        at: at(),
        project_id: projectId,
        channel_id: channelId,
        alert_id: alertId,
        state,
        attempts,
        status,
        error,
      }),
  };
  return {
    events,
    alerting,
    onJudged: (facts: JudgedFacts): void => {
      if (facts.action === "block") events.record(blockEvent(facts));
    },
    onChallenge: (event: ChallengeEvent): void => {
      if (event.what === "failed") return;
      events.record({
        type: event.what === "issued" ? "challenge_shown" : "challenge_passed",
        at: at(),
        project_id: event.projectId,
        session_token: event.token,
        rule_id: event.rule === 0 ? null : event.rule,
        ip: storedAddress(event.visitor.ip, config.ipStorage) || null,
        user_agent: event.visitor.userAgent || null,
        ...(event.what === "passed" && { took_ms: event.tookMs }),
      });
    },
  };
}

function blockEvent(facts: JudgedFacts) {
  const { projectId, atMs, sessionToken, subject, band, score, detectionIds, rule, reason, values, method, userAgent } =
    facts;
  return {
    type: "block",
    at: new Date(atMs).toISOString(),
    project_id: projectId,
    subject,
    session_token: sessionToken,
    band,
    score,
    detection_ids: detectionIds,
    rule_id: rule?.id ?? null,
    reason,
    method: method || null,
    host: values.host || null,
    path: pathWithoutTokens(facts.path) || null,
    ip: values.ip || null,
    country: values.country || null,
    asn: values.asn === "" ? null : Number(values.asn),
    user_agent: userAgent || null,
  };
}

function changeEvent({ at, accountId, projectId, userId, tokenId, action, subject, before, after }: NewAuditEntry) {
  return {
    type: "change",
    at,
    project_id: projectId,
    account_id: accountId,
    user_id: userId,
    token_id: tokenId,
    action,
    subject,
    before,
    after,
  };
}
