/** The log of changes to an account's configuration: who, what, before and after. It never holds a secret. */

import type { tags } from "typia";
import type { LogMeta } from "../values/answer-values.js";

type Id = number & tags.Type<"uint32"> & tags.Minimum<1>;
/** A setting as the log shows it: text, number, flag, list of texts; null where it has no value. */
export type AuditValue = string | number | boolean | null | string[];
/** Values by the names that the API has for them. */
export type AuditValues = { [name: string]: AuditValue };

/** Every logged action, as `kind.what`; stored rows hold these texts, so none is renamed. */
const auditActions = [
  "account.created",
  "account.changed",
  "user.created",
  "member.set",
  "member.removed",
  "token.created",
  "token.revoked",
  "project.created",
  "scoring.enabled",
  "key.rotated",
  "key.ended",
  "settings.changed",
  "request_scoring.changed",
  "challenge.changed",
  "rule.created",
  "rule.changed",
  "rule.removed",
  "exception.created",
  "exception.removed",
  "sessions.deleted",
  "incident.muted",
  "alert.created",
  "alert.changed",
  "alert.removed",
  "channel.created",
  "channel.removed",
  "ip_list.imported",
  "ip_list.removed",
  "verified_bots.imported",
  "declared_bots.imported",
  "agent_marks.imported",
  "signed_agents.imported",
  "signed_agent.added",
  "signed_agent.removed",
  "signed_agent.keys_imported",
] as const;
/** An action by its name in the store and the API. */
export type AuditAction = (typeof auditActions)[number];

/** The kind of an action: the part before the dot. */
export const auditKinds: ReadonlySet<string> = new Set(auditActions.map((action) => action.split(".")[0]!));

/** Kinds by the log that keeps them, the rest in one more: whoever fills one log pushes nothing out of another. Stored rows depend on this order. */
const keptApart: readonly (readonly string[])[] = [
  ["account", "user", "member", "token"],
  ["project", "scoring", "key"],
  ["settings", "request_scoring", "challenge"],
];

/** Logs of an account, and of the server. */
export const auditLogs = keptApart.length + 1;

/** The number, from 0, of the log that keeps changes of a kind. Earlier versions had only log 0. */
export function auditLogOfKind(kind: string): number {
  const log = keptApart.findIndex((kinds) => kinds.includes(kind));
  return log === -1 ? keptApart.length : log;
}

/** The log for changes that apply to all accounts: no account has this id. */
export const accountOfServer = 0;

/** A change in its stored form. */
export interface AuditEntry {
  id: number;
  /** `accountOfServer` if it applies to all accounts. */
  accountId: number;
  /** `null` means the account itself, or the server. */
  projectId: number | null;
  /** ISO-8601. */
  at: string;
  /** `null` means the command line. */
  userId: number | null;
  tokenId: number | null;
  action: AuditAction;
  /** What was changed: a rule's id and name, a kind of key. */
  subject: string;
  /** Values that differ; `null` means that there was none. */
  before: AuditValues | null;
  after: AuditValues | null;
  /** How many changes of one thing by one token, within a minute from `at`, this stands for; absent: one. */
  count?: number;
}

/** A change as the API shows it; the user's name is looked up when it is read. */
export interface AuditRow {
  /** Unique in its scope: the server's, or the account's with its projects. */
  id: Id;
  /** What it applies to: the whole server, the account, or one project. */
  scope: "server" | "account" | "project";
  at: string & tags.Format<"date-time">;
  /** Null: by the command line; its name is null when the user no longer exists. */
  user: { id: Id; name: string | null } | null;
  token_id: Id | null;
  project_id: Id | null;
  action: AuditAction;
  /** What was changed: a rule's id and name, a kind of key, a user. */
  subject: string;
  /** Values that changed, by their names in the API; null: there was none. */
  before: AuditValues | null;
  after: AuditValues | null;
  /** Changes of one thing by one token within a minute are one entry: how many they were. */
  count: number & tags.Type<"uint32"> & tags.Minimum<1>;
}

/** One page of the log of changes. */
export interface AuditAnswer {
  /** The latest first. */
  data: AuditRow[];
  meta: LogMeta;
}
