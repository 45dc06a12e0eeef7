/**
 * The bodies and answers of the API by the names that routes use. Handlers build these types, and the OpenAPI document is generated from them
 * (`validators.ts`), so that the documented, the checked and the sent form can't drift apart.
 */
import type { AgentsAnswer, DeclaredBotsAnswer, SignedAgentsAnswer, VerifiedBotsAnswer } from "../bots/bot-answers.js";
import type {
  AccountAnswer,
  MemberChangedAnswer,
  MemberCreatedAnswer,
  MembersAnswer,
  TokenCreatedAnswer,
  TokenRevokedAnswer,
  TokensAnswer,
  UsageAnswer,
  UserAnswer,
} from "../configuration/account-answers.js";
import type { AuditAnswer } from "../configuration/audit.js";
import type { RuleTestAnswer, SettingsTestAnswer } from "../configuration/backtest-answers.js";
import type {
  ChallengeBody,
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
  SolutionBody,
  TokenBody,
} from "../configuration/control.js";
import type { ExceptionAnswer, ExceptionBody, ExceptionsAnswer } from "../configuration/exceptions.js";
import type { IpListsAnswer } from "../configuration/ip-lists.js";
import type {
  ChallengeSettingsAnswer,
  OldKeysEndedAnswer,
  ProjectRow,
  ProjectsAnswer,
  RequestScoringAnswer,
  RotatedKeyAnswer,
  ScoringAnswer,
  ScoringEnabledAnswer,
  SettingsAnswer,
} from "../configuration/project-answers.js";
import type { ListedRuleAnswer, RuleAnswer } from "../configuration/rule-answers.js";
import type { IngestAnswer, IngestBatch } from "../events/events.js";
import type { DetectionsAnswer } from "../evidence/detection-answers.js";
import type {
  AlertAnswer,
  AlertBody,
  AlertChangeBody,
  AlertsAnswer,
  AlertTestAnswer,
  AlertTestBody,
  ChannelBody,
  ChannelsAnswer,
  DeliveriesAnswer,
  DeliveryAnswer,
  NewChannelAnswer,
} from "../incidents/alerts.js";
import type { IncidentAnswer, IncidentsAnswer, MuteBody } from "../incidents/incidents.js";
import type { MarkAnswer, MarkBody, MarksAnswer } from "../sessions/marks.js";
import type {
  LoggedInAnswer,
  SessionAnswer,
  SessionsAnswer,
  StartTicketAnswer,
  TimelineAnswer,
} from "../sessions/session-answers.js";
import type { SessionDeletionAnswer, SessionDeletionBody } from "../sessions/session-deletion.js";
import type { SessionQueryAnswer, SessionQueryBody } from "../sessions/session-query.js";
import type { BlocksAnswer } from "../traffic/block-answers.js";
import type { RuleMinutesAnswer, StatsAnswer } from "../traffic/stats-answers.js";
import type { CrawlersAnswer, RequestSamplesAnswer, TrafficAnswer } from "../traffic/traffic-answers.js";
import type { ChallengeAnswer, ClearedAnswer } from "../verdicts/challenge-answers.js";
import type { ChallengePageAnswer, ChallengePageBody } from "../verdicts/challenge-page.js";
import type { VerdictBody } from "../verdicts/judged-request.js";
import type { RequestVerdict, Verdict } from "../verdicts/verdict.js";

/** Body of every error. `code` is stable, and absent where the contract has none. */
export interface ErrorAnswer {
  /** Short title. */
  error: string;
  /** Names the offending field; never echoes a secret. */
  message: string;
  code?: string;
}

/** `ok` from `/healthz`; `ready` or, with status 503, `not ready` from `/readyz`. */
export interface HealthAnswer {
  status: "ok" | "ready" | "not ready";
  /** What a node of a cluster still waits for at its start. */
  waiting_for?: string;
}

/** The demo's own verdict; empty while no project has scoring enabled. */
type DemoVerdictAnswer = Partial<Verdict>;

/** Request bodies and answers by their names in routes and the OpenAPI document. */
export interface ApiTypes {
  IngestBatch: IngestBatch;
  RotateBody: RotateBody;
  EndOldKeysBody: EndOldKeysBody;
  ProjectBody: ProjectBody;
  MemberBody: MemberBody;
  MemberChangeBody: MemberChangeBody;
  SettingsBody: SettingsBody;
  SettingsTestBody: SettingsTestBody;
  RequestScoringBody: RequestScoringBody;
  ChallengeSettingsBody: ChallengeSettingsBody;
  ChallengeBody: ChallengeBody;
  SolutionBody: SolutionBody;
  RuleBody: RuleBody;
  RuleChangeBody: RuleChangeBody;
  RuleTestBody: RuleTestBody;
  ExceptionBody: ExceptionBody;
  ExceptionAnswer: ExceptionAnswer;
  ExceptionsAnswer: ExceptionsAnswer;
  SessionQueryBody: SessionQueryBody;
  MarkBody: MarkBody;
  MuteBody: MuteBody;
  AlertBody: AlertBody;
  AlertChangeBody: AlertChangeBody;
  AlertTestBody: AlertTestBody;
  ChannelBody: ChannelBody;
  TokenBody: TokenBody;
  ErrorAnswer: ErrorAnswer;
  IngestAnswer: IngestAnswer;
  Verdict: Verdict;
  VerdictBody: VerdictBody;
  RequestVerdict: RequestVerdict;
  ChallengePageBody: ChallengePageBody;
  ChallengePageAnswer: ChallengePageAnswer;
  LoggedInAnswer: LoggedInAnswer;
  AccountAnswer: AccountAnswer;
  UserAnswer: UserAnswer;
  ScoringEnabledAnswer: ScoringEnabledAnswer;
  ScoringAnswer: ScoringAnswer;
  RotatedKeyAnswer: RotatedKeyAnswer;
  OldKeysEndedAnswer: OldKeysEndedAnswer;
  MembersAnswer: MembersAnswer;
  MemberCreatedAnswer: MemberCreatedAnswer;
  MemberChangedAnswer: MemberChangedAnswer;
  SettingsAnswer: SettingsAnswer;
  RequestScoringAnswer: RequestScoringAnswer;
  ChallengeSettingsAnswer: ChallengeSettingsAnswer;
  StartTicketAnswer: StartTicketAnswer;
  ChallengeAnswer: ChallengeAnswer;
  ClearedAnswer: ClearedAnswer;
  RulesAnswer: ListedRuleAnswer[];
  RuleAnswer: RuleAnswer;
  SessionsAnswer: SessionsAnswer;
  SessionAnswer: SessionAnswer;
  SessionQueryAnswer: SessionQueryAnswer;
  SessionDeletionBody: SessionDeletionBody;
  SessionDeletionAnswer: SessionDeletionAnswer;
  AuditAnswer: AuditAnswer;
  MarkAnswer: MarkAnswer;
  MarksAnswer: MarksAnswer;
  IncidentAnswer: IncidentAnswer;
  IncidentsAnswer: IncidentsAnswer;
  AlertAnswer: AlertAnswer;
  AlertsAnswer: AlertsAnswer;
  AlertTestAnswer: AlertTestAnswer;
  ChannelsAnswer: ChannelsAnswer;
  NewChannelAnswer: NewChannelAnswer;
  DeliveryAnswer: DeliveryAnswer;
  DeliveriesAnswer: DeliveriesAnswer;
  TimelineAnswer: TimelineAnswer;
  BlocksAnswer: BlocksAnswer;
  StatsAnswer: StatsAnswer;
  TrafficAnswer: TrafficAnswer;
  RequestSamplesAnswer: RequestSamplesAnswer;
  CrawlersAnswer: CrawlersAnswer;
  RuleMinutesAnswer: RuleMinutesAnswer;
  RuleTestAnswer: RuleTestAnswer;
  SettingsTestAnswer: SettingsTestAnswer;
  DetectionsAnswer: DetectionsAnswer;
  VerifiedBotsAnswer: VerifiedBotsAnswer;
  DeclaredBotsAnswer: DeclaredBotsAnswer;
  AgentsAnswer: AgentsAnswer;
  IpListsAnswer: IpListsAnswer;
  SignedAgentsAnswer: SignedAgentsAnswer;
  ProjectsAnswer: ProjectsAnswer;
  ProjectCreatedAnswer: ProjectRow;
  TokensAnswer: TokensAnswer;
  TokenCreatedAnswer: TokenCreatedAnswer;
  TokenRevokedAnswer: TokenRevokedAnswer;
  UsageAnswer: UsageAnswer;
  HealthAnswer: HealthAnswer;
  DemoVerdictAnswer: DemoVerdictAnswer;
}

/** The name by which a route's documentation refers to a body or an answer. */
export type ApiTypeName = keyof ApiTypes;
