/** The console's only way to the server: calls of the contract's operations with the account token. Throws `ApiFault` for every refusal. */

import type { ErrorAnswer } from "../contract/api/api-types.js";
import { type AnswerOf, type BodyOf, httpMethodOf, type OperationId, operations } from "../contract/api/operations.js";
import type { Role } from "../contract/configuration/entities.js";
import type { ExceptionRow } from "../contract/configuration/exceptions.js";

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

/** What a call is given besides its name. */
interface Asked<Id extends OperationId> {
  /** Values of the path's `:names`, in order. */
  readonly of?: readonly (number | string)[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: BodyOf<Id>;
  readonly signal?: AbortSignal | undefined;
}

/** A page of a list. */
interface Page {
  readonly data: unknown[];
  readonly meta: { readonly next_cursor: string | null };
}
type PagedId = { [Id in OperationId]: AnswerOf<Id> extends Page ? Id : never }[OperationId];

/**
 * Calls of the API, all on this origin: resolve to the body of the answer, undefined for an empty one. Reject with an `ApiFault`, an aborted call with its
 * `AbortError`. Pages are of 100 rows.
 */
export class Api {
  readonly #token: string;
  readonly #onUnauthenticated: () => void;

  /** `onUnauthenticated` is called when the server no longer knows the token. */
  constructor(token: string, onUnauthenticated: () => void) {
    this.#token = token;
    this.#onUnauthenticated = onUnauthenticated;
  }

  account = () => this.ask("getAccount");
  user = () => this.ask("getUser");
  usage = () => this.ask("getUsage");
  createProject = (name: string) => this.ask("createProject", { body: { name } });
  projects = () => this.ask("listProjects");
  detections = () => this.ask("listDetections");
  verifiedBots = () => this.ask("exportVerifiedBots");

  changes = (cursor: string | null) => this.#page("listChanges", [], cursor);
  /** Changes of a project's rules in a time, the latest 100. */
  ruleChanges = (project: number, from: string, to: string) =>
    this.ask("listChanges", { query: { limit: "100", kind: "rule", project: `${project}`, from, to } });
  members = () => this.#all("listMembers", []);
  addMember = (body: BodyOf<"addMember">) => this.ask("addMember", { body });
  changeMember = (user: number, role: Role) => this.ask("changeMember", { of: [user], body: { role } });
  removeMember = (user: number) => this.ask("removeMember", { of: [user] });
  tokens = () => this.#all("listTokens", []);
  createToken = (body: BodyOf<"createToken">) => this.ask("createToken", { body });
  revokeToken = (id: number) => this.ask("revokeToken", { of: [id] });

  scoring = (project: number) => this.ask("getScoring", { of: [project] });
  enableScoring = (project: number) => this.ask("enableScoring", { of: [project] });
  rotate = (project: number, type: "site" | "private", overlap_hours: number) =>
    this.ask("rotateKey", { of: [project], body: { type, ...(overlap_hours > 0 && { overlap_hours }) } });
  endOldKeys = (project: number, type: "site" | "private") => this.ask("endOldKeys", { of: [project], body: { type } });
  changeSettings = (project: number, body: BodyOf<"changeSettings">) =>
    this.ask("changeSettings", { of: [project], body });
  testSettings = (project: number, body: BodyOf<"testSettings">, signal: AbortSignal) =>
    this.#askInTurn("testSettings", { of: [project], body, signal });

  challenge = (project: number) => this.ask("getChallengeSettings", { of: [project] });
  changeChallenge = (project: number, body: BodyOf<"changeChallengeSettings">) =>
    this.ask("changeChallengeSettings", { of: [project], body });
  requestScoring = (project: number) => this.ask("getRequestScoring", { of: [project] });
  changeRequestScoring = (project: number, body: BodyOf<"changeRequestScoring">) =>
    this.ask("changeRequestScoring", { of: [project], body });

  rules = (project: number) => this.ask("listRules", { of: [project] });
  createRule = (project: number, body: BodyOf<"createRule">) => this.ask("createRule", { of: [project], body });
  changeRule = (project: number, rule: number, body: BodyOf<"changeRule">) =>
    this.ask("changeRule", { of: [project, rule], body });
  removeRule = (project: number, rule: number) => this.ask("deleteRule", { of: [project, rule] });
  testRule = (project: number, body: BodyOf<"testRule">, signal: AbortSignal) =>
    this.#askInTurn("testRule", { of: [project], body, signal });

  query = (project: number, body: BodyOf<"querySessions">, signal: AbortSignal) =>
    this.#askInTurn("querySessions", { of: [project], body, signal });
  deleteSessions = (project: number, body: BodyOf<"deleteSessions">, signal: AbortSignal) =>
    this.#askInTurn("deleteSessions", { of: [project], body, signal });
  sessions = (project: number, cursor: string | null) => this.#page("listSessions", [project], cursor);
  session = (project: number, token: string) => this.ask("getSession", { of: [project, token] });
  timeline = (project: number, token: string) => this.ask("getSessionTimeline", { of: [project, token] });
  blocks = (project: number, cursor: string | null) => this.#page("listBlocks", [project], cursor);
  blockOf = (project: number, reference: string) => this.ask("listBlocks", { of: [project], query: { reference } });
  mark = (project: number, token: string, body: BodyOf<"markSession">) =>
    this.ask("markSession", { of: [project, token], body });
  unmark = (project: number, token: string) => this.ask("unmarkSession", { of: [project, token] });
  marks = (project: number, cursor: string | null) => this.#page("listMarks", [project], cursor);
  /** All of a project, at most a thousand: the oldest first. */
  exceptions = async (project: number): Promise<readonly ExceptionRow[]> =>
    (await this.#all("listExceptions", [project])).data;
  letThrough = (project: number, body: BodyOf<"createException">) =>
    this.ask("createException", { of: [project], body });
  endException = (project: number, exception: number) => this.ask("deleteException", { of: [project, exception] });

  /** The latest first. */
  incidents = (project: number, state: "open" | "all", limit: number) =>
    this.ask("listIncidents", { of: [project], query: { state, limit: `${limit}` } });
  muteIncident = (project: number, incident: number, hours: number) =>
    this.ask("muteIncident", { of: [project, incident], body: { hours } });

  alerts = (project: number) => this.ask("listAlerts", { of: [project] });
  createAlert = (project: number, body: BodyOf<"createAlert">) => this.ask("createAlert", { of: [project], body });
  changeAlert = (project: number, alert: number, body: BodyOf<"changeAlert">) =>
    this.ask("changeAlert", { of: [project, alert], body });
  removeAlert = (project: number, alert: number) => this.ask("deleteAlert", { of: [project, alert] });
  testAlert = (project: number, body: BodyOf<"testAlert">, signal: AbortSignal) =>
    this.#askInTurn("testAlert", { of: [project], body, signal });
  channels = (project: number) => this.ask("listChannels", { of: [project] });
  createChannel = (project: number, body: BodyOf<"createChannel">) =>
    this.ask("createChannel", { of: [project], body });
  removeChannel = (project: number, channel: number) => this.ask("deleteChannel", { of: [project, channel] });
  testChannel = (project: number, channel: number) => this.ask("testChannel", { of: [project, channel] });
  deliveries = (project: number, channel: number) => this.ask("listDeliveries", { of: [project, channel] });

  /** Counts of judged requests by value; what is asked for is named as the API names it. */
  traffic = (project: number, query: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    this.ask("getTraffic", { of: [project], query, signal });
  /** A page of 500 samples of requests without a session. */
  requests = (project: number, query: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    this.ask("listRequests", { of: [project], query: { limit: "500", ...query }, signal });
  crawlers = (project: number, from: Date) =>
    this.ask("listCrawlers", { of: [project], query: { from: from.toISOString() } });

  /** Counts from `from` until now, and to compare those from `before` until `from`. */
  stats = (project: number, from: Date, bucket: "hour" | "day", before: Date) => {
    const compared = { compare_from: before.toISOString(), compare_to: from.toISOString() };
    return this.ask("getStats", { of: [project], query: { from: from.toISOString(), bucket, ...compared } });
  };
  /** Counts from `from` until now, challenges and hits by rule as well. */
  statsByRule = (project: number, from: Date, bucket: "hour" | "day") =>
    this.ask("getStats", { of: [project], query: { from: from.toISOString(), bucket, by: "rule" } });
  /** By minute, of the last hour. */
  ruleHits = (project: number) => this.ask("getRuleHits", { of: [project] });

  /** What an account may run one of at a time, and refuses with 409 alone: asked again until the one before has ended. */
  async #askInTurn<Id extends OperationId>(id: Id, asked: Asked<Id>): Promise<AnswerOf<Id>> {
    for (;;) {
      try {
        return await this.ask(id, asked);
      } catch (error) {
        if (!(error instanceof ApiFault) || error.status !== 409) throw error;
        await new Promise((resolve) => setTimeout(resolve, busyMs));
      }
    }
  }

  #page<Id extends PagedId>(id: Id, of: readonly number[], cursor: string | null): Promise<AnswerOf<Id>> {
    return this.ask(id, { of, query: { limit: "100", ...(cursor !== null && { cursor }) } });
  }

  /** All pages of a list, which is short enough for one table. */
  async #all<Id extends PagedId>(id: Id, of: readonly number[]): Promise<AnswerOf<Id>> {
    const answer = (await this.#page(id, of, null)) as AnswerOf<Id> & Page;
    for (let cursor = answer.meta.next_cursor; cursor !== null; ) {
      const { data, meta } = (await this.#page(id, of, cursor)) as AnswerOf<Id> & Page;
      answer.data.push(...data);
      cursor = meta.next_cursor;
    }
    return answer;
  }

  /** Any operation; the methods above say what the pages ask for. */
  async ask<Id extends OperationId>(id: Id, asked: Asked<Id> = {}): Promise<AnswerOf<Id>> {
    const { body, signal } = asked;
    const { method, path } = operations[id];
    const answer = await this.#fetch(urlOf(path, asked.of ?? [], asked.query ?? {}), {
      method: httpMethodOf(method),
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
    if (answer.ok) return (text === "" ? undefined : JSON.parse(text)) as AnswerOf<Id>;
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

function urlOf(path: string, of: readonly (number | string)[], query: Readonly<Record<string, string>>): string {
  const [left, search] = [[...of], String(new URLSearchParams(query))];
  const filled = path.replace(/:[a-z_]+/g, () => encodeURIComponent(left.shift() ?? ""));
  return search === "" ? filled : `${filled}?${search}`;
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
