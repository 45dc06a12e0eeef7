/** What is known of a visit: the requests of one token or, where no token comes back, of one address with one user agent. */

/** A visit at the time of a request, which counts. Undefined: not known. */
export interface VisitFacts {
  /** Navigations that were judged. */
  readonly pages: number;
  /** Those of them, older than 5 s, for which a token was given or brought and after which the SDK has not reported. */
  readonly silentPages: number;
  /** Whole seconds since the first of them; undefined while there is none. */
  readonly seconds: number | undefined;
  /** Requests that were neither GET nor HEAD nor OPTIONS. */
  readonly posts: number;
  /** Whether the token that the visit was given came back; undefined until that could be seen. */
  readonly cookieKept: boolean | undefined;
  readonly evidence: VisitEvidence;
}

/** Whose visit it is where no token comes back. */
export interface VisitSender {
  readonly projectId: number;
  /** "" for none. */
  readonly address: string;
  readonly userAgent: string;
}

/**
 * What detections read of a visit. Undefined: nothing can be concluded, as where the SDK is not installed. Counts are undefined below the bound of their
 * detection, and are that bound above it.
 */
export interface VisitEvidence {
  /** Silent pages below path segments where other visitors' pages report. */
  readonly silentPages: number | undefined;
  /** Tokens that were given to it and did not come back, of a request without a token. */
  readonly unkeptTokens: number | undefined;
  /** Whether this is a POST, brings no token, and no page was loaded before. */
  readonly isPagelessPost: boolean | undefined;
  /** Pages in a row whose addresses differ by a number that rises by one. */
  readonly walkedPages: number | undefined;
  /** True where the SDK is installed, if it was looked up: for POSTs, addresses of scripts, and walks. */
  readonly isInstalled: true | undefined;
}

/** Of a request of which no visit is known. */
export const noVisitEvidence: VisitEvidence = {
  silentPages: undefined,
  unkeptTokens: undefined,
  isPagelessPost: undefined,
  walkedPages: undefined,
  isInstalled: undefined,
};
