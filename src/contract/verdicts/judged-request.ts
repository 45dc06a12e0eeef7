/** A visitor's request in the form in which it is judged, with or without a session. */

import type { DeclaredBot } from "../bots/declared-bots.js";
import type { SignatureState, VerifiedAgent } from "../bots/signed-agents.js";
import type { VerifiedBot } from "../bots/verified-bots.js";
import type { VisitEvidence, VisitFacts } from "../evidence/visit-facts.js";
import type { CrawlerClaim } from "../evidence/visitor.js";
import type { RequestContext } from "./verdict.js";

/** The spellings kept and shown to rules; others are converted to one of these or left out. */
export const httpVersions = ["1.0", "1.1", "2", "3"] as const;
/** The reported protocol of the visitor's own connection. */
export type HttpVersion = (typeof httpVersions)[number];

const httpVersionNames: Readonly<Record<string, HttpVersion>> = {
  "1.0": "1.0",
  "1.1": "1.1",
  "2": "2",
  "2.0": "2",
  "3": "3",
  "3.0": "3",
};

/** Reads `1.0`, `1.1`, `2` and `3`, also as `2.0` and as `HTTP/2`; undefined for anything else. */
export function httpVersionOf(text: string): HttpVersion | undefined {
  const version = /^(?:HTTP\/)?([0-9](?:\.[0-9])?)$/i.exec(text)?.[1];
  return version === undefined ? undefined : httpVersionNames[version];
}

/** Browsers send both with every preflight, and neither can be set by a page (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
export const preflightNames = ["origin", "access-control-request-method"] as const;

/** A backend's or proxy's report of a visitor's request. Everything in it is bounded; missing values and wrong types are left out. */
export interface JudgedRequest {
  readonly context: RequestContext;
  /** Name and value of each line in order, names as received. At most `limits.requestHeadersMax`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Whether order and case of the names are the visitor's own: a proxy's own request does not keep them. */
  readonly isAsReceived: boolean;
  readonly httpVersion: HttpVersion | undefined;
  /** Fingerprint of the TLS client hello, from the server that ended the connection. */
  readonly ja4: string | undefined;
  /** What is remembered with lines that are the same in all that counts for a verdict, and then `headers` are that alone; absent: they are new. */
  readonly memo?: HeaderMemo | undefined;
}

/** What catalogues, address and signature say about such a request. */
export interface RequestFindings {
  readonly declaredBot: DeclaredBot | null;
  /** What its user agent claims, checked against its address. */
  readonly crawlerClaim: CrawlerClaim;
  readonly signature: SignatureState;
  readonly visit: VisitEvidence;
}

/** The heuristics engine's result for one request. */
export interface RequestScore {
  /** 1 to 99, the lower, the stronger the evidence of a bot; null if no detection counts, which means the neutral 60. */
  readonly score: number | null;
  /** Strongest first. */
  readonly detectionIds: readonly number[];
}

/**
 * What is remembered with header lines that come again and again, so that it is worked out once: pure functions of the lines, and of little else, keep it.
 * Holds nothing of a single visitor, and is shared by all projects. Lines with a signature, which counts once, have none.
 */
export interface HeaderMemo {
  /** Whether the lines are those of a navigation (`isNavigationOf`). */
  readonly isNavigation: boolean;
  /** Whether the user agent may be that of a part of a platform: then the whole path counts for the score, otherwise only whether it is a script's. */
  readonly isPlatforms: boolean;
  /** The bot that the user agent names, by the list that was asked; null: not asked yet. */
  declared: { readonly by: object; readonly bot: DeclaredBot | undefined } | null;
  /** By what else they depend on, the oldest first. */
  readonly scores: RememberedScore[];
}

/** A score, and everything besides the lines that it was worked out from. */
interface RememberedScore {
  readonly method: string | undefined;
  /** As far as it counts. */
  readonly path: string;
  readonly host: string | undefined;
  readonly httpVersion: HttpVersion | undefined;
  readonly ja4: string | undefined;
  readonly findings: RequestFindings;
  readonly score: RequestScore;
}

/** A question for a verdict as received: by `POST /v1/verdict`, or by forward-auth. */
export interface VerdictQuestion {
  /** `null` means that the request came without a session. */
  readonly sessionToken: string | null;
  readonly request: JudgedRequest;
  /** Whether any headers were reported, even an empty list: then absent headers are known to be missing. */
  readonly hasHeaders: boolean;
  /** Whether to hand out a session token if the visitor brings none of use: of navigations alone. */
  readonly wantsToken: boolean;
  /** The request target as reported, with its query: a signature may cover it. Undefined if not reported. */
  readonly target: string | undefined;
  /** The host as the visitor sent it, with its port: a signature may cover it. Undefined if not reported. */
  readonly authority: string | undefined;
  /** Whether the same request was asked about before, and counted then; absent: no. */
  readonly isAskedAgain?: boolean;
}

/** The request's own evidence, found before its verdict is resolved. */
export interface ExaminedRequest extends RequestScore {
  /** By the request's address or DNS. */
  readonly verifiedBot: VerifiedBot | null;
  readonly declaredBot: DeclaredBot | null;
  /** Whether its user agent names a crawler that it is not; absent: no. */
  readonly isSpoofed?: boolean;
  readonly signature: SignatureState;
  /** Present exactly when the signature is verified. */
  readonly signedAgent: VerifiedAgent | undefined;
  /** Undefined if the request has no address, or if the count could not be had. */
  readonly requestsPerMinute: number | undefined;
  /** Undefined if it is not known which visit the request belongs to. */
  readonly visit: VisitFacts | undefined;
  readonly ja4: string | undefined;
  readonly httpVersion: HttpVersion | undefined;
  /** At the time of the question. */
  readonly hasHeaders: boolean;
}

/** Body of `POST /v1/verdict`. What a visitor wrote can't make the call fail: values are cut, and fields of a wrong type count as missing. */
export interface VerdictBody {
  session_token?: string | null;
  /** Answers a navigation of a visitor who brings no token of use with a new `session_token`, to be set as cookie. */
  issue_token?: boolean;
  /**
   * ms, 0 to 1000: how long to wait for a report of a session that has no score yet, or sent none in the last 2 s. Another value is 422. If its last
   * report is fresher, the answer takes 25 to 40 ms, because the next one may be just behind the question; right after a report it comes at once.
   */
  wait_ms?: number;
  request: {
    method?: string;
    /** In any spelling, with or without its query. */
    path?: string;
    /** As the visitor sent it, with its query, where `path` is what a router made of it: a signature may cover it. Default: `path`. */
    target?: string;
    host?: string;
    /** Of the visitor; a port behind it is dropped. */
    ip?: string;
    /** Lines as received, whose order and case are judged too; or values by name. The first 100 are used. */
    headers?: [name: string, value: string][] | { [name: string]: string | string[] };
    /** `1.0`, `1.1`, `2` or `3`; `2.0` and `HTTP/2` are read as well. */
    http_version?: string;
    /** Fingerprint of the TLS client hello. */
    ja4?: string;
  };
}
