/** Checks compiled by typia from the contract's types. The only file that calls typia. */
import typia from "typia";
import type { Alert, AlertBody, AlertChangeBody, AlertTestBody, Channel, ChannelBody, Delivery } from "./alerts.js";
import type { ApiTypes } from "./api-answers.js";
import type { AuditEntry } from "./audit.js";
import type { ChallengePageOptions } from "./challenge-page.js";
import type {
  ChallengeSettingsBody,
  EndOldKeysBody,
  MemberBody,
  MemberChangeBody,
  ProjectBody,
  RequestScoringBody,
  RotateBody,
  RuleBody,
  RuleChangeBody,
  RuleTestBody,
  SettingsBody,
  SettingsTestBody,
  TokenBody,
} from "./control.js";
import type { Account, AccountToken, Block, KeyOwner, Membership, Project, Rule, Traffic, User } from "./entities.js";
import type { IngestEvents } from "./events.js";
import type { Exception, ExceptionBody } from "./exceptions.js";
import type { Incident, MuteBody } from "./incidents.js";
import type { MarkBody, SessionMark } from "./marks.js";
import { type Mismatch, mismatchIn, type Validate } from "./mismatch.js";
import type { RulesFile } from "./rules-file.js";
import type { SessionDeletionBody } from "./session-deletion.js";
import type { SessionQueryBody } from "./session-query.js";
import type { Timeline } from "./timeline.js";

/** True when the value is a list of events with no key beyond the whitelist. The fast path: it builds no report. */
export const areIngestEvents = typia.createEquals<IngestEvents>();

const reportIngestEvents = typia.createValidateEquals<IngestEvents>();

/** Returns the first reason why `areIngestEvents` returned false. */
export function ingestEventsMismatch(value: unknown): Mismatch | null {
  const report = reportIngestEvents(value);
  return report.success ? null : mismatchIn(value, report, reportIngestEvents, "events");
}

/** The body, or the first reason why it is invalid. Unknown keys are ignored. */
export type Validated<T> = { readonly value: T } | Mismatch;

const validators = {
  rotate: typia.createValidate<RotateBody>(),
  settings: typia.createValidate<SettingsBody>(),
  settingsTest: typia.createValidate<SettingsTestBody>(),
  requestScoring: typia.createValidate<RequestScoringBody>(),
  challengeSettings: typia.createValidate<ChallengeSettingsBody>(),
  challengePage: typia.createValidate<ChallengePageOptions>(),
  rule: typia.createValidate<RuleBody>(),
  ruleChange: typia.createValidate<RuleChangeBody>(),
  ruleTest: typia.createValidate<RuleTestBody>(),
  exceptionBody: typia.createValidate<ExceptionBody>(),
  sessionQuery: typia.createValidateEquals<SessionQueryBody>(),
  rulesFile: typia.createValidateEquals<RulesFile>(),
  project: typia.createValidate<ProjectBody>(),
  token: typia.createValidate<TokenBody>(),
  endOldKeys: typia.createValidate<EndOldKeysBody>(),
  member: typia.createValidate<MemberBody>(),
  memberChange: typia.createValidate<MemberChangeBody>(),
  sessionDeletion: typia.createValidateEquals<SessionDeletionBody>(),
  mark: typia.createValidate<MarkBody>(),
  mute: typia.createValidate<MuteBody>(),
  alert: typia.createValidate<AlertBody>(),
  alertChange: typia.createValidate<AlertChangeBody>(),
  alertTest: typia.createValidate<AlertTestBody>(),
  channel: typia.createValidate<ChannelBody>(),
};

function check<T>(validate: (value: unknown) => typia.IValidation<T>, value: unknown): Validated<T> {
  const report = validate(value);
  return report.success ? { value: report.data } : mismatchIn(value, report, validate);
}

/** Body of `POST …/scoring/rotate`. */
export const checkRotate = (value: unknown): Validated<RotateBody> => check(validators.rotate, value);
/** Body of `PUT …/scoring/settings`. */
export const checkSettings = (value: unknown): Validated<SettingsBody> => check(validators.settings, value);
/** Body of `POST …/scoring/settings/test`. */
export const checkSettingsTest = (value: unknown): Validated<SettingsTestBody> => check(validators.settingsTest, value);
/** Body of `PUT …/request-scoring`. */
export const checkRequestScoring = (value: unknown): Validated<RequestScoringBody> =>
  check(validators.requestScoring, value);
/** Body of `PUT …/challenge`. */
export const checkChallengeSettings = (value: unknown): Validated<ChallengeSettingsBody> =>
  check(validators.challengeSettings, value);
/** Body of `POST /v1/challenge-page` without what `POST /v1/verdict` has too, which is not checked here. */
export const checkChallengePage = (value: unknown): Validated<ChallengePageOptions> =>
  check(validators.challengePage, value);
/** Body of `POST …/rules`; whether the expression compiles is not checked here. */
export const checkRule = (value: unknown): Validated<RuleBody> => check(validators.rule, value);
/** Body of `PATCH` and `PUT` on a rule; nothing in it is required. */
export const checkRuleChange = (value: unknown): Validated<RuleChangeBody> => check(validators.ruleChange, value);
/** A file of rules; the only check here that refuses unknown keys. */
export const checkRulesFile = (value: unknown): Validated<RulesFile> => check(validators.rulesFile, value);
/** Body of `POST …/exceptions`; what the subject and the time say is not checked here. */
export const checkException = (value: unknown): Validated<ExceptionBody> => check(validators.exceptionBody, value);
/** Body of `POST …/rules/test`. */
export const checkRuleTest = (value: unknown): Validated<RuleTestBody> => check(validators.ruleTest, value);
/** Body of `POST …/sessions/query`; times and the expression are only checked to be texts. */
export const checkSessionQuery = (value: unknown): Validated<SessionQueryBody> => check(validators.sessionQuery, value);
/** Body of `PUT …/sessions/{session_token}/mark`. */
export const checkMark = (value: unknown): Validated<MarkBody> => check(validators.mark, value);
/** Body of `POST /v1/tokens`. */
export const checkToken = (value: unknown): Validated<TokenBody> => check(validators.token, value);
/** Body of `POST …/scoring/end-old-keys`. */
export const checkEndOldKeys = (value: unknown): Validated<EndOldKeysBody> => check(validators.endOldKeys, value);
/** Body of `POST /v1/projects`. */
export const checkProject = (value: unknown): Validated<ProjectBody> => check(validators.project, value);
/** Body of `POST /v1/members`; the address is only bounded here. */
export const checkMember = (value: unknown): Validated<MemberBody> => check(validators.member, value);
/** Body of `PATCH /v1/members/{user}`. */
export const checkMemberChange = (value: unknown): Validated<MemberChangeBody> => check(validators.memberChange, value);
/** Body of `POST …/sessions/delete`; times and the expression are only checked to be texts. */
export const checkSessionDeletion = (value: unknown): Validated<SessionDeletionBody> =>
  check(validators.sessionDeletion, value);

/** Body of `POST …/incidents/{incident}/mute`. */
export const checkMute = (value: unknown): Validated<MuteBody> => check(validators.mute, value);
/** Body of `POST …/alerts`; whether the expression compiles is not checked here. */
export const checkAlert = (value: unknown): Validated<AlertBody> => check(validators.alert, value);
/** Body of `PATCH` on an alert; nothing in it is required. */
export const checkAlertChange = (value: unknown): Validated<AlertChangeBody> => check(validators.alertChange, value);
/** Body of `POST …/alerts/test`. */
export const checkAlertTest = (value: unknown): Validated<AlertTestBody> => check(validators.alertTest, value);
/** Body of `POST …/channels`; its URL is only bounded here. */
export const checkChannel = (value: unknown): Validated<ChannelBody> => check(validators.channel, value);

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
