/** Incidents: sudden automated traffic, described by the values that it shares. */
import type { tags } from "typia";
import type { LogMeta } from "../values/answer-values.js";

type Count = number & tags.Type<"uint64">;
type Time = string & tags.Format<"date-time">;

/** The values that the requests of an incident share; each narrows it further. */
export interface IncidentWhat {
  /** The first four segments; `*` stands for what looks like an id. */
  path?: string;
  host?: string;
  ip?: string;
  /** /24 of IPv4, /48 of IPv6. */
  network?: string;
  asn?: string;
  country?: string;
  user_agent_family?: string;
  declared_bot?: string;
  /** The operator. */
  verified_bot?: string;
  agent?: string;
  /** Id of the rule that answered. */
  rule?: string;
  /** Id of a detection. */
  detection?: string;
}

/** Counts by name of a band or an action. */
export interface IncidentCounts {
  [name: string]: Count;
}

/** What a rule that blocks the incident's expression would have done to its requests so far. */
export interface IncidentRuleWould {
  /** Requests that were not blocked anyway. */
  newly_blocked: Count;
  /** Of these, in the human band, and of visitors who were logged in. */
  likely_human: Count;
  logged_in: Count;
}

/** An incident as it is stored. */
export interface Incident {
  id: number & tags.Type<"uint32"> & tags.Minimum<1>;
  projectId: number & tags.Type<"uint32"> & tags.Minimum<1>;
  startedAt: Time;
  /** null while it is open. */
  endedAt: Time | null;
  /** When its counts were last written; an open one that nobody writes any more is ended. */
  seenAt: Time;
  what: IncidentWhat;
  /** Requests since it began. */
  count: Count;
  /** Requests that five minutes usually have. */
  baseline: number & tags.Minimum<0>;
  peakPerMinute: Count;
  bands: IncidentCounts;
  actions: IncidentCounts;
  expression: string;
  ruleWould: IncidentRuleWould;
  /** Until then neither it nor one of the same `what` alerts; absent: not muted. */
  mutedUntil?: Time;
}

/** An incident as the API shows it. */
export interface IncidentAnswer {
  id: number & tags.Type<"uint32"> & tags.Minimum<1>;
  state: "open" | "ended";
  started_at: Time;
  ended_at: Time | null;
  what: IncidentWhat;
  /** Requests since it began. */
  count: Count;
  /** Requests that five minutes usually have of it. */
  baseline: number & tags.Minimum<0>;
  peak_per_minute: Count;
  bands: IncidentCounts;
  actions: IncidentCounts;
  /** A rule that matches it. */
  expression: string;
  rule_would: IncidentRuleWould;
  /** Until then neither it nor one of the same `what` alerts or leads the overview; null: not muted. */
  muted_until: Time | null;
}

/** A page of a project's incidents, the latest first. */
export interface IncidentsAnswer {
  data: IncidentAnswer[];
  meta: LogMeta;
}

/** For how long an incident, and others of the same `what`, are silent. */
export interface MuteBody {
  hours: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<720>;
}
