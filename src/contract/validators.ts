/** Checks compiled by typia from the contract's types. The only file that calls typia. */
import typia from "typia";
import type { ApiTypes } from "./api/api-types.js";
import type { BodyName } from "./api/operations.js";
import type { AuditEntry } from "./configuration/audit.js";
import type {
  Account,
  AccountToken,
  Block,
  KeyOwner,
  Membership,
  Project,
  Rule,
  Traffic,
  User,
} from "./configuration/entities.js";
import type { Exception } from "./configuration/exceptions.js";
import type { RulesFile } from "./configuration/rules-file.js";
import type { IngestEvents } from "./events/events.js";
import type { Alert, Channel, Delivery } from "./incidents/alerts.js";
import type { Incident } from "./incidents/incidents.js";
import type { SessionMark } from "./sessions/marks.js";
import type { Timeline } from "./sessions/timeline.js";
import { type Mismatch, mismatchIn, type Validate } from "./values/mismatch.js";
import type { ChallengePageOptions } from "./verdicts/challenge-page.js";

/** True when the value is a list of events with no key beyond the whitelist. The fast path: it builds no report. */
export const areIngestEvents = typia.createEquals<IngestEvents>();

const reportIngestEvents = typia.createValidateEquals<IngestEvents>();

/** Returns the first reason why `areIngestEvents` returned false. */
export function ingestEventsMismatch(value: unknown): Mismatch | null {
  const report = reportIngestEvents(value);
  return report.success ? null : mismatchIn(value, report, reportIngestEvents, "events");
}

/** The body, or the first reason why it is invalid. Unknown keys are ignored. */
type Validated<T> = { readonly value: T } | Mismatch;

/** The bodies of operations by name; those of queries and deletions refuse unknown keys. */
const bodies = {
  AlertBody: typia.createValidate<ApiTypes["AlertBody"]>(),
  AlertChangeBody: typia.createValidate<ApiTypes["AlertChangeBody"]>(),
  AlertTestBody: typia.createValidate<ApiTypes["AlertTestBody"]>(),
  ChallengeSettingsBody: typia.createValidate<ApiTypes["ChallengeSettingsBody"]>(),
  ChannelBody: typia.createValidate<ApiTypes["ChannelBody"]>(),
  EndOldKeysBody: typia.createValidate<ApiTypes["EndOldKeysBody"]>(),
  ExceptionBody: typia.createValidate<ApiTypes["ExceptionBody"]>(),
  MarkBody: typia.createValidate<ApiTypes["MarkBody"]>(),
  MemberBody: typia.createValidate<ApiTypes["MemberBody"]>(),
  MemberChangeBody: typia.createValidate<ApiTypes["MemberChangeBody"]>(),
  MuteBody: typia.createValidate<ApiTypes["MuteBody"]>(),
  ProjectBody: typia.createValidate<ApiTypes["ProjectBody"]>(),
  RequestScoringBody: typia.createValidate<ApiTypes["RequestScoringBody"]>(),
  RotateBody: typia.createValidate<ApiTypes["RotateBody"]>(),
  RuleBody: typia.createValidate<ApiTypes["RuleBody"]>(),
  RuleChangeBody: typia.createValidate<ApiTypes["RuleChangeBody"]>(),
  RuleTestBody: typia.createValidate<ApiTypes["RuleTestBody"]>(),
  SessionDeletionBody: typia.createValidateEquals<ApiTypes["SessionDeletionBody"]>(),
  SessionQueryBody: typia.createValidateEquals<ApiTypes["SessionQueryBody"]>(),
  SettingsBody: typia.createValidate<ApiTypes["SettingsBody"]>(),
  SettingsTestBody: typia.createValidate<ApiTypes["SettingsTestBody"]>(),
  TokenBody: typia.createValidate<ApiTypes["TokenBody"]>(),
} satisfies { readonly [Name in BodyName]: (value: unknown) => typia.IValidation<ApiTypes[Name]> };

const validateRulesFile = typia.createValidateEquals<RulesFile>();
const validateChallengePage = typia.createValidate<ChallengePageOptions>();

function check<T>(validate: (value: unknown) => typia.IValidation<T>, value: unknown): Validated<T> {
  const report = validate(value);
  return report.success ? { value: report.data } : mismatchIn(value, report, validate);
}

/** The body of an operation, by the name of its type. Texts are only checked to be texts: times, expressions, addresses. */
export function checkBody<Name extends BodyName>(name: Name, value: unknown): Validated<ApiTypes[Name]> {
  const validate: (value: unknown) => typia.IValidation<unknown> = bodies[name];
  return check(validate, value) as Validated<ApiTypes[Name]>;
}

/** Body of `POST /v1/challenge-page` without what `POST /v1/verdict` has too, which is not checked here. */
export const checkChallengePage = (value: unknown): Validated<ChallengePageOptions> =>
  check(validateChallengePage, value);
/** A file of rules; unknown keys are refused. */
export const checkRulesFile = (value: unknown): Validated<RulesFile> => check(validateRulesFile, value);

/** JSON schemas of every body and answer, from the same types: `components.schemas.ApiTypes` refers to each by its name. */
export const apiSchemas = typia.json.schemas<[ApiTypes], "3.1">();

const recordValidators = {
  account: typia.createValidate<Account>(),
  user: typia.createValidate<User>(),
  membership: typia.createValidate<Membership>(),
  token: typia.createValidate<AccountToken>(),
  project: typia.createValidate<Project>(),
  keyOwner: typia.createValidate<KeyOwner>(),
  rule: typia.createValidate<Rule>(),
  exception: typia.createValidate<Exception>(),
  block: typia.createValidate<Block>(),
  traffic: typia.createValidate<Traffic>(),
  timeline: typia.createValidate<Timeline>(),
  mark: typia.createValidate<SessionMark>(),
  audit: typia.createValidate<AuditEntry>(),
  alert: typia.createValidate<Alert>(),
  channel: typia.createValidate<Channel>(),
  delivery: typia.createValidate<Delivery>(),
  incident: typia.createValidate<Incident>(),
};

/** The kinds of records that `storedRecordMismatch` can check. */
export type StoredRecord = keyof typeof recordValidators;

/** Returns where and why a stored record does not match its kind; null when it does. For the integrity check. */
export function storedRecordMismatch(kind: StoredRecord, value: unknown): Mismatch | null {
  const validate: Validate = recordValidators[kind];
  const report = validate(value);
  return report.success ? null : mismatchIn(value, report, validate);
}
