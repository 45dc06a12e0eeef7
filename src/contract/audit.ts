/** The log of changes to an account's configuration: who, what, before and after. It never holds a secret. */
import type { tags } from "typia";
import type { LogMeta } from "./api-answers.js";

type Id = number & tags.Type<"uint32"> & tags.Minimum<1>;
export type AuditValue = string | number | boolean | null | string[];
/** Values by the names that the API has for them. */
export type AuditValues = { [name: string]: AuditValue };

export const auditActions = [
  "account.changed",
  "member.set",
  "member.removed",
  "token.created",
  "token.revoked",
  "project.created",
  "scoring.enabled",
  "key.rotated",
  "settings.changed",
  "request_scoring.changed",
  "challenge.changed",
  "rule.created",
  "rule.changed",
  "rule.removed",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** A change as it is stored. */
export interface AuditEntry {
  id: number;
  accountId: number;
  /** Null: the account itself. */
  projectId: number | null;
  /** ISO-8601. */
  at: string;
  /** Null: by the command line. */
  userId: number | null;
  tokenId: number | null;
  action: AuditAction;
  /** What was changed: a rule's id and name, a kind of key. */
  subject: string;
  /** Values that differ; null: it was not there. */
  before: AuditValues | null;
  after: AuditValues | null;
}

export interface AuditRow {
  id: Id;
  at: string & tags.Format<"date-time">;
  /** Null: by the command line; its name is null when the user no longer exists. */
  user: { id: Id; name: string | null } | null;
  token_id: Id | null;
  project_id: Id | null;
  action: AuditAction;
  /** What was changed: a rule's id and name, a kind of key, a user. */
  subject: string;
  /** Values that differ, by their names in the API; null: it was not there. */
  before: AuditValues | null;
  after: AuditValues | null;
}

export interface AuditAnswer {
  /** The latest first. */
  data: AuditRow[];
  meta: LogMeta;
}
