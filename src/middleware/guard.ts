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
} from "../client/client.js";
import { failOpen } from "../client/verdict-answer.js";
import { rulePath, sessionCookieName, sessionHeaderName, sessionTokenOf } from "../contract/visitor-request.js";
import { isStaticResource } from "../verdict/static-resource.js";
import { type DenialPages, type DenialResponse, denialResponse } from "./denial-page.js";

/** Options of every middleware. `Challenge` is the framework's form of the challenge hook. */
export interface GuardOptions<Challenge> {
  /** A client to share, or what it takes to make one. */
  readonly client: VerdictClient | ClientOptions;
  /** Default `service_session`. */
  readonly cookieName?: string;
  /** For pages without cookies; default `X-Service-Session`. */
  readonly headerName?: string;
  /** Does not ask for static resources (by the extension of the path); default false. */
  readonly skipStatic?: boolean;
  /** How long a visitor waits whose verdict is `delay`, 0 to 10 000 ms; default 1000. */
  readonly delayMs?: number;
  /**
   * What becomes of a visitor whose verdict is `challenge`. A hook of one's own is asked (a CAPTCHA, a login); `page` answers 403
   * with a page that says so, which nobody gets past; `allow`, the default, lets the visitor in and reports
   * `challenge_unhandled` once, since a rule must not lock people out of a site that has no challenge to offer.
   */
  readonly challenge?: "allow" | "page" | Challenge;
  /** Words and looks of the built-in pages. */
  readonly pages?: DenialPages;
  /** Told of every request that was asked about, with its context and verdict: for logs and metrics. */
  readonly onVerdict?: (visit: Visit) => void;
}

/** What a middleware attaches to the request. */
export interface Visit {
  readonly verdict: CheckedVerdict;
  /** Null for a visitor without a session. */
  readonly sessionToken: string | null;
  /** What verdictd was told of the request. */
  readonly context: RequestContext;
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
}

/** What the adapter has to do. A delay is over when it gets the step. */
export type Step =
  | { readonly step: "continue" }
  | { readonly step: "respond"; readonly response: DenialResponse }
  | { readonly step: "challenge" };

const delayMsMax = 10_000;
/** Visitors kept waiting at once; beyond it they go on, since each holds a connection open. */
const delayedMax = 1000;
const goOn: Step = { step: "continue" };

export class Guard<Challenge> {
  readonly client: VerdictClient;
  readonly #options: GuardOptions<Challenge>;
  readonly #cookieName: string;
  readonly #headerName: string;
  readonly #delayMs: number;
  #delayed = 0;
  #toldOfChallenge = false;

  /** Throws a `TypeError` on a bad option. */
  constructor(options: GuardOptions<Challenge>) {
    this.#options = options;
    this.client = "verdict" in options.client ? options.client : createClient(options.client);
    this.#cookieName = options.cookieName ?? sessionCookieName;
    this.#headerName = (options.headerName ?? sessionHeaderName).toLowerCase();
    this.#delayMs = options.delayMs ?? 1000;
    if (!(this.#delayMs >= 0 && this.#delayMs <= delayMsMax)) {
      throw new TypeError(`delayMs: expected 0 to ${delayMsMax} ms`);
    }
  }

  /** The hook, where the customer gave one. */
  get challenge(): Challenge | null {
    const { challenge } = this.#options;
    return challenge === undefined || challenge === "allow" || challenge === "page" ? null : (challenge as Challenge);
  }

  /** Whether the customer's `skip` says so. One that throws lets the visitor in. */
  skips(skip: () => boolean | undefined): boolean {
    try {
      return skip() === true;
    } catch (cause) {
      this.reportHook("skip threw", cause);
      return true;
    }
  }

  /** Reads the request and asks verdictd. `see` may throw: it runs code of the customer's. */
  async visit(see: () => SeenRequest): Promise<Visit> {
    try {
      const seen = see();
      const context = contextOf(seen);
      const token = sessionTokenOf(seen.header(this.#headerName), seen.header("cookie"), this.#cookieName);
      if (this.#options.skipStatic === true && isStaticResource(seen.target)) {
        return this.#visitOf(failOpen(null), token, context);
      }
      const visit = this.#visitOf(await this.client.verdict(token, context), token, context);
      this.#tell(visit);
      return visit;
    } catch (cause) {
      this.reportHook("the request could not be read", cause);
      return this.#visitOf(failOpen("hook_threw"), null, {});
    }
  }

  /** What the verdict asks for. Resolves after the delay where that is what it asks for. */
  async step(visit: Visit, accept: string): Promise<Step> {
    const { action, requestId } = visit.verdict;
    const verdictId = requestId ?? "";
    const deny = (kind: "block" | "challenge"): Step => ({
      step: "respond",
      response: denialResponse({ kind, verdictId }, accept, this.#options.pages),
    });
    if (action === "block") return deny("block");
    if (action === "delay") await this.#delay();
    if (action !== "challenge") return goOn;
    if (this.#options.challenge === "page") return deny("challenge");
    if (this.challenge !== null) return { step: "challenge" };
    this.#tellOfChallenge();
    return goOn;
  }

  /** Reports that code of the customer's threw. */
  reportHook(message: string, cause: unknown): void {
    this.client.report({ reason: "hook_threw", message: `${message}; the visitor was let in`, cause });
  }

  #visitOf(verdict: CheckedVerdict, sessionToken: string | null, context: RequestContext): Visit {
    return { verdict, sessionToken, context, loggedIn: () => this.client.loggedIn(sessionToken) };
  }

  #tell(visit: Visit): void {
    try {
      this.#options.onVerdict?.(visit);
    } catch (cause) {
      this.client.report({ reason: "hook_threw", message: "onVerdict threw", cause });
    }
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

function contextOf({ target, method, host, ip, header }: SeenRequest): RequestContext {
  const path = rulePath(target);
  const userAgent = header("user-agent");
  return {
    ...(path !== undefined && { path }),
    ...(method !== "" && { method }),
    ...(host && { host }),
    ...(ip && { ip }),
    ...(userAgent && { userAgent }),
  };
}
