/** What was judged, in the form that counters, samples and whoever else looks on see it: the facts of one verdict, and the dimensions to count by. */

import type { NetworkFact } from "../evidence/network-fact.js";
import type { ExaminedRequest } from "../verdicts/judged-request.js";
import type { Action, Band, VerdictSubject } from "../verdicts/verdict.js";

/**
 * Everything that judged requests are counted by. `path` is a template (`pathTemplate`), `network` the /24 or /48 of the address, `verified_bot` the
 * operator of a verified bot or signed agent, `rule` and `detection` are ids.
 */
export const trafficDimensions = [
  "path",
  "host",
  "ip",
  "network",
  "asn",
  "country",
  "user_agent_family",
  "declared_bot",
  "verified_bot",
  "agent",
  "rule",
  "detection",
] as const;
/** One way to count judged requests. */
export type TrafficDimension = (typeof trafficDimensions)[number];

/** Kinds of rows of what was judged: a kind a dimension, crawlers, samples of requests, hits of rules by minute. Their places are stored: new ones come last. */
export const judgedKinds = [...trafficDimensions, "crawlers", "samples", "rule_minutes"] as const;
/** One kind of rows. */
export type JudgedKind = (typeof judgedKinds)[number];

/** All dimensions but `detection`: of these a request has one value, or none. */
export const singleDimensions = trafficDimensions.filter((dimension) => dimension !== "detection");
/** Such a dimension. */
type SingleDimension = Exclude<TrafficDimension, "detection">;

/** The facts of one computed verdict, with or without a session. Observers must not change them, nor hold them for long. */
export interface JudgedFacts {
  readonly projectId: number;
  readonly atMs: number;
  /** How many verdicts of its kind it stands for: 1, but for some of many that were allowed. */
  readonly weight: number;
  /** `session`: a scored session was found. */
  readonly subject: VerdictSubject;
  /** Null without a session. */
  readonly sessionToken: string | null;
  readonly band: Band;
  readonly action: Action;
  readonly score: number;
  readonly reason: string;
  readonly detectionIds: readonly number[];
  /** The rule that decided; null for none. */
  readonly rule: { readonly id: number; readonly name: string } | null;
  /** One value for each dimension with one; "" for none. `ip` and `network` as far as `--ip-storage` keeps addresses. */
  readonly values: Readonly<Record<SingleDimension, string>>;
  /** The operator that the user agent claims falsely, and what that operator's bot is for; "" for no such claim. */
  readonly impostorOf: string;
  readonly impostorCategory: string;
  /** Category of `values.verified_bot`; "" for none. */
  readonly verifiedBotCategory: string;
  readonly network: NetworkFact;
  /** Undefined for a verdict read, which judges no request. */
  readonly request: ExaminedRequest | undefined;
  /** "" for what nobody reported; the path in the spelling of rules, not a template, without a query. */
  readonly method: string;
  /** The visitor of the session is logged in, by the backend's word. */
  readonly isLoggedIn: boolean;
  readonly path: string;
  readonly userAgent: string;
}

/** The values in the order of `singleDimensions`, read name by name: V8 finds a name that is the same each time many times faster. */
export function valuesInOrder(values: JudgedFacts["values"]): readonly string[] {
  const { path, host, ip, network, asn, country, user_agent_family, declared_bot, verified_bot, agent, rule } = values;
  return [path, host, ip, network, asn, country, user_agent_family, declared_bot, verified_bot, agent, rule];
}

/** Whoever is told of each computed verdict. */
export interface TrafficObserver {
  /** Called between answers, for many verdicts one after another: must not throw, wait or write; a few microseconds at most. */
  onJudged(facts: JudgedFacts): void;
}
