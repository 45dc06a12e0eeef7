/**
 * What the middlewares share: from a visitor's request to a verdict and what to do with it. Frameworks stay outside: an adapter
 * says how its request is read and carries the step out. Nothing here throws or rejects; what goes wrong lets the visitor in.
 */
import {
  type CheckedVerdict,
  type ClientFailure,
  type ClientOptions,
  createClient,
  type LoggedIn,
  type RequestContext,
  type VerdictClient,
  type VisitorRequest,
} from "../client/client.js";
import { textOfBytes } from "../client/context-headers.js";
import { callHook, isPromise, leavePromise } from "../client/hooks.js";
import { isTellableTarget, type VisitorHeaderLines } from "../client/judged-body.js";
import { failOpen } from "../client/verdict-answer.js";
import { sessionHeaderName, sessionTokenOf, setCookieValue } from "../contract/sessions/session-cookie.js";
import { checkKinds, checkOptionNames, hint } from "../contract/values/option-names.js";
import { noUserAgent, rulePath } from "../contract/verdicts/visitor-request.js";
import { isPagePart, isStaticResource } from "../verdict/static-resource.js";
import { challengeResponse } from "./challenge-page.js";
import { type CookieOptions, checkedCookie } from "./cookie-options.js";
import { checkPages, type DenialPages, type DenialResponse, denialResponse } from "./denial-page.js";

/** Options of every middleware. `Challenge` is the framework's form of the challenge hook. */
export interface GuardOptions<Challenge> extends CookieOptions {
  /** A client to share, or what it takes to make one. */
  readonly client: VerdictClient | ClientOptions;
  /** For pages without cookies; default `X-Service-Session`. */
  readonly headerName?: string | undefined;
  /**
   * Judges every request by its own headers too, so visitors without a session as well (`POST /v1/verdict`): wants request scoring enabled in the
   * project; default false, which asks about sessions only. Cookies and credentials are not sent.
   */
  readonly requests?: boolean | undefined;
  /**
   * Gives a visitor who brings no session token one with the first page, in the cookie in which the SDK looks for it, so that all of a visit is known
   * from its first request on; default false. Such an answer gets `Cache-Control: private`, unless the application set `no-store`. Means `requests`.
   */
  readonly issueToken?: boolean | undefined;
  /**
   * How long to wait for the report of a session that sent none yet, or none in the last 2 s: ms from 0 to 1000, or a function of the request;
   * default 0. If its last report is fresher, the verdict takes 25 to 40 ms, unless a report came just before the request. 400 is good for a POST that
   * matters. Means `requests`.
   */
  readonly waitForReport?: number | ((request: SeenRequest) => number | undefined) | undefined;
  /**
   * What is not asked about, by the extension of the path: `true` all static resources, `false` none; default GET and HEAD requests of the parts of
   * pages (pictures, styles, scripts, fonts), which would otherwise count in `requests_per_minute`.
   */
  readonly skipStatic?: boolean | undefined;
  /**
   * What the application's router takes no notice of in a path. Express and Fastify are asked themselves: by default Express ignores `case` and
   * `trailing-slash`, Fastify 4 `path-parameters`; other frameworks' default is nothing. What is ignored is taken away before verdictd is asked:
   * rules for such a path are written in lower case, without the slash, without `;…`.
   */
  readonly routerIgnores?: readonly RouterIgnores[] | undefined;
  /** How long a visitor waits whose verdict is `delay`, 0 to 10 000 ms; default 1000. */
  readonly delayMs?: number | undefined;
  /**
   * What becomes of a visitor whose verdict is `challenge`. `verdictd` answers 403 with verdictd's own challenge, which the project has to have
   * enabled, and wants `siteKey`; a hook of one's own is asked (a CAPTCHA, a login); `page` answers 403 with a page that says so, which nobody
   * gets past; `allow`, the default, lets the visitor in and reports `challenge_unhandled` once, since a rule must not lock people out of a site
   * that has no challenge to offer.
   */
  readonly challenge?: (typeof challengeWords)[number] | Challenge | undefined;
  /** The project's public key, for `challenge: "verdictd"`. */
  readonly siteKey?: string | undefined;
  /** Where visitors' browsers find `/sdk.js` and `/challenge.js`: an origin; default the site's own, as the proxies' recipes serve them. */
  readonly scriptOrigin?: string | undefined;
  /** What your proxy has put before verdictd's paths there, such as `/bots`; default nothing. */
  readonly pathPrefix?: string | undefined;
  /** Words and looks of the built-in pages. */
  readonly pages?: DenialPages | undefined;
  /** Told of every request that was asked about, with its context and verdict: for logs and metrics. It is not waited for. */
  readonly onVerdict?: ((visit: Visit) => void) | undefined;
}

/** What a router may take no notice of: capitals, a slash at the end, and `;name=value` in a path. */
export type RouterIgnores = "case" | "trailing-slash" | "path-parameters";

/** What a middleware attaches to the request. */
export interface Visit {
  readonly verdict: CheckedVerdict;
  /** Null for a visitor without a session. */
  readonly sessionToken: string | null;
  /** What verdictd was told of the request. */
  readonly context: RequestContext;
  /** The value of `Set-Cookie` for a visitor who is given a token; null otherwise. Middlewares set it; with `createGuard`, `withSessionCookie` does. */
  readonly setCookie: string | null;
  /** Asserts that this visitor has just logged in: call it in the login handler, no need to wait. Never rejects. */
  loggedIn(): Promise<LoggedIn>;
}

/** A request as an adapter shows it. Texts as they were received; undefined for what is unknown. */
export interface SeenRequest {
  /** The request target: path, with or without a query. */
  readonly target: string;
  readonly method: string;
  readonly host: string | undefined;
  readonly ip: string | undefined;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** All of them. */
  readonly headers: () => VisitorHeaderLines;
  /** Whether the visitor is known to have come by https, which decides what a browser sends. */
  readonly isSecure: boolean;
  /** What the framework's router takes no notice of, as far as it says. */
  readonly ignores?: readonly RouterIgnores[];
}

/** What the adapter has to do. A delay is over when it gets the step. */
export type Step =
  | { readonly step: "continue" }
  | { readonly step: "respond"; readonly response: DenialResponse }
  | { readonly step: "challenge" };

const optionNames: Readonly<Record<keyof GuardOptions<unknown> | AdapterOption, true>> = {
  client: true,
  cookieName: true,
  headerName: true,
  skipStatic: true,
  requests: true,
  issueToken: true,
  cookieDomain: true,
  cookiePath: true,
  cookieSameSite: true,
  cookieMaxAge: true,
  waitForReport: true,
  routerIgnores: true,
  delayMs: true,
  challenge: true,
  siteKey: true,
  scriptOrigin: true,
  pathPrefix: true,
  pages: true,
  onVerdict: true,
  clientIp: true,
  skip: true,
  prefix: true,
  logLevel: true,
  logSerializers: true,
};

/** What adapters add: how their framework's request is read, and what Fastify takes for every plugin. */
type AdapterOption = "clientIp" | "skip" | "prefix" | "logLevel" | "logSerializers";

const optionKinds = {
  onVerdict: "a function",
  clientIp: "a function",
  skip: "a function",
  cookieName: "a name",
  headerName: "a name",
  requests: "true or false",
  issueToken: "true or false",
  cookieDomain: "a name",
  cookiePath: "a name",
  cookieSameSite: "a name",
  skipStatic: "true or false",
} as const;

const delayMsMax = 10_000;
/** Visitors kept waiting at once; beyond it they go on, since each holds a connection open. */
const delayedMax = 1000;
const goOn: Step = { step: "continue" };

/** One for each middleware. An adapter calls `visit`, then `step`, and does what the step says. */
export class Guard<Challenge> {
  readonly client: VerdictClient;
  readonly #options: GuardOptions<Challenge>;
  readonly #cookie: ReturnType<typeof checkedCookie>;
  readonly #headerName: string;
  /** Null unless challenges are verdictd's own. */
  readonly #page: { readonly siteKey: string; readonly scriptOrigin: string; readonly pathPrefix: string } | null;
  readonly #delayMs: number;
  /** Null: as the framework says. */
  readonly #routerIgnores: readonly RouterIgnores[] | null;
  /** What challenged visits were for. */
  readonly #purposes = new WeakMap<Visit, Purpose>();
  #delayed = 0;
  #toldOfChallenge = false;

  /** Throws a `TypeError` on a bad option. */
  constructor(options: GuardOptions<Challenge>) {
    if ((options as unknown) === undefined) {
      throw new TypeError("verdictd: options are missing; expected verdictd({ client: { baseUrl, privateKey } })");
    }
    checkPlaces(options);
    checkOptionNames("verdictd", options, optionNames);
    checkKinds(options, optionKinds);
    if (options.pages !== undefined) checkPages(options.pages);
    this.#options = options;
    this.client = clientOf(options.client);
    this.#cookie = checkedCookie(options);
    this.#headerName = (options.headerName ?? sessionHeaderName).toLowerCase();
    checkWait(options.waitForReport);
    this.#routerIgnores = options.routerIgnores === undefined ? null : checkedIgnores(options.routerIgnores);
    this.#page = checkedPage(options);
    this.#delayMs = options.delayMs ?? 1000;
    if (typeof this.#delayMs !== "number" || !(this.#delayMs >= 0 && this.#delayMs <= delayMsMax)) {
      throw new TypeError(`delayMs: expected 0 to ${delayMsMax} ms`);
    }
  }

  /** The hook, where the customer gave one. */
  get challenge(): Challenge | null {
    const { challenge } = this.#options;
    return challenge === undefined || typeof challenge === "string" ? null : challenge;
  }

  /** Whether challenged visitors are kept out, by whatever. */
  get #challenges(): boolean {
    const { challenge } = this.#options;
    return challenge !== undefined && challenge !== "allow";
  }

  /** Whether the customer's `skip` says so. One that throws lets the visitor in. */
  skips(skip: () => boolean | undefined): boolean {
    try {
      return this.#awaited("skip", skip()) === true;
    } catch (cause) {
      this.reportHook("skip threw", cause);
      return true;
    }
  }

  /** Reads the request and asks verdictd. `see` may throw: it runs code of the customer's. */
  async visit(see: () => SeenRequest): Promise<Visit> {
    try {
      const read = see();
      const seen = { ...read, ip: this.#awaited("clientIp", read.ip) };
      const context = contextOf(seen, new Set(this.#routerIgnores ?? seen.ignores ?? []));
      const token = sessionTokenOf(seen.header(this.#headerName), seen.header("cookie"), this.#cookie.name);
      if (this.#skipsStatic(context)) {
        return this.#visitOf(failOpen(null), token, context);
      }
      const { requests, issueToken = false, waitForReport } = this.#options;
      const asked =
        requests === true || issueToken || waitForReport !== undefined || (token !== null && isPreflight(seen))
          ? this.client.judge(token, this.#judgedRequest(seen, context), { issueToken, waitMs: this.#waitMs(seen) })
          : this.client.verdict(token, context);
      const { session_token: given, ...verdict } = await asked;
      const visit = this.#visitOf(verdict, token, context, given === undefined ? null : this.#cookieOf(given, seen));
      if (visit.verdict.action === "challenge") this.#purposes.set(visit, purposeOf(seen));
      this.#tell(visit);
      return visit;
    } catch (cause) {
      this.reportHook("the request could not be read", cause);
      return this.#visitOf(failOpen("hook_threw"), null, {});
    }
  }

  /**
   * What the verdict asks for of a visitor who sent these `Accept` and `Accept-Language`. Resolves after the delay where that is what it asks for.
   */
  async step(visit: Visit, accept: string, acceptLanguage: string): Promise<Step> {
    const { action, requestId } = visit.verdict;
    const verdictId = requestId ?? "";
    const visitor = { site: visit.context.host, acceptLanguage };
    const { pages } = this.#options;
    if (action === "block") {
      return { step: "respond", response: denialResponse({ kind: "block", verdictId }, accept, pages, visitor) };
    }
    if (action === "delay") await this.#delay();
    if (action !== "challenge") return goOn;
    const purpose = this.#purposes.get(visit);
    if (purpose === "prefetch" && this.#challenges) return { step: "respond", response: notPrefetched };
    const challenged = (response: DenialResponse): Step => {
      const { reloads = "" } = typeof purpose === "object" ? purpose : {};
      const headers =
        reloads === "" ? response.headers : { ...response.headers, "X-Action-Redirect": `${reloads};replace` };
      return { step: "respond", response: { ...response, headers } };
    };
    if (this.#page !== null) {
      const { host: site = "", method = "" } = visit.context;
      const page = { ...this.#page, cookie: this.#cookie, site, method, acceptLanguage, verdictId };
      return challenged(challengeResponse(page, accept));
    }
    if (this.#options.challenge === "page") {
      return challenged(denialResponse({ kind: "challenge", verdictId }, accept, pages, visitor));
    }
    if (this.challenge !== null) return { step: "challenge" };
    this.#tellOfChallenge();
    return goOn;
  }

  /** A signature covers the path as the visitor asked for it, which is told beside the router's. */
  #judgedRequest(seen: SeenRequest, context: RequestContext): VisitorRequest {
    const { path } = context;
    const isAsAsked = path === undefined || path === rulePath(textOfBytes(seen.target));
    // The server's word for it, which knows whom to believe, and not the visitor's.
    const headers = [...seen.headers()].filter(([name]) => name.toLowerCase() !== "x-forwarded-proto");
    if (seen.isSecure) headers.push(["X-Forwarded-Proto", "https"]);
    const target = textOfBytes(seen.target);
    if (isAsAsked) return { ...context, path: target, headers };
    const told = isTellableTarget(target) ? headers : headers.filter(([name]) => !/^signature/i.test(name));
    return { ...context, target, headers: told };
  }

  /** Reports that code of the customer's threw. */
  reportHook(message: string, cause: unknown): void {
    this.client.report({ reason: "hook_threw", message: `${message}; the visitor was let in`, cause });
  }

  #skipsStatic({ path = "", method = "" }: RequestContext): boolean {
    const { skipStatic } = this.#options;
    return skipStatic === undefined ? isPagePart(method, path) : skipStatic && isStaticResource(path);
  }

  #visitOf(
    verdict: CheckedVerdict,
    sessionToken: string | null,
    context: RequestContext,
    setCookie: string | null = null,
  ): Visit {
    return { verdict, sessionToken, context, setCookie, loggedIn: () => this.client.loggedIn(sessionToken) };
  }

  #cookieOf(token: string, { isSecure }: SeenRequest): string {
    return setCookieValue(token, { ...this.#cookie, isSecure });
  }

  /** A function that throws, or gives no such number, waits for nothing. */
  #waitMs(seen: SeenRequest): number {
    const { waitForReport = 0 } = this.#options;
    if (typeof waitForReport === "number") return waitForReport;
    try {
      const waitMs = this.#awaited("waitForReport", waitForReport(seen));
      return typeof waitMs === "number" ? waitMs : 0;
    } catch (cause) {
      this.reportHook("waitForReport threw", cause);
      return 0;
    }
  }

  /** What a function of the customer's returned, without TypeScript maybe a promise: nobody can wait for that, and it counts as nothing. */
  #awaited<T>(name: string, value: T): T | undefined {
    if (!isPromise(value)) return value;
    leavePromise(value);
    this.client.report({ reason: "hook_threw", message: `${name} returned a promise, which is not waited for` });
    return undefined;
  }

  #tell(visit: Visit): void {
    callHook(
      () => this.#options.onVerdict?.(visit),
      (cause) => this.client.report({ reason: "hook_threw", message: "onVerdict threw", cause }),
    );
  }

  #tellOfChallenge(): void {
    if (this.#toldOfChallenge) return;
    this.#toldOfChallenge = true;
    const failure: ClientFailure = {
      reason: "challenge_unhandled",
      message:
        "a rule asks for a challenge, and none is configured: such visitors are let in; set the option `challenge`",
    };
    this.client.report(failure);
  }

  async #delay(): Promise<void> {
    if (this.#delayed >= delayedMax) return;
    this.#delayed++;
    await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
    this.#delayed--;
  }
}

function checkWait(wait: GuardOptions<unknown>["waitForReport"]): void {
  const isGood =
    wait === undefined || typeof wait === "function" || (Number.isInteger(wait) && wait >= 0 && wait <= 1000);
  if (!isGood) throw new TypeError("waitForReport: expected 0 to 1000 ms, or a function of the request");
}

/** The client's own options are one level deeper, where many look for them last. */
function checkPlaces(options: unknown): void {
  if (typeof options !== "object" || options === null) return;
  const name = ["baseUrl", "privateKey"].find((each) => Object.hasOwn(options, each));
  if (name === undefined) return;
  throw new TypeError(`verdictd: \`${name}\` belongs in \`client\`: verdictd({ client: { baseUrl, privateKey } })`);
}

function clientOf(client: VerdictClient | ClientOptions | undefined): VerdictClient {
  if (typeof client !== "object" || client === null) {
    throw new TypeError("client: missing; expected { baseUrl, privateKey }, or a client made by createClient");
  }
  return "verdict" in client ? client : createClient(client);
}

function checkedPage({
  challenge,
  siteKey,
  scriptOrigin = "",
  pathPrefix = "",
}: Pick<GuardOptions<unknown>, "challenge" | "siteKey" | "scriptOrigin" | "pathPrefix">) {
  if (challenge !== undefined && typeof challenge !== "function" && !isChallengeWord(challenge)) {
    const given = String(challenge);
    // Words of other products and of verdictd's own actions, which edit distance would not find.
    const meant = denyingWords.includes(given)
      ? "; did you mean `page`?"
      : hint(given, challengeWords, "a function of your own");
    throw new TypeError(`challenge: unknown value \`${given}\`${meant}`);
  }
  if ((challenge === "verdictd" || siteKey !== undefined) && !/^pk_[\w-]{1,125}$/.test(String(siteKey))) {
    throw new TypeError("siteKey: expected the project's site key (pk_…), which the challenge page carries");
  }
  if (scriptOrigin !== "" && !/^https?:\/\/[^/]/.test(scriptOrigin)) {
    throw new TypeError("scriptOrigin: expected an origin such as https://verdictd.example");
  }
  if (!/^(?:\/[\w.~-]+)*$/.test(pathPrefix)) throw new TypeError("pathPrefix: expected a path such as /bots");
  return challenge === "verdictd" && siteKey !== undefined ? { siteKey, scriptOrigin, pathPrefix } : null;
}

const challengeWords = ["allow", "page", "verdictd"] as const;
const denyingWords = ["deny", "block", "forbid", "403"];

function isChallengeWord(value: unknown): value is (typeof challengeWords)[number] {
  return challengeWords.some((word) => word === value);
}

/** By its headers, which only `judge` tells: verdictd lets it in unless one of the project's rules asks for it. Browsers send none with a cookie. */
function isPreflight({ method, header }: SeenRequest): boolean {
  return method === "OPTIONS" && Boolean(header("origin")) && Boolean(header("access-control-request-method"));
}

function checkedIgnores(names: readonly RouterIgnores[]): readonly RouterIgnores[] {
  const known: Readonly<Record<RouterIgnores, true>> = { case: true, "trailing-slash": true, "path-parameters": true };
  if (!Array.isArray(names) || !names.every((name) => Object.hasOwn(known, name))) {
    throw new TypeError(`routerIgnores: expected a list of ${Object.keys(known).join(", ")}`);
  }
  return names;
}

/** What a request is for: a page that nobody has asked for yet, or a script's call that has to name the page to load instead. */
type Purpose = "prefetch" | { readonly reloads: string } | undefined;

function purposeOf({ method, header, target }: SeenRequest): Purpose {
  const purpose = header("sec-purpose") || header("purpose") || header("x-moz") || "";
  if (/^prefetch\b/i.test(purpose) || header("next-router-prefetch")) return "prefetch";
  if (method !== "POST" || !header("next-action")) return undefined;
  // Next.js sends a server action to the page's own address. Any answer but its own breaks the page, unless this header has it load one.
  return /^\/(?!\/)[\x21-\x7e]{0,2000}$/.test(target) ? { reloads: target.replaceAll(";", "%3B") } : undefined;
}

/** Nobody has clicked yet, so there is nobody to challenge: browsers and routers ask again when somebody does. */
const notPrefetched: DenialResponse = {
  status: 403,
  headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  body: "Not loaded in advance.\n",
};

function contextOf(
  { target, method, host, ip, header }: SeenRequest,
  ignored: ReadonlySet<RouterIgnores>,
): RequestContext {
  const path = routedPath(target, ignored);
  // Without one the session's own would count, and so a clearance that was passed with it.
  const userAgent = header("user-agent") || noUserAgent;
  return {
    ...(path !== undefined && { path }),
    ...(method !== "" && { method }),
    ...(host && { host }),
    ...(ip && { ip }),
    userAgent,
  };
}

/** The path as the router goes by it. */
function routedPath(target: string, ignored: ReadonlySet<RouterIgnores>): string | undefined {
  const text = textOfBytes(target);
  // Before anything is cut or resolved: `/checkout;…` of any length is `/checkout`, and `/x/..;/checkout` too.
  const bare = ignored.has("path-parameters") ? text.replace(/[?#].*$/s, "").replace(/;[^/\\]*/g, "") : text;
  let path = rulePath(bare);
  if (path === undefined) return undefined;
  if (ignored.has("trailing-slash") && path !== "/") path = path.replace(/\/$/, "");
  if (ignored.has("case")) path = path.toLowerCase();
  return path;
}
