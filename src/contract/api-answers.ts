/**
 * Every answer of the API in its wire form. Handlers build these types, and the OpenAPI document is generated from them (`validators.ts`). So the
 * documented, the checked and the sent form can't drift apart.
 */

import type { tags } from "typia";
import type { AgentRow } from "./agents.js";
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
} from "./alerts.js";
import type { Count, DetectionId, Id, Integer, IsoTime, SessionToken, Threshold } from "./answer-values.js";
import type { AuditAnswer } from "./audit.js";
import type { ChallengeDifficulty } from "./challenge.js";
import type { ChallengePageAnswer, ChallengePageBody, PathPrefix, ScriptOrigin } from "./challenge-page.js";
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
} from "./control.js";
import type { DeclaredBotEntry } from "./declared-bots.js";
import type { Role } from "./entities.js";
import type { IngestAnswer, IngestBatch } from "./events.js";
import type { EngineName } from "./evidence.js";
import type { ExceptionAnswer, ExceptionBody, ExceptionsAnswer } from "./exceptions.js";
import type { IncidentAnswer, IncidentsAnswer, MuteBody } from "./incidents.js";
import type { VerdictBody } from "./judged-request.js";
import type {
  ActionCounts,
  BandCounts,
  BlocksAnswer,
  RuleMinutesAnswer,
  SessionAnswer,
  SessionsAnswer,
  StatsAnswer,
  TimelineAnswer,
} from "./log-answers.js";
import type { MarkAnswer, MarkBody, MarksAnswer } from "./marks.js";
import type { SessionDeletionAnswer, SessionDeletionBody } from "./session-deletion.js";
import type { SessionQueryAnswer, SessionQueryBody } from "./session-query.js";
import type { SignedAgent } from "./signed-agents.js";
import type { CrawlersAnswer, RequestSamplesAnswer, TrafficAnswer } from "./traffic-answers.js";
import type { Action, LoggedInPolicy, RequestVerdict, SignedAgentPolicy, Verdict } from "./verdict.js";

import type { VerifiedBotEntry } from "./verified-bots.js";

/** Body of every error. `code` is stable, and absent where the contract has none. */
export interface ErrorAnswer {
  /** Short title. */
  error: string;
  /** Names the offending field; never echoes a secret. */
  message: string;
  code?: string;
}

/** Account of the token (`GET /v1/account`). */
export interface AccountAnswer {
  id: Id;
  name: string;
  slug: string;
  is_personal: boolean;
  /** The caller's role in the account. */
  role: Role | null;
}

/** Holder of the token (`GET /user`). */
export interface UserAnswer {
  id: Id;
  name: string;
  email: string;
  created_at: IsoTime;
}

/** The guards that run before the rules; the answer to enabling shows only these two of the settings. */
export interface GuardSettings {
  /** Verified bots get `allow` before rules. */
  allow_verified: boolean;
  /** When false, requests of static resources are allowed before rules. */
  protect_static: boolean;
}

/** The guards and the logged-in policy, which never softens an action in the bands `definite` and `confident_automated`. */
interface BotSettingsAnswer extends GuardSettings {
  logged_in_policy: LoggedInPolicy;
}

/** The keys of a project whose scoring is now enabled; asked for again, the same site key with `private_key` null. */
export interface ScoringEnabledAnswer {
  site_key: string;
  /** Only in the first answer: the server stores only its hash. */
  private_key: string | null;
  bot_settings: GuardSettings;
  likely_bot_threshold: Threshold;
}

/** Whether a project is scored, and with what keys and settings; never a private key. */
export interface ScoringAnswer {
  enabled: boolean;
  /** null until scoring is enabled. */
  site_key: string | null;
  bot_settings: BotSettingsAnswer;
  likely_bot_threshold: Threshold;
  /** Rotated keys that still work, in the order of their rotation; absent: none. */
  old_keys?: OldKeyRow[];
}

/** A rotated key whose overlap has not ended; the key itself is not shown. */
export interface OldKeyRow {
  type: "site" | "private";
  rotated_at: IsoTime;
  /** Refused from then on. */
  ends_at: IsoTime;
}

/** All bot settings and the threshold T (1 to 99) as they are after an update. */
export interface SettingsAnswer {
  bot_settings: BotSettingsAnswer;
  likely_bot_threshold: Threshold;
}

/** How requests without a scored session are treated, read or after an update. */
export interface RequestScoringAnswer {
  /** Whether requests of visitors without a scored session are judged. */
  enabled: boolean;
  /** `allow`: a verified signed agent is allowed before rules (while `allow_verified` is true); `rules`: rules decide. */
  signed_agents: SignedAgentPolicy;
  /** Patterns of paths whose requests are allowed and judged by nothing. */
  skip_paths: string[];
  /** The project's own hosts, for which signatures count; empty: those that at least a tenth of the last day's sessions reported. */
  hosts: string[];
  /** Forward-auth gives visitors who bring no token one with the answer to a navigation, as a cookie. */
  issue_tokens: boolean;
}

/** verdictd's own challenge as the project has set it, read or after an update. */
export interface ChallengeSettingsAnswer {
  enabled: boolean;
  difficulty: ChallengeDifficulty;
  /** How long a pass is valid. */
  clearance_minutes: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<1440>;
  /** From how many networks (IPv4 /16 and IPv6 /32, counted apart) a pass may be used. */
  clearance_networks: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<16>;
  /** Where browsers find the challenge's script; "": the site's own origin. */
  script_origin: ScriptOrigin;
  /** What a proxy has put before the script's and the API's paths there; "": nothing. */
  path_prefix: PathPrefix;
}

/** Handed back as `start_ticket` of an event, once. */
export interface StartTicketAnswer {
  start_ticket: string;
  expires_at: IsoTime;
}

/** Eight puzzles in ALTCHA's form, all of which are to be solved. */
export interface ChallengeAnswer {
  puzzles: PuzzleAnswer[] & tags.MinItems<8> & tags.MaxItems<8>;
  expires_at: IsoTime;
}

/** Find the counter, from 0 on, whose key, derived from nonce and counter by PBKDF2, begins with `keyPrefix`. */
interface PuzzleAnswer {
  parameters: {
    algorithm: "PBKDF2/SHA-256";
    cost: Count;
    /**
     * Signed with the rest. Of the first puzzle: the session, when it was made, the rule that asked (0: not known), and the time of the challenge that
     * counts for the rule; and HMACs of all that the others say and of all derived keys. Of the others: the first one's nonce, and the place in the list.
     */
    data:
      | { session: string; issued_at_ms: number; rule: Count; counted_at_ms: number; others: string; keys: string }
      | { place: Count; set: string };
    /** Seconds since the epoch. */
    expiresAt: Count;
    keyLength: Count;
    keyPrefix: string;
    keySignature: string;
    nonce: string;
    salt: string;
  };
  signature: string;
}

/** The session has passed the challenge; a worse band, another user agent or disabling the challenge can end the pass sooner. */
export interface ClearedAnswer {
  cleared: true;
  /** When the pass expires at the latest. */
  expires_at: IsoTime;
}

/** The new key. A private key is shown in this answer only. */
export interface RotatedKeyAnswer {
  type: "site" | "private";
  key: string;
  /** When the key before it ends; only where an overlap was asked for. */
  old_key_ends_at?: IsoTime;
}

type RuleLiteral = string | number | boolean;

/** A leaf of the tree: one field compared with a literal. */
interface RuleComparison {
  type: "cmp";
  op: string;
  field: string;
  /** A list for `in`, one literal otherwise. */
  value: RuleLiteral | readonly RuleLiteral[];
}
/** Two or more expressions joined by one operator, in the order of the source. */
interface RuleChain {
  type: "and" | "or";
  nodes: readonly RuleExpression[];
}
/** True where its one node is false. */
interface RuleNegation {
  type: "not";
  node: RuleExpression;
}
/** A rule's compiled tree: derived from its source, never set directly. */
type RuleExpression = RuleComparison | RuleChain | RuleNegation;

/** A rule as the list shows it: without the compiled tree. */
export interface ListedRuleAnswer {
  id: Id;
  project_id: Id;
  name: string;
  expression_source: string;
  action: Action;
  /** False also for a rule that has expired. */
  is_active: boolean;
  sort_order: Integer;
  created_at: IsoTime;
  updated_at: IsoTime;
  /** From then on the rule is inactive; absent: it never expires. */
  expires_at?: IsoTime;
}

/** One rule with its compiled tree: the answer to creating and to changing it. */
export interface RuleAnswer extends ListedRuleAnswer {
  expression: RuleExpression;
}

/** The session is asserted as logged in for the 24 hours from `asserted_at`; asserting again restarts them. */
export interface LoggedInAnswer {
  logged_in: true;
  /** Start of the 24-hour window. */
  asserted_at: IsoTime;
}

/** What a draft rule, alone, would have done to stored sessions. */
export interface RuleTestAnswer extends RuleTestRange {
  /** The same of `compare_from` to `compare_to`. */
  compare?: RuleTestRange;
}

/** Samples of requests without a session (`GET …/requests`) on which a draft rule was evaluated: of the last `hours`, or of the last day. */
interface TestedRequests {
  evaluated: Count;
  matched: Count;
  /** For how many requests the matched ones stand. */
  weight: number & tags.Minimum<0>;
  /** Of all evaluated ones, in requests: estimates. */
  effect: ChangeEffectAnswer;
}

/** Answer of `POST …/scoring/settings/test`. */
export interface SettingsTestAnswer {
  /** Sessions evaluated. */
  evaluated: Count;
  /** Whether `hours` had more sessions than were evaluated; absent without `hours`. */
  is_sample?: boolean;
  /** Of the evaluated sessions. Settings shadow no rules. */
  effect: RuleEffectAnswer;
  /** Of samples of requests without a session: of the last `hours`, or of the last day. */
  requests: {
    evaluated: Count;
    /** For how many requests they stand. */
    weight: number & tags.Minimum<0>;
    /** In requests: estimates. */
    effect: ChangeEffectAnswer;
  };
}

/** What a draft rule would have done in one span of time. */
export interface RuleTestRange {
  /** Sessions evaluated. */
  evaluated: Count;
  /** Whether `hours` had more sessions than were evaluated; absent without `hours`. */
  is_sample?: boolean;
  /** Sessions the rule matched. */
  matched: Count;
  /** The matched ones by the action their verdicts would have. */
  by_action: ActionCounts;
  /** The matched ones by band. */
  by_band: BandCounts;
  /** Tokens of matched sessions, the latest first. */
  sample: SessionToken[] & tags.MaxItems<10>;
  /** Fields of the expression that stored sessions don't have: a comparison with them is false. */
  unavailable_fields: string[];
  /** A sentence for each part of the expression that never, or always, matches. */
  warnings: string[];
  requests: TestedRequests;
  effect: RuleEffectAnswer;
}

/** What a change would do to the evaluated sessions, against things as they are. */
export interface ChangeEffectAnswer {
  newly_blocked: Count;
  newly_challenged: Count;
  newly_delayed: Count;
  /** Let in afterwards, and not now. */
  newly_allowed: Count;
  /** Treated as now; `log` lets in as `allow` does. */
  unchanged: Count;
  /** Of those treated otherwise: in the band `likely_human`. */
  likely_human: Count;
  /** Of those treated otherwise: asserted as logged in. */
  logged_in: Count;
  /** Of those treated otherwise: marked as persons. */
  marked_human: Count;
}

/** The same of a draft rule at its place among the active rules. */
export interface RuleEffectAnswer extends ChangeEffectAnswer {
  /** Rules before the draft that decide sessions which it matches. */
  shadowed_by: Id[];
  /** Rules behind the draft whose sessions it would decide. */
  shadows: Id[];
}

/** A row of the public catalogue of detections. */
export interface DetectionAnswer {
  id: DetectionId;
  slug: string;
  engine: EngineName;
  severity: "info" | "low" | "medium" | "high" | "critical";
  /** Experimental ones fire and are listed, but never move the score. */
  state: "experimental" | "scoring" | "retired";
  meaning: string;
}

/** `count` is the length of `data`: these lists have no pages. */
interface PageMeta {
  /** Rows of the whole list. */
  count: number & tags.Type<"uint32">;
  /** Null on the last page. */
  next_cursor: string | null;
}

/** How many rows the answer has. */
interface CountMeta {
  count: Count;
}

/** The public catalogue of detections that this version scores with. */
export interface DetectionsAnswer {
  data: DetectionAnswer[];
  meta: CountMeta;
}

/** The whole allowlist of verified bots: the export for accounts whose plan has the feature. */
export interface VerifiedBotsAnswer {
  data: VerifiedBotEntry[];
  meta: CountMeta;
}

/** The bots that name themselves in their user agent, each by its token. */
export interface DeclaredBotsAnswer {
  data: DeclaredBotEntry[];
  meta: CountMeta & { version: string };
}

/** Whom verdictd knows by name, by signature, address, user agent or mark. `version` is that of the marks. */
export interface AgentsAnswer {
  data: AgentRow[];
  meta: CountMeta & { version: string };
}

/** One of the operator's own lists of addresses. */
interface IpListRow {
  name: string;
  /** Addresses, ranges and networks (AS) in it. */
  count: Count;
  imported_at: IsoTime;
}

/** The imported address lists that rules can name, without their addresses. */
export interface IpListsAnswer {
  /** Ordered by name. */
  data: IpListRow[];
  meta: CountMeta;
}

/** The agents whose signed requests are verified. */
export interface SignedAgentsAnswer {
  data: SignedAgent[];
  meta: { count: Count; version: string };
}

/** A project as the list shows it. */
export interface ProjectRow {
  id: Id;
  name: string;
  scoring_enabled: boolean;
}

/** The projects of the token's account. */
export interface ProjectsAnswer {
  /** The oldest first. */
  data: ProjectRow[];
  meta: CountMeta;
}

/** An account token as the list shows it: nothing of its secret is stored. */
export interface TokenRow {
  id: Id;
  /** What it is for; null: not stated. */
  name: string | null;
  abilities: string[];
  /** The user whose role limits the token; null if that user no longer exists. */
  user: { id: Id; name: string } | null;
  created_at: IsoTime;
  /** The last request with it, accurate to a minute (in a cluster, to an hour); null: none since this was first recorded. */
  last_used_at: IsoTime | null;
  /** Whether this is the calling token. */
  current: boolean;
}

/** Tokens without their secrets: all of the account's for owners and admins, their own for others. */
export interface TokensAnswer {
  /** The oldest first. */
  data: TokenRow[];
  meta: PageMeta;
}

/** The new token. Its secret is shown in this answer only. */
export interface TokenCreatedAnswer {
  id: Id;
  account_token: string;
}

/** A member of the account; what only owners and admins may see is null for others. */
export interface MemberRow {
  /** The e-mail address is for owners and admins. */
  user: { id: Id; name: string; email: string | null };
  role: Role;
  /** Account tokens of the user; null: for owners and admins only. */
  tokens: Count | null;
  /** The last use of any of them; null: none, or for owners and admins only. */
  last_used_at: IsoTime | null;
  /** Whether this is the calling user. */
  current: boolean;
}

/** Everybody on the token's account. */
export interface MembersAnswer {
  /** By user id. */
  data: MemberRow[];
  meta: PageMeta;
}

/** A new member. The secret of the first token is shown in this answer only. */
export interface MemberCreatedAnswer {
  user: { id: Id; name: string; email: string };
  role: Role;
  account_token: string;
}

/** The role that a user has now, after a change or a removal. */
export interface MemberChangedAnswer {
  user_id: Id;
  /** Null: no member any more. */
  role: Role | null;
}

/** Rotated keys of one type that are refused from now on. */
export interface OldKeysEndedAnswer {
  type: "site" | "private";
  /** How many still worked. */
  ended: Count;
}

/** The token is refused from now on. */
export interface TokenRevokedAnswer {
  id: Id;
  revoked: true;
}

/** Accepted events of the account in the current calendar month (UTC). */
export interface UsageAnswer {
  month: string & tags.Pattern<"^[0-9]{4}-[0-9]{2}$">;
  events: Count;
  /** Events per month in the plan; null: unlimited. Soft: above it, a flag is set and nothing is refused. */
  quota: Count | null;
  plan: string;
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
