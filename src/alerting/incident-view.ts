/** An incident as the API and alerts show it. */
import type { Incident, IncidentAnswer } from "../contract/incidents/incidents.js";

/** The stored incident in the form of the API. */
export function incidentView(incident: Incident, nowMs: number): IncidentAnswer {
  const { mutedUntil } = incident;
  return {
    id: incident.id,
    state: incident.endedAt === null ? "open" : "ended",
    started_at: incident.startedAt,
    ended_at: incident.endedAt,
    what: incident.what,
    count: incident.count,
    baseline: incident.baseline,
    peak_per_minute: incident.peakPerMinute,
    bands: incident.bands,
    actions: incident.actions,
    expression: incident.expression,
    rule_would: incident.ruleWould,
    muted_until: mutedUntil !== undefined && Date.parse(mutedUntil) > nowMs ? mutedUntil : null,
  };
}
