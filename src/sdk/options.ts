/**
 * What a site can set, by `data-…` attributes of the script tag or by the npm entry, and what it gets back.
 * These are the SDK's only public types. Reads nothing but its arguments and the page's address.
 */

/** What a site can set. Only the site key is required. */
export interface VerdictdOptions {
  /** The project's public key, `pk_…`. */
  siteKey: string;
  /** Origin (and path prefix) that serves `/v1/events`. Default: the script's origin; for the npm entry the page's. */
  endpoint?: string | undefined;
  /** False: no cookie is read or written; the page passes `token()` to its backend itself. Default true. */
  cookie?: boolean | undefined;
  /** Default `service_session`. */
  cookieName?: string | undefined;
  /** Default: none, so the cookie belongs to the page's host alone. */
  cookieDomain?: string | undefined;
  /** Default `/`. */
  cookiePath?: string | undefined;
  /** Default `Lax`. `None` adds `Secure` and `Partitioned`, for pages framed by other sites. */
  cookieSameSite?: "Lax" | "Strict" | "None" | undefined;
  /** Seconds; renewed with every answered batch. Default 86400, as long as a logged-in assertion lasts. */
  cookieMaxAge?: number | undefined;
  /** A token known from elsewhere, for pages without cookies. */
  token?: string | undefined;
  /** Most ms that an event waits for its batch. Default 5000. */
  interval?: number | undefined;
  /** `wait`: nothing is collected, stored or sent before `start()` is called; a mistaken value has that effect, too. Default: the SDK starts by itself. */
  consent?: string | undefined;
  /**
   * The SDK's second file, loaded once the first report was answered; null: none. Default: `sdk-probes.js` beside the script; for the npm
   * entry at `endpoint`.
   */
  probesUrl?: string | null | undefined;
  /** `sdk-probes.js` on the page's own origin, to start as a worker for the cross-context check; null: no such check. The script tag knows it. */
  workerUrl?: string | null | undefined;
}

/** What the page gets: `window.verdictd`, or the answer of `init`. */
export interface Verdictd {
  /** The token once the first report was answered, or what is known once it failed; after a new `start` another promise. Never rejects. */
  readonly ready: Promise<string | null>;
  /** The session's token, or null while there is none. */
  token(): string | null;
  /**
   * Passes verdictd's own challenge for this session: call it when the backend answers 403 with `X-Verdict-Action: challenge`, and send the
   * request again once it is true. Calls while one is under way share it. Never rejects.
   */
  challenge(): Promise<boolean>;
  /**
   * `fetch`, which answers a challenge: where the answer is a 403 of verdictd's challenge, that is passed, and the request sent once more. Without a pass
   * the answer is the 403; so it is for a body that is a stream, which can't be sent again. May take the place of `window.fetch`.
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  /** Starts collecting, unless it does already: after consent, or once more after `stop`. */
  start(): void;
  /** Stops collecting and sending until `start`. What was not sent yet is dropped. `forget`: so are cookie and token. */
  stop(choice?: { forget?: boolean }): void;
}

/** Options with every default filled in. */
export interface Settings {
  readonly siteKey: string;
  readonly base: string;
  readonly cookie: boolean;
  readonly cookieName: string;
  /** Empty: the page's host alone. */
  readonly cookieDomain: string;
  /** `Path`, `SameSite` and so on, ready to append to the cookie. */
  readonly cookieAttributes: string;
  readonly token: string | null;
  readonly interval: number;
  readonly probesUrl: string | null;
  readonly workerUrl: string | null;
}

/** Fills in the defaults. */
export function settingsOf(options: VerdictdOptions): Settings {
  const sameSite = options.cookieSameSite || "Lax";
  const none = sameSite === "None";
  const maxAge = +options.cookieMaxAge!;
  const base = (options.endpoint || location.origin).replace(/\/+$/, "");
  const { probesUrl } = options;
  return {
    siteKey: options.siteKey,
    base,
    cookie: options.cookie !== false,
    cookieName: options.cookieName || "service_session",
    cookieDomain: options.cookieDomain || "",
    cookieAttributes:
      `; Path=${options.cookiePath || "/"}; Max-Age=${maxAge > 0 ? Math.round(maxAge) : 86_400}; SameSite=${sameSite}` +
      (none || location.protocol === "https:" ? "; Secure" : "") +
      (none ? "; Partitioned" : ""),
    token: options.token || null,
    interval: Math.max(250, +options.interval! || 5000),
    probesUrl: probesUrl === undefined ? `${base}/sdk-probes.js` : probesUrl,
    workerUrl: options.workerUrl || null,
  };
}

/** Options from the attributes of a script tag: each has its option's name, as in `data-cookie-same-site`. `off` is false. */
export function optionsOf(script: HTMLScriptElement): VerdictdOptions {
  const data = script.dataset;
  const address = new URL(script.src || location.href, location.href);
  // A worker from another origin is refused, and one under a nonce-only policy would be reported as a violation.
  const worker = data["worker"] !== "off" && address.origin === location.origin && script.src && !script.nonce;
  const probesUrl = data["probes"] === "off" ? null : new URL("sdk-probes.js", address).href;
  return {
    ...(data as unknown as VerdictdOptions),
    endpoint: data["endpoint"] || address.origin,
    cookie: data["cookie"] !== "off",
    probesUrl,
    workerUrl: worker ? probesUrl : null,
  };
}
