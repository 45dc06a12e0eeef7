/**
 * The calls of the control plane by their `operationId`: method, path, body and answers. The server's rows, the OpenAPI document and the console's client
 * take them from here; bodies and answers are named as in `ApiTypes`.
 */
import type { ApiTypeName, ApiTypes } from "./api-types.js";
import type { AnswerDoc } from "./route-doc.js";

interface Operation {
  /** By uWebSockets' names: `del` is DELETE. */
  readonly method: "get" | "post" | "put" | "patch" | "del";
  /** With `:names`. */
  readonly path: string;
  readonly body?: ApiTypeName;
  /** Whether a request without body is taken too, as an empty object. */
  readonly bodyOptional?: true;
  /** Every success by status. */
  readonly answers: { readonly [status: number]: AnswerDoc };
}

/** A method as HTTP has it. */
export function httpMethodOf(method: string): string {
  return method === "del" ? "DELETE" : method.toUpperCase();
}

/** What a call is sent, as `Operation` has it. */
type Sent = Pick<Operation, "body" | "bodyOptional">;

function call<const A extends Operation["answers"], const S extends Sent = object>(
  method: Operation["method"],
  path: string,
  answers: A,
  sent?: S,
) {
  return { method, path, answers, ...(sent as S) };
}

const project = "/v1/projects/:project";

/** Every call of the control plane. */
export const operations = {
  getUser: call("get", "/user", { 200: "UserAnswer" }),
  getAccount: call("get", "/v1/account", { 200: "AccountAnswer" }),
  listAgents: call("get", "/v1/agents", { 200: "AgentsAnswer" }),
  listChanges: call("get", "/v1/audit", { 200: "AuditAnswer" }),
  listDeclaredBots: call("get", "/v1/declared-bots", { 200: "DeclaredBotsAnswer" }),
  listDetections: call("get", "/v1/detections", { 200: "DetectionsAnswer" }),
  listIpLists: call("get", "/v1/ip-lists", { 200: "IpListsAnswer" }),
  listMembers: call("get", "/v1/members", { 200: "MembersAnswer" }),
  addMember: call("post", "/v1/members", { 200: "MemberCreatedAnswer" }, { body: "MemberBody" }),
  changeMember: call("patch", "/v1/members/:user", { 200: "MemberChangedAnswer" }, { body: "MemberChangeBody" }),
  removeMember: call("del", "/v1/members/:user", { 200: "MemberChangedAnswer" }),
  listProjects: call("get", "/v1/projects", { 200: "ProjectsAnswer" }),
  createProject: call("post", "/v1/projects", { 200: "ProjectCreatedAnswer" }, { body: "ProjectBody" }),
  listAlerts: call("get", `${project}/alerts`, { 200: "AlertsAnswer" }),
  createAlert: call("post", `${project}/alerts`, { 201: "AlertAnswer" }, { body: "AlertBody" }),
  changeAlert: call(
    "patch",
    `${project}/alerts/:alert`,
    { 200: "AlertAnswer" },
    { body: "AlertChangeBody", bodyOptional: true },
  ),
  deleteAlert: call("del", `${project}/alerts/:alert`, { 204: "empty" }),
  testAlert: call("post", `${project}/alerts/test`, { 200: "AlertTestAnswer" }, { body: "AlertTestBody" }),
  listBlocks: call("get", `${project}/blocks`, { 200: "BlocksAnswer" }),
  getChallengeSettings: call("get", `${project}/challenge`, { 200: "ChallengeSettingsAnswer" }),
  changeChallengeSettings: call(
    "put",
    `${project}/challenge`,
    { 200: "ChallengeSettingsAnswer" },
    { body: "ChallengeSettingsBody", bodyOptional: true },
  ),
  listChannels: call("get", `${project}/channels`, { 200: "ChannelsAnswer" }),
  createChannel: call("post", `${project}/channels`, { 201: "NewChannelAnswer" }, { body: "ChannelBody" }),
  deleteChannel: call("del", `${project}/channels/:channel`, { 204: "empty" }),
  listDeliveries: call("get", `${project}/channels/:channel/deliveries`, { 200: "DeliveriesAnswer" }),
  testChannel: call("post", `${project}/channels/:channel/test`, { 200: "DeliveryAnswer" }),
  listCrawlers: call("get", `${project}/crawlers`, { 200: "CrawlersAnswer" }),
  listExceptions: call("get", `${project}/exceptions`, { 200: "ExceptionsAnswer" }),
  createException: call("post", `${project}/exceptions`, { 201: "ExceptionAnswer" }, { body: "ExceptionBody" }),
  deleteException: call("del", `${project}/exceptions/:exception`, { 204: "empty" }),
  listIncidents: call("get", `${project}/incidents`, { 200: "IncidentsAnswer" }),
  muteIncident: call("post", `${project}/incidents/:incident/mute`, { 200: "IncidentAnswer" }, { body: "MuteBody" }),
  listMarks: call("get", `${project}/marks`, { 200: "MarksAnswer" }),
  getRequestScoring: call("get", `${project}/request-scoring`, { 200: "RequestScoringAnswer" }),
  changeRequestScoring: call(
    "put",
    `${project}/request-scoring`,
    { 200: "RequestScoringAnswer" },
    { body: "RequestScoringBody", bodyOptional: true },
  ),
  listRequests: call("get", `${project}/requests`, { 200: "RequestSamplesAnswer" }),
  listRules: call("get", `${project}/rules`, { 200: "RulesAnswer" }),
  createRule: call("post", `${project}/rules`, { 201: "RuleAnswer" }, { body: "RuleBody" }),
  changeRule: call(
    "patch",
    `${project}/rules/:rule`,
    { 200: "RuleAnswer" },
    { body: "RuleChangeBody", bodyOptional: true },
  ),
  putRule: call("put", `${project}/rules/:rule`, { 200: "RuleAnswer" }, { body: "RuleChangeBody", bodyOptional: true }),
  deleteRule: call("del", `${project}/rules/:rule`, { 204: "empty" }),
  getRuleHits: call("get", `${project}/rules/hits`, { 200: "RuleMinutesAnswer" }),
  testRule: call("post", `${project}/rules/test`, { 200: "RuleTestAnswer" }, { body: "RuleTestBody" }),
  enableScoring: call("post", `${project}/scoring`, { 200: "ScoringEnabledAnswer" }),
  getScoring: call("get", `${project}/scoring`, { 200: "ScoringAnswer" }),
  endOldKeys: call(
    "post",
    `${project}/scoring/end-old-keys`,
    { 200: "OldKeysEndedAnswer" },
    { body: "EndOldKeysBody" },
  ),
  rotateKey: call("post", `${project}/scoring/rotate`, { 200: "RotatedKeyAnswer" }, { body: "RotateBody" }),
  changeSettings: call(
    "put",
    `${project}/scoring/settings`,
    { 200: "SettingsAnswer" },
    { body: "SettingsBody", bodyOptional: true },
  ),
  testSettings: call(
    "post",
    `${project}/scoring/settings/test`,
    { 200: "SettingsTestAnswer" },
    { body: "SettingsTestBody" },
  ),
  listSessions: call("get", `${project}/sessions`, { 200: "SessionsAnswer" }),
  eraseSession: call("del", `${project}/sessions/:session_token`, { 204: "empty" }),
  getSession: call("get", `${project}/sessions/:session_token`, { 200: "SessionAnswer" }),
  markSession: call("put", `${project}/sessions/:session_token/mark`, { 200: "MarkAnswer" }, { body: "MarkBody" }),
  unmarkSession: call("del", `${project}/sessions/:session_token/mark`, { 204: "empty" }),
  getSessionTimeline: call("get", `${project}/sessions/:session_token/trail`, { 200: "TimelineAnswer" }),
  deleteSessions: call(
    "post",
    `${project}/sessions/delete`,
    { 200: "SessionDeletionAnswer" },
    { body: "SessionDeletionBody" },
  ),
  querySessions: call(
    "post",
    `${project}/sessions/query`,
    { 200: "SessionQueryAnswer" },
    { body: "SessionQueryBody", bodyOptional: true },
  ),
  getStats: call("get", `${project}/stats`, { 200: "StatsAnswer" }),
  getTraffic: call("get", `${project}/traffic`, { 200: "TrafficAnswer" }),
  listSignedAgents: call("get", "/v1/signed-agents", { 200: "SignedAgentsAnswer" }),
  listTokens: call("get", "/v1/tokens", { 200: "TokensAnswer" }),
  createToken: call("post", "/v1/tokens", { 200: "TokenCreatedAnswer" }, { body: "TokenBody" }),
  revokeToken: call("del", "/v1/tokens/:token", { 200: "TokenRevokedAnswer" }),
  getUsage: call("get", "/v1/usage", { 200: "UsageAnswer" }),
  exportVerifiedBots: call("get", "/v1/verified-bots/export", { 200: "VerifiedBotsAnswer" }),
};

type Operations = typeof operations;
/** The `operationId` of a call. */
export type OperationId = keyof Operations;

/** The body that a call takes, and the name of its type. */
export type BodyOf<Id extends OperationId> = ApiTypes[BodyNameOf<Id>];
type BodyNameOf<Id extends OperationId> = Operations[Id] extends { readonly body: infer Name extends ApiTypeName }
  ? Name
  : never;
/** The bodies that calls take, by name. */
export type BodyName = { [Id in OperationId]: BodyNameOf<Id> }[OperationId];

type Answers<Id extends OperationId> = Operations[Id]["answers"];
/** What a call answers when it succeeds; undefined where it has no body. */
export type AnswerOf<Id extends OperationId> = {
  [Status in keyof Answers<Id>]: Answers<Id>[Status] extends infer Name extends ApiTypeName
    ? ApiTypes[Name]
    : undefined;
}[keyof Answers<Id>];
