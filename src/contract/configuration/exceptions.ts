/** Exceptions of a project: whom it lets through until when, whatever the rules say. As bodies, answers and stored records. */
import type { tags } from "typia";
import type { Id, IsoTime, LogMeta } from "../values/answer-values.js";

/** What an exception may be for, by the name of the one key of its subject. */
export const exceptionSubjects = ["session_token", "ip", "network", "user_agent", "agent"] as const;
/** A session, an address, a range of addresses, a whole user agent, or an agent by its name. */
export type ExceptionSubjectKind = (typeof exceptionSubjects)[number];

/** Exactly one of these. */
export interface ExceptionSubject {
  /** A stored session of the project. */
  session_token?: string;
  /** One address. */
  ip?: string;
  /** Any range of addresses in CIDR notation: `192.0.2.0/24`, `2001:db8::/32`. */
  network?: string;
  /** The whole user agent, not a part of it. */
  user_agent?: string & tags.MinLength<1> & tags.MaxLength<512>;
  /** The name of an agent or a bot, as verdicts and lists have it; letter case does not count. */
  agent?: string & tags.MinLength<1> & tags.MaxLength<255>;
}

/** Whom to let through. */
export interface ExceptionBody {
  subject: ExceptionSubject;
  /** ISO 8601, in the future, at most a year ahead. */
  expires_at: string;
  /** Why: verdicts that it decides quote it. No control characters, and none that turn the direction of text. */
  note?: string & tags.MaxLength<500>;
  /** The reference of the block or challenge page that led to it. */
  reference?: string & tags.MinLength<1> & tags.MaxLength<100>;
}

/** An exception of a project, as it is listed. */
export interface ExceptionRow {
  id: Id;
  /** One key: `session_token`, `ip`, `network`, `user_agent` or `agent`. */
  subject: ExceptionSubject;
  expires_at: IsoTime;
  note: string;
  /** Only where one was given. */
  reference?: string;
  created_at: IsoTime;
}

/** A new exception. */
export interface ExceptionAnswer extends ExceptionRow {
  /** What to know about it: that it is for a definite bot, for very many visitors, for a name that anybody can copy, or that no list has. */
  warning?: string;
}

/** One page of the exceptions that have not expired. */
export interface ExceptionsAnswer {
  /** The oldest first. */
  data: ExceptionRow[];
  meta: LogMeta;
}

/** Whether a range in CIDR notation is wider than what one network operator is usually given at once: a /12 of IPv4, a /24 of IPv6. */
export function isWideNetwork(network: string): boolean {
  const bits = Number(/\/(\d{1,3})$/.exec(network)?.[1] ?? Number.POSITIVE_INFINITY);
  return bits < (network.includes(":") ? 24 : 12);
}

/** A stored exception. Times are ISO-8601. */
export interface Exception {
  id: number;
  projectId: number;
  kind: ExceptionSubjectKind;
  /** In the form in which visitors are compared: an address or range in its canonical spelling, a name in lower case. */
  value: string;
  /** As it was given, where that differs. */
  shown?: string;
  expiresAt: string;
  note: string;
  reference?: string;
  createdAt: string;
}

/** A visitor as a verdict knows him; what is unknown is absent, and matches nothing. */
export interface ExceptedVisitor {
  /** The token of a stored session. */
  readonly sessionToken?: string | undefined;
  readonly ip?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Names of the agents or bots that he is, as far as nothing denies it. */
  readonly agents: readonly string[];
}

/** What lets somebody through, and the sentence that says so. */
export interface LetThrough {
  readonly expiresAtMs: number;
  readonly reason: string;
}

/** The exceptions of a project as verdicts ask for them. */
export interface ExceptionLookup {
  /** The exception for this visitor, the one of his session first; null if he has none that has not expired. */
  find(visitor: ExceptedVisitor, nowMs: number): LetThrough | null;
}
