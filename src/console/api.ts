/** The console's only way to the server: typed calls of the API with the account token. Throws `ApiFault` for every refusal. */

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
} from "../contract/alerts.js";
import type {
  AccountAnswer,
  ChallengeSettingsAnswer,
  DetectionsAnswer,
  ErrorAnswer,
  ListedRuleAnswer,
  MemberChangedAnswer,
  MemberCreatedAnswer,
  MembersAnswer,
  OldKeysEndedAnswer,
  ProjectRow,
  ProjectsAnswer,
  RequestScoringAnswer,
  RotatedKeyAnswer,
  RuleAnswer,
  RuleTestAnswer,
  ScoringAnswer,
  ScoringEnabledAnswer,
  SettingsAnswer,
  SettingsTestAnswer,
  TokenCreatedAnswer,
  TokenRevokedAnswer,
  TokensAnswer,
  UsageAnswer,
  UserAnswer,
  VerifiedBotsAnswer,
} from "../contract/api-answers.js";
import type { AuditAnswer } from "../contract/audit.js";
import type {
  ChallengeSettingsBody,
  MemberBody,
  RequestScoringBody,
  RuleBody,
  RuleChangeBody,
  RuleTestBody,
  SettingsBody,
  SettingsTestBody,
  TokenBody,
} from "../contract/control.js";
import type { Role } from "../contract/entities.js";
import type { ExceptionAnswer, ExceptionBody, ExceptionRow, ExceptionsAnswer } from "../contract/exceptions.js";
import type { IncidentAnswer, IncidentsAnswer } from "../contract/incidents.js";
import type {
  BlocksAnswer,
  RuleMinutesAnswer,
  SessionAnswer,
  SessionsAnswer,
  StatsAnswer,
  TimelineAnswer,
} from "../contract/log-answers.js";
import type { MarkAnswer, MarkBody, MarksAnswer } from "../contract/marks.js";
import type { SessionDeletionAnswer, SessionDeletionBody } from "../contract/session-deletion.js";
import type { SessionQueryAnswer, SessionQueryBody } from "../contract/session-query.js";
import type { CrawlersAnswer, RequestSamplesAnswer, TrafficAnswer } from "../contract/traffic-answers.js";

/** A refusal of the server, or (status 0) no answer at all. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** How long to wait while another query of the account runs. */
const busyMs = 1000;

/**
 * A method for each call that the console makes, all on this origin: resolves to the body of the answer, undefined for an empty one.
 * Rejects with an `ApiFault`, an aborted call with its `AbortError`. Pages are of 100 rows.
 */
export class Api {
  readonly #token: string;
  readonly #onUnauthenticated: () => void;

  /** `onUnauthenticated` is called when the server no longer knows the token. */
  constructor(token: string, onUnauthenticated: () => void) {
    this.#token = token;
    this.#onUnauthenticated = onUnauthenticated;
  }

  account = () => this.#ask<AccountAnswer>("GET", "/v1/account");
  user = () => this.#ask<UserAnswer>("GET", "/user");
  usage = () => this.#ask<UsageAnswer>("GET", "/v1/usage");
  createProject = (name: string) => this.#ask<ProjectRow>("POST", "/v1/projects", { name });
  projects = () => this.#ask<ProjectsAnswer>("GET", "/v1/projects");
  detections = () => this.#ask<DetectionsAnswer>("GET", "/v1/detections");
  verifiedBots = () => this.#ask<VerifiedBotsAnswer>("GET", "/v1/verified-bots/export");

  changes = (cursor: string | null) => this.#ask<AuditAnswer>("GET", `/v1/audit?${pageQuery(cursor)}`);
  /** Changes of a project's rules in a time, the latest 100. */
  ruleChanges = (project: number, from: string, to: string) => {
    const query = new URLSearchParams({ limit: "100", kind: "rule", project: String(project), from, to });
    return this.#ask<AuditAnswer>("GET", `/v1/audit?${query}`);
  };
  members = () => this.#askAll<MembersAnswer>("/v1/members");
  addMember = (body: MemberBody) => this.#ask<MemberCreatedAnswer>("POST", "/v1/members", body);
  changeMember = (user: number, role: Role) => this.#ask<MemberChangedAnswer>("PATCH", `/v1/members/${user}`, { role });
  removeMember = (user: number) => this.#ask<MemberChangedAnswer>("DELETE", `/v1/members/${user}`);
  tokens = () => this.#askAll<TokensAnswer>("/v1/tokens");
  createToken = (body: TokenBody) => this.#ask<TokenCreatedAnswer>("POST", "/v1/tokens", body);
  revokeToken = (id: number) => this.#ask<TokenRevokedAnswer>("DELETE", `/v1/tokens/${id}`);

  scoring = (project: number) => this.#ask<ScoringAnswer>("GET", `${of(project)}/scoring`);
  enableScoring = (project: number) => this.#ask<ScoringEnabledAnswer>("POST", `${of(project)}/scoring`);
  rotate = (project: number, type: "site" | "private", overlap_hours: number) =>
    this.#ask<RotatedKeyAnswer>("POST", `${of(project)}/scoring/rotate`, {
      type,
      ...(overlap_hours > 0 && { overlap_hours }),
    });
  endOldKeys = (project: number, type: "site" | "private") =>
    this.#ask<OldKeysEndedAnswer>("POST", `${of(project)}/scoring/end-old-keys`, { type });
  changeSettings = (project: number, body: SettingsBody) =>
    this.#ask<SettingsAnswer>("PUT", `${of(project)}/scoring/settings`, body);

  testSettings = (project: number, body: SettingsTestBody, signal: AbortSignal) =>
    this.#askInTurn<SettingsTestAnswer>(`${of(project)}/scoring/settings/test`, body, signal);

  challenge = (project: number) => this.#ask<ChallengeSettingsAnswer>("GET", `${of(project)}/challenge`);
  changeChallenge = (project: number, body: ChallengeSettingsBody) =>
    this.#ask<ChallengeSettingsAnswer>("PUT", `${of(project)}/challenge`, body);

  requestScoring = (project: number) => this.#ask<RequestScoringAnswer>("GET", `${of(project)}/request-scoring`);
  changeRequestScoring = (project: number, body: RequestScoringBody) =>
    this.#ask<RequestScoringAnswer>("PUT", `${of(project)}/request-scoring`, body);

  rules = (project: number) => this.#ask<ListedRuleAnswer[]>("GET", `${of(project)}/rules`);
  createRule = (project: number, body: RuleBody) => this.#ask<RuleAnswer>("POST", `${of(project)}/rules`, body);
  changeRule = (project: number, rule: number, body: RuleChangeBody) =>
    this.#ask<RuleAnswer>("PATCH", `${of(project)}/rules/${rule}`, body);
  removeRule = (project: number, rule: number) => this.#ask<void>("DELETE", `${of(project)}/rules/${rule}`);
  testRule = (project: number, body: RuleTestBody, signal: AbortSignal) =>
    this.#askInTurn<RuleTestAnswer>(`${of(project)}/rules/test`, body, signal);

  query = (project: number, body: SessionQueryBody, signal: AbortSignal) =>
    this.#askInTurn<SessionQueryAnswer>(`${of(project)}/sessions/query`, body, signal);
  deleteSessions = (project: number, body: SessionDeletionBody, signal: AbortSignal) =>
    this.#askInTurn<SessionDeletionAnswer>(`${of(project)}/sessions/delete`, body, signal);
  sessions = (project: number, cursor: string | null) =>
    this.#ask<SessionsAnswer>("GET", `${of(project)}/sessions?${pageQuery(cursor)}`);
  session = (project: number, token: string) =>
    this.#ask<SessionAnswer>("GET", `${of(project)}/sessions/${encodeURIComponent(token)}`);
  timeline = (project: number, token: string) =>
    this.#ask<TimelineAnswer>("GET", `${of(project)}/sessions/${encodeURIComponent(token)}/trail`);
  blocks = (project: number, cursor: string | null) =>
    this.#ask<BlocksAnswer>("GET", `${of(project)}/blocks?${pageQuery(cursor)}`);
  mark = (project: number, token: string, body: MarkBody) =>
    this.#ask<MarkAnswer>("PUT", `${of(project)}/sessions/${encodeURIComponent(token)}/mark`, body);
  unmark = (project: number, token: string) =>
    this.#ask<void>("DELETE", `${of(project)}/sessions/${encodeURIComponent(token)}/mark`);
  marks = (project: number, cursor: string | null) =>
    this.#ask<MarksAnswer>("GET", `${of(project)}/marks?${pageQuery(cursor)}`);
  /** All of a project, at most a thousand: the oldest first. */
  exceptions = async (project: number): Promise<readonly ExceptionRow[]> =>
    (await this.#askAll<ExceptionsAnswer>(`${of(project)}/exceptions`)).data;
  letThrough = (project: number, body: ExceptionBody) =>
    this.#ask<ExceptionAnswer>("POST", `${of(project)}/exceptions`, body);
  endException = (project: number, exception: number) =>
    this.#ask<void>("DELETE", `${of(project)}/exceptions/${exception}`);

  /** The latest first. */
  incidents = (project: number, state: "open" | "all", limit: number) =>
    this.#ask<IncidentsAnswer>("GET", `${of(project)}/incidents?${new URLSearchParams({ state, limit: `${limit}` })}`);
  muteIncident = (project: number, incident: number, hours: number) =>
    this.#ask<IncidentAnswer>("POST", `${of(project)}/incidents/${incident}/mute`, { hours });

  alerts = (project: number) => this.#ask<AlertsAnswer>("GET", `${of(project)}/alerts`);
  createAlert = (project: number, body: AlertBody) => this.#ask<AlertAnswer>("POST", `${of(project)}/alerts`, body);
  changeAlert = (project: number, alert: number, body: AlertChangeBody) =>
    this.#ask<AlertAnswer>("PATCH", `${of(project)}/alerts/${alert}`, body);
  removeAlert = (project: number, alert: number) => this.#ask<void>("DELETE", `${of(project)}/alerts/${alert}`);
  testAlert = (project: number, body: AlertTestBody, signal: AbortSignal) =>
    this.#askInTurn<AlertTestAnswer>(`${of(project)}/alerts/test`, body, signal);
  channels = (project: number) => this.#ask<ChannelsAnswer>("GET", `${of(project)}/channels`);
  createChannel = (project: number, body: ChannelBody) =>
    this.#ask<NewChannelAnswer>("POST", `${of(project)}/channels`, body);
  removeChannel = (project: number, channel: number) => this.#ask<void>("DELETE", `${of(project)}/channels/${channel}`);
  testChannel = (project: number, channel: number) =>
    this.#ask<DeliveryAnswer>("POST", `${of(project)}/channels/${channel}/test`);
  deliveries = (project: number, channel: number) =>
    this.#ask<DeliveriesAnswer>("GET", `${of(project)}/channels/${channel}/deliveries`);

  /** Counts of judged requests by value; what is asked for is named as the API names it. */
  traffic = (project: number, asked: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    this.#ask<TrafficAnswer>("GET", `${of(project)}/traffic?${new URLSearchParams(asked)}`, undefined, signal);
  /** A page of 500 samples of requests without a session. */
  requests = (project: number, asked: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    this.#ask<RequestSamplesAnswer>(
      "GET",
      `${of(project)}/requests?${new URLSearchParams({ limit: "500", ...asked })}`,
      undefined,
      signal,
    );
  crawlers = (project: number, from: Date) =>
    this.#ask<CrawlersAnswer>("GET", `${of(project)}/crawlers?${new URLSearchParams({ from: from.toISOString() })}`);

  blockOf = (project: number, reference: string) =>
    this.#ask<BlocksAnswer>("GET", `${of(project)}/blocks?${new URLSearchParams({ reference })}`);
  /** Counts from `from` until now, and to compare those from `before` until `from`. */
  stats = (project: number, from: Date, bucket: "hour" | "day", before: Date) => {
    const compared = { compare_from: before.toISOString(), compare_to: from.toISOString() };
    const query = new URLSearchParams({ from: from.toISOString(), bucket, ...compared });
    return this.#ask<StatsAnswer>("GET", `${of(project)}/stats?${query}`);
  };
  /** Counts from `from` until now, challenges and hits by rule as well. */
  /** By minute, of the last hour. */
  ruleHits = (project: number) => this.#ask<RuleMinutesAnswer>("GET", `${of(project)}/rules/hits`);
  statsByRule = (project: number, from: Date, bucket: "hour" | "day") =>
    this.#ask<StatsAnswer>(
      "GET",
      `${of(project)}/stats?${new URLSearchParams({ from: from.toISOString(), bucket, by: "rule" })}`,
    );

  /** What an account may run one of at a time, and refuses with 409 alone: asked again until the one before has ended. */
  async #askInTurn<T>(path: string, body: object, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await this.#ask<T>("POST", path, body, signal);
      } catch (error) {
        if (!(error instanceof ApiFault) || error.status !== 409) throw error;
        await new Promise((resolve) => setTimeout(resolve, busyMs));
      }
    }
  }

  /** All pages of a list of the account, which is short enough for one table. */
  async #askAll<A extends { data: unknown[]; meta: { next_cursor: string | null } }>(path: string): Promise<A> {
    const answer = await this.#ask<A>("GET", `${path}?${pageQuery(null)}`);
    for (let cursor = answer.meta.next_cursor; cursor !== null; ) {
      const { data, meta } = await this.#ask<A>("GET", `${path}?${pageQuery(cursor)}`);
      answer.data.push(...data);
      cursor = meta.next_cursor;
    }
    return answer;
  }

  async #ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await this.#fetch(path, {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      // The token is the only credential; what was asked once must not be answered from a cache after sign-out.
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    const text = await answer.text();
    if (answer.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
    const { message, code } = errorOf(text, answer.status);
    if (answer.status === 401) this.#onUnauthenticated();
    throw new ApiFault(answer.status, message, code);
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(path, init);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiFault(0, "The server does not answer.");
    }
  }
}

const of = (project: number): string => `/v1/projects/${project}`;

function pageQuery(cursor: string | null): string {
  return String(new URLSearchParams({ limit: "100", ...(cursor !== null && { cursor }) }));
}

function errorOf(text: string, status: number): Pick<ErrorAnswer, "message" | "code"> {
  try {
    return JSON.parse(text) as ErrorAnswer;
  } catch {
    return { message: `The server answered ${status}.` };
  }
}

/** What to tell people of a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
