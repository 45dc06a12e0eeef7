/**
 * What a client of verdictd is held to, in any language: `scenarios.json`, played against a real verdictd by an adapter, a small program that speaks
 * the protocol below. To hold another client to it, write its adapter and add it to `clients` in `conformance.test.ts`.
 *
 * An adapter reads commands from its standard input, one JSON object a line, and answers each with one line of JSON on its standard output. It ends
 * when its input does. It keeps the middleware that it made last, with these hooks, and says after each command what its client has reported.
 */

/** A command. Options have the names of the Node client, `timeoutMs`; an adapter turns them into those of its language. */
export type Command =
  | { readonly do: "create"; readonly options: object; readonly hooks: Hooks }
  | { readonly do: "visit"; readonly request: SentRequest }
  | { readonly do: "loggedIn"; readonly token: string | null }
  | { readonly do: "advance"; readonly ms: number };

/** Functions that an adapter passes with the options, by the option's name. */
export interface Hooks {
  /** `own` answers 418 with the text `prove it`; `passes` lets in; `throws` throws. */
  readonly challenge?: "own" | "passes" | "throws";
  /** `private` skips paths that begin with `/private`. */
  readonly skip?: "private" | "throws";
  /** An address, or `throws`. Absent: the option is not passed, and the adapter's server says `ip` of the request. */
  readonly clientIp?: string;
  readonly onVerdict?: "count" | "throws";
  /** ms, or `throws`. */
  readonly waitForReport?: number | "throws";
}

/** A visitor's request, as a server of the adapter's language would hand it over. Texts have a character for each byte. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly ip: string;
  readonly secure: boolean;
}

/**
 * An answer. `create`: `{}` or `{error}`. `visit`: all but `error` and `loggedIn`. The application behind the middleware answers 200 with
 * `Cache-Control: max-age=60` and the cookie `app=1`.
 */
export interface Answer {
  readonly error?: string;
  readonly status?: number;
  /** Names in small letters; several lines of a name in one list. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  /** Whether the request reached the application. */
  readonly reached?: boolean;
  /** What the middleware attached to it; null: nothing. */
  readonly visit?: {
    readonly verdict: object;
    readonly sessionToken: string | null;
    /** `path`, `method`, `host`, `ip`, `userAgent`. */
    readonly context: object;
  } | null;
  /** Calls of `onVerdict` during this command. */
  readonly told?: number;
  readonly loggedIn?: object;
  /** The reasons of what was reported during this command. */
  readonly failures: readonly string[];
}
