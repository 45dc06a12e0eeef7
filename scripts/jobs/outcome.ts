/** What one run of a job came to, by the shop's own word. */

import type { KnownAgent } from "../../src/contract/bots/agents.js";
import { isDone } from "./client-jobs.js";
import type { Step } from "./jobs.js";
import type { ShopVisit } from "./shop.js";

/** The first answer that was not the page. */
interface Stop {
  readonly action: string;
  /** Method and path. */
  readonly request: string;
  /** Of the requests that were judged, from 1. */
  readonly number: number;
  readonly atMs: number;
}

export interface JobOutcome {
  /** `failed`: the tool broke though nothing stood in its way. */
  readonly result: "done" | "stopped" | "failed";
  readonly failure: string | null;
  readonly stop: Stop | null;
  /** The worst that any verdict of the visit said, the last one on its session included. */
  readonly band: string;
  readonly score: number;
  readonly detectionIds: readonly number[];
  readonly passes: number;
  readonly requests: number;
  /** Forms that were let through: of how many POSTs the verdict itself named an agent, or was in a bot band. */
  readonly forms: { readonly sent: number; readonly seen: number };
  /** The agent that the session shows: name and certainty. */
  readonly agent: Pick<KnownAgent, "name" | "certainty"> | null;
}

/** Best first. */
const order = ["not_computed", "verified", "likely_human", "likely_automated", "confident_automated", "definite"];
/** Bands of bots. */
export const botBands: readonly string[] = order.slice(3);

const isRefusal = (action: string | undefined) => action === "block" || action === "challenge";

interface LastVerdict {
  readonly verdict: string;
  readonly score: number;
  readonly detection_ids: readonly number[];
}

/** `error` is what the tool said, null when it ended; `last` the verdict on the visit's session after it. */
export function outcomeOf(
  steps: readonly Step[],
  visit: ShopVisit,
  error: Error | null,
  last: LastVerdict | null,
  isPerson: boolean,
  agent: KnownAgent | null,
): JobOutcome {
  const { judged, passes, isRefused } = visit;
  const all = [
    ...judged.map(({ band, score, detectionIds }) => ({ band: band ?? "not_computed", score, detectionIds })),
    ...(last === null ? [] : [{ band: last.verdict, score: last.score, detectionIds: last.detection_ids }]),
  ];
  type Told = (typeof all)[number];
  const isWorse = (one: Told, other: Told): boolean =>
    one.band === other.band ? one.score < other.score : order.indexOf(one.band) > order.indexOf(other.band);
  const worst = all.reduce((worse, each) => (isWorse(each, worse) ? each : worse), {
    band: "not_computed",
    score: 0,
    detectionIds: [] as readonly number[],
  });
  const at = judged.findIndex(({ action }) => isRefusal(action));
  const stop =
    at < 0
      ? null
      : { action: judged[at]!.action, request: judged[at]!.request, number: at + 1, atMs: judged[at]!.atMs };
  // A person does less than a bot's job: he was let through where he came to his last page.
  const done = isPerson ? error === null && !isRefusal(judged.at(-1)?.action) : isDone(steps, visit);
  const result = done ? "done" : stop !== null || isRefused ? "stopped" : "failed";
  const sent = judged.filter(({ request, action }) => request.startsWith("POST ") && action === "allow");
  const seen = sent.filter(({ isAgent, band }) => isAgent || botBands.includes(band ?? ""));
  return {
    result,
    failure: result === "failed" ? (error?.message.split("\n")[0] ?? "not all was served") : null,
    stop,
    band: worst.band,
    score: worst.score,
    detectionIds: [...new Set(all.flatMap(({ detectionIds }) => detectionIds))].sort((one, other) => one - other),
    passes,
    requests: judged.length,
    forms: { sent: sent.length, seen: seen.length },
    agent: agent === null ? null : { name: agent.name, certainty: agent.certainty },
  };
}
