/**
 * `verdictd-client`: reads verdicts and reports logins from the customer's backend. Runs on Node 20 and, with only `fetch`,
 * `AbortController`, `URL`, `TextEncoder` and `TextDecoder`, on edge runtimes. Its calls never throw and never reject: without an answer in time the
 * visitor is allowed, and the verdict says why in `failed`.
 */

import { wellFormedToken } from "../contract/sessions/session-cookie.js";
import { checkKinds, checkOptionNames, hint, type OptionKind } from "../contract/values/option-names.js";
import type { RequestContext } from "../contract/verdicts/verdict.js";
import { subscriberNetwork } from "../net/network.js";
import { type BreakerOptions, CircuitBreaker, openMsDefault } from "./circuit-breaker.js";
import { contextHeaders } from "./context-headers.js";
import { callHook } from "./hooks.js";
import { type JudgeOptions, judgedBody, type VisitorRequest } from "./judged-body.js";
import { KnownSessions } from "./known-sessions.js";
import { fetchSender, nodeSender, type RequestSender, type SenderAnswer, type SenderRequest } from "./sender.js";
import {
  type CheckedVerdict,
  decodeVerdict,
  type FailureReason,
  failOpen,
  type Mode,
  modes,
} from "./verdict-answer.js";

export type { Action, Band, RequestContext, Verdict } from "../contract/verdicts/verdict.js";
export type { BreakerOptions } from "./circuit-breaker.js";
export type { JudgeOptions, VisitorRequest } from "./judged-body.js";
export type { CheckedVerdict, FailureReason, Mode } from "./verdict-answer.js";

/** What went wrong, for `onError`. Holds no secret. */
export interface ClientFailure {
  /**
   * `challenge_unhandled`: a middleware let a visitor through whom a rule wanted challenged, because nobody said how. `other_project`: verdictd knew none of
   * the first sessions that it was asked about, as when the pages have the site key of another project.
   */
  readonly reason: FailureReason | "unknown_session" | "challenge_unhandled" | "other_project";
  readonly message: string;
  /** verdictd's status, where it answered. */
  readonly status?: number;
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** What a client is made of. `createClient` throws a `TypeError` on a value that can't be. */
export interface ClientOptions {
  /** verdictd's address: `http://127.0.0.1:8080`; a path prefix is kept. Undefined, as an environment variable may be, throws. */
  readonly baseUrl: string | undefined;
  /** The project's private key (`sk_…`): server-side only. The same. */
  readonly privateKey: string | undefined;
  /** How long a visitor waits for a verdict at most, 1 to 10 000 ms; default 150. Time in which the program itself is busy does not count. */
  readonly timeoutMs?: number | undefined;
  /** How long one report of a login may take, 1 to 60 000 ms; default 1000. */
  readonly loggedInTimeoutMs?: number | undefined;
  /** Pauses before the second, third, … report of a login, ms; default 500 and 1500. */
  readonly loggedInRetryMs?: readonly number[] | undefined;
  /** Default `enforce`. */
  readonly mode?: Mode | undefined;
  /**
   * Told of every failure. While the circuit breaker is open nothing is asked, so nothing is told: a dead verdictd does not flood
   * the log. Default: `console.warn`, each reason at most once a minute. What it throws or rejects with is ignored.
   */
  readonly onError?: ((failure: ClientFailure) => void) | undefined;
  /** After 5 failures in a row verdictd is left alone for 1 s, then asked once; twice as long each time, at most 30 s. */
  readonly breaker?: BreakerOptions | undefined;
  /** Sends by this. Default: Node's `http` on Node, elsewhere the runtime's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** The breaker's clock, ms; default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What came of reporting a login. */
export type LoggedIn =
  | { readonly ok: true; readonly assertedAt: string }
  /** `no_session`: the visitor carries no session token; `unknown_session`: verdictd does not know it (yet). */
  | { readonly ok: false; readonly reason: FailureReason | "no_session" | "unknown_session" };

/** A client for one project. It may be shared by all requests of a backend. */
export interface VerdictClient {
  readonly mode: Mode;
  /** The verdict of a session. Without a well-formed token nothing is asked: such a visitor is allowed. Never rejects. */
  verdict(sessionToken: string | null | undefined, context?: RequestContext): Promise<CheckedVerdict>;
  /**
   * The verdict on a visitor's request, with or without a session (`POST /v1/verdict`). While the project has request scoring off, that of the
   * session. Never rejects. The client's `timeoutMs` holds.
   */
  judge(
    sessionToken: string | null | undefined,
    request: VisitorRequest,
    options?: JudgeOptions,
  ): Promise<CheckedVerdict>;
  /**
   * Asserts that the session's visitor has just logged in. A login can arrive before the session's first report, so it is tried
   * again after a pause. Never rejects: a login handler need not wait for it.
   */
  loggedIn(sessionToken: string | null | undefined): Promise<LoggedIn>;
  /** Tells `onError`; for the middlewares. Never throws. */
  report(failure: ClientFailure): void;
}

const warnEveryMs = 60_000;
/** The most that verdictd waits for a report. */
const waitMsMax = 1000;

/** A client of one project. Throws a `TypeError` on a bad option, so that a mistake shows when the program starts. */
export function createClient(options: ClientOptions): VerdictClient {
  return new ApiClient(options);
}

const optionNames: Readonly<Record<keyof ClientOptions, true>> = {
  baseUrl: true,
  privateKey: true,
  timeoutMs: true,
  loggedInTimeoutMs: true,
  loggedInRetryMs: true,
  mode: true,
  onError: true,
  breaker: true,
  fetch: true,
  now: true,
};

const breakerKinds = {
  failuresMax: "a number above 0",
  openMs: "a number above 0",
  openMsMax: "a number above 0",
} as const satisfies Readonly<Record<keyof BreakerOptions, OptionKind>>;

function checkBreaker(options: BreakerOptions): void {
  checkOptionNames("breaker", options, breakerKinds);
  checkKinds(options, breakerKinds, "breaker.");
  const { openMs = openMsDefault, openMsMax = openMs } = options;
  if (openMsMax < openMs) throw new TypeError(`breaker.openMsMax: expected at least ${openMs}, which is openMs`);
}

class ApiClient implements VerdictClient {
  readonly mode: Mode;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #loggedInTimeoutMs: number;
  readonly #loggedInRetryMs: readonly number[];
  readonly #onError: (failure: ClientFailure) => void;
  readonly #sender: RequestSender;
  readonly #known = new KnownSessions();
  readonly #breaker: CircuitBreaker;
  readonly #now: () => number;

  constructor(options: ClientOptions) {
    checkOptionNames("client", options, optionNames);
    checkKinds(options, { onError: "a function", fetch: "a function", now: "a function" });
    if (options.breaker !== undefined) checkBreaker(options.breaker);
    this.mode = checkedMode(options.mode ?? "enforce");
    this.#base = checkedBase(options.baseUrl);
    this.#sender = senderOf(this.#base, options.fetch);
    this.#headers = { Authorization: `Bearer ${checkedKey(options.privateKey)}` };
    this.#timeoutMs = checkedMs("timeoutMs", options.timeoutMs ?? 150, 10_000);
    this.#loggedInTimeoutMs = checkedMs("loggedInTimeoutMs", options.loggedInTimeoutMs ?? 1000, 60_000);
    this.#loggedInRetryMs = checkedPauses(options.loggedInRetryMs ?? [500, 1500]);
    this.#onError = options.onError ?? warner();
    this.#breaker = new CircuitBreaker(options.breaker);
    this.#now = options.now ?? Date.now;
  }

  async verdict(sessionToken: string | null | undefined, context: RequestContext = {}): Promise<CheckedVerdict> {
    if (!isToken(sessionToken)) return failOpen(null);
    const ask = () => ({
      path: `/v1/sessions/${sessionToken}/verdict`,
      method: "GET",
      headers: contextHeaders(context ?? {}),
    });
    const verdict = await this.#verdict(ask, visitorOf(sessionToken, context));
    if (verdict.failed === null && this.#known.isNoneKnown(sessionToken, verdict)) {
      this.report({
        reason: "other_project",
        message:
          "verdictd knows none of the sessions of this site: the site key of its pages and this private key may be keys of two projects",
      });
    }
    return verdict;
  }

  async judge(
    sessionToken: string | null | undefined,
    request: VisitorRequest,
    { issueToken = false, waitMs = 0 }: JudgeOptions = {},
  ): Promise<CheckedVerdict> {
    const token = isToken(sessionToken) ? sessionToken : null;
    const waited = token !== null && Number.isFinite(waitMs) ? Math.min(Math.max(Math.round(waitMs), 0), waitMsMax) : 0;
    return this.#verdict(
      () => ({
        path: "/v1/verdict",
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: judgedBody(token, request ?? {}, { issueToken, waitMs: waited }),
      }),
      visitorOf(sessionToken, request),
      waited,
    );
  }

  async loggedIn(sessionToken: string | null | undefined): Promise<LoggedIn> {
    if (!isToken(sessionToken)) return { ok: false, reason: "no_session" };
    let result = await this.#assertLoggedIn(sessionToken);
    for (const pauseMs of this.#loggedInRetryMs) {
      if (result.ok || !isWorthRetrying(result.reason)) break;
      await pause(pauseMs);
      result = await this.#assertLoggedIn(sessionToken);
    }
    if (!result.ok && result.reason === "unknown_session") {
      this.report({
        reason: "unknown_session",
        message: "verdictd does not know the session that logged in",
        status: 404,
      });
    }
    return result;
  }

  report(failure: ClientFailure): void {
    // A broken logger must not break the site.
    callHook(
      () => this.#onError(failure),
      () => {},
    );
  }

  /** `ask` may throw: a caller without TypeScript passes anything. `waitedMs`: how long verdictd may wait before it answers. */
  async #verdict(ask: () => Question, visitor: string | undefined, waitedMs = 0): Promise<CheckedVerdict> {
    let request: Question;
    try {
      request = ask();
    } catch (cause) {
      this.report({ reason: "hook_threw", message: "the request could not be read; the visitor was let in", cause });
      return failOpen("hook_threw");
    }
    const reading: Reading<CheckedVerdict> = {
      answered: ({ status, text, requestId }) => (status === 200 ? decodeVerdict(text, this.mode, requestId) : null),
      failed: failOpen,
    };
    return this.#call(request, this.#timeoutMs + waitedMs, reading, visitor);
  }

  #assertLoggedIn(sessionToken: string): Promise<LoggedIn> {
    const request = { path: `/v1/sessions/${sessionToken}/logged-in`, method: "POST" };
    return this.#call<LoggedIn>(request, this.#loggedInTimeoutMs, {
      answered: ({ status, text }) => {
        if (status === 404 && text.includes('"UNKNOWN_SESSION"')) return { ok: false, reason: "unknown_session" };
        const assertedAt = status === 200 ? /"asserted_at":"([^"]+)"/.exec(text)?.[1] : undefined;
        return assertedAt === undefined ? null : { ok: true, assertedAt };
      },
      failed: (reason) => ({ ok: false, reason }),
    });
  }

  /** One request through the breaker. `answered` gives null for an answer that is of no use. */
  async #call<T>(request: Question, timeoutMs: number, reading: Reading<T>, visitor?: string): Promise<T> {
    const pass = this.#breaker.admit(this.#now());
    if (pass === null) return reading.failed("circuit_open");
    const answer = await this.#send(request, timeoutMs);
    const value = "text" in answer ? reading.answered(answer) : null;
    if (value !== null) {
      this.#breaker.succeed();
      return value;
    }
    const failure: ClientFailure = "text" in answer ? failureOf(answer) : answer;
    this.report(failure);
    if (failure.status !== undefined && refusals.has(failure.status)) {
      // Of this one request: verdictd is up, and refuses what a visitor or a proxy in between made of it.
      this.#breaker.abstain();
    } else if (
      failure.reason === "timeout"
        ? this.#breaker.failSlowly(pass, this.#now(), visitor)
        : this.#breaker.fail(pass, this.#now())
    ) {
      this.report({ reason: "circuit_open", message: "verdictd is left alone for a while; visitors are allowed" });
    }
    return reading.failed(failure.reason as FailureReason);
  }

  /** The answer, or why there is none. */
  async #send({ headers, ...request }: Question, timeoutMs: number): Promise<SenderAnswer | ClientFailure> {
    try {
      return await this.#sender({ ...request, headers: { ...this.#headers, ...headers } }, timeoutMs);
    } catch (cause) {
      const timedOut = isNamed(cause, "TimeoutError");
      return timedOut
        ? { reason: "timeout", message: `verdictd gave no answer within ${timeoutMs} ms`, cause }
        : { reason: "network", message: unreached(this.#base, cause), cause };
    }
  }
}

/** What tells visitors apart for the breaker: the address (of IPv6 the /64), else the session. */
function visitorOf(
  sessionToken: string | null | undefined,
  context: RequestContext | null | undefined,
): string | undefined {
  const ip: unknown = context?.ip;
  if (typeof ip === "string" && ip !== "") return subscriberNetwork(ip);
  return isToken(sessionToken) ? sessionToken : undefined;
}

/** A request, with the headers that others do not have. */
type Question = Omit<SenderRequest, "headers"> & Partial<Pick<SenderRequest, "headers">>;

/** Statuses that depend on the one request they answer: malformed, too long, not understood, headers too large, of a version not spoken. */
const refusals: ReadonlySet<number> = new Set([400, 413, 414, 422, 431, 505]);

interface Reading<T> {
  readonly answered: (answer: SenderAnswer) => T | null;
  readonly failed: (reason: FailureReason) => T;
}

function failureOf({ status, requestId }: SenderAnswer): ClientFailure {
  const known: Readonly<Record<number, readonly [FailureReason, string]>> = {
    200: ["malformed", "verdictd's answer is not what the API promises: is the address right?"],
    401: ["unauthenticated", "verdictd does not accept the private key"],
    402: ["no_subscription", "verdictd gives no verdicts: the account has no active subscription"],
  };
  const [reason, message] = known[status] ?? ["bad_status", `verdictd answered with status ${status}`];
  return { reason, message, status, ...(requestId !== null && { requestId }) };
}

/** Says where, and what is wrong by the error's code, such as ECONNREFUSED; `fetch` has it in the cause of its error. */
function unreached(base: string, error: unknown): string {
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause);
  if (code?.startsWith("HPE_") === true) return `what answers at ${base} does not speak HTTP (${code})`;
  return `verdictd could not be reached at ${base}${code === undefined ? "" : ` (${code})`}`;
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** A wrong key or an unpaid account is no better half a second later; an open breaker stays open longer than that. */
function isWorthRetrying(reason: string): boolean {
  return reason === "unknown_session" || reason === "timeout" || reason === "network" || reason === "bad_status";
}

function isToken(token: string | null | undefined): token is string {
  return typeof token === "string" && wellFormedToken.test(token);
}

function isNamed(error: unknown, name: string): boolean {
  return typeof error === "object" && error !== null && (error as { name?: unknown }).name === name;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `fetch` is looked up at each call, so that a runtime's instrumentation of it applies; some refuse to be called as a method. */
function senderOf(base: string, given: typeof fetch | undefined): RequestSender {
  if (given !== undefined) return fetchSender(base, given);
  return nodeSender(base) ?? fetchSender(base, (input, init) => fetch(input, init));
}

/** `console.warn`, each reason at most once a minute. */
function warner(): (failure: ClientFailure) => void {
  const warnedAtMs = new Map<string, number>();
  return ({ reason, message }) => {
    const nowMs = Date.now();
    if (nowMs - (warnedAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < warnEveryMs) return;
    warnedAtMs.set(reason, nowMs);
    console.warn(`${message} (verdictd-client: ${reason})`);
  };
}

function checkedMode(mode: Mode): Mode {
  if (!modes.includes(mode)) throw new TypeError(`mode: unknown value \`${String(mode)}\`${hint(String(mode), modes)}`);
  return mode;
}

function checkedBase(text: string | undefined): string {
  if (text === undefined || text === "")
    throw new TypeError("baseUrl: missing; expected verdictd's address, such as http://127.0.0.1:8080");
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("baseUrl: expected an address such as http://127.0.0.1:8080");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError("baseUrl: expected http or https");
  // Also an empty query, which would swallow the path.
  if (url.username !== "" || url.password !== "" || /[?#]/.test(url.href)) {
    throw new TypeError("baseUrl: expected no credentials, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

/** The key is never echoed. */
function checkedKey(key: string | undefined): string {
  if (key === undefined || key === "") {
    throw new TypeError("privateKey: missing; expected the project's private key (sk_…), often from the environment");
  }
  if (typeof key === "string" && key.startsWith("pk_")) {
    throw new TypeError("privateKey: got the site key (pk_…); expected the project's private key (sk_…)");
  }
  if (typeof key !== "string" || !/^sk_[\w-]{1,125}$/.test(key)) {
    throw new TypeError("privateKey: expected the project's private key (sk_…)");
  }
  return key;
}

function checkedPauses(pauses: readonly number[]): readonly number[] {
  if (!Array.isArray(pauses)) throw new TypeError("loggedInRetryMs: expected a list of pauses in ms");
  return pauses.map((pauseMs) => checkedMs("loggedInRetryMs", pauseMs, 60_000, 0));
}

function checkedMs(name: string, value: number, max: number, min = 1): number {
  if (!(Number.isFinite(value) && value >= min && value <= max))
    throw new TypeError(`${name}: expected ${min} to ${max} ms`);
  return value;
}
